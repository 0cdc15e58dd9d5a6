import { durationTextFromNanos } from '../../shared/duration.js';
import {
  connectBlock,
  exposePathBlock,
  type GatewayBindAddress,
  gatewayProxyBlock,
  gatewayTlsBlock,
  headerModifiersBlock,
  ingressListenerBlock,
  ingressServiceBlock,
  linkedServiceBlock,
  sdsBlock,
  sidecarProxyBlock,
  sidecarServiceBlock,
  sidecarTaskBlock,
  transparentProxyBlock,
  upstreamBlock,
  upstreamMeshGatewayBlock,
} from '../document/connect.js';
import { equalValues } from '../document/document-values.js';
import { diffFields, type Flat, nothingFlat, objectDiff, typeOfPresence } from './diff-fields.js';
import {
  byContent,
  byField,
  diffObject,
  freeForm,
  itemAt,
  keyed,
  listAt,
  type ObjectRule,
  one,
  part,
  present,
  strings,
  typeOfEntries,
} from './diff-objects.js';
import { type Item, scalarsOf, withGiven } from './flatten.js';
import { identityRule, logConfigRule, resourcesRule, volumeMounts } from './shared-rules.js';

/* The service mesh: sidecars and gateways. */

const transparentProxyRule: ObjectRule = {
  name: 'TransparentProxy',
  type: 'presence',
  fields: scalarsOf(transparentProxyBlock),
  parts: [
    strings('ExcludeInboundPorts', 'hidden'),
    strings('ExcludeOutboundPorts', 'hidden'),
    strings('ExcludeOutboundCIDRs', 'hidden'),
    strings('ExcludeUIDs', 'hidden'),
  ],
};

/** As existing clients expect, a transparent proxy is included even if it did not change or does not exist. */
const transparentProxy = part('TransparentProxy', (old, next, detail) => {
  const before = itemAt(old, 'TransparentProxy');
  const after = itemAt(next, 'TransparentProxy');
  if (equalValues(asSets(before), asSets(after))) return [objectDiff('None', 'TransparentProxy', [])];
  return present(diffObject(transparentProxyRule, before, after, detail));
});

/** The order of what is excluded does not matter. */
function asSets(proxy: Item | null): Item | null {
  if (proxy === null) return null;
  const entries = Object.entries(proxy).map(([name, value]) => [
    name,
    Array.isArray(value) ? [...new Set(value.map(String))].sort() : value,
  ]);
  return Object.fromEntries(entries) as Item;
}

const upstreamRule: ObjectRule = {
  name: 'ConsulUpstreams',
  type: 'presence',
  fields: scalarsOf(upstreamBlock),
  // The free-form configuration of an upstream is not compared.
  parts: [one('MeshGateway', { name: 'MeshGateway', type: 'fields', fields: scalarsOf(upstreamMeshGatewayBlock) })],
};

const exposedPaths = byContent('Paths', { name: 'Paths', type: 'fields', fields: scalarsOf(exposePathBlock) });

/** A block without paths counts as absent. */
const expose = part('Expose', (old, next, detail) => {
  const before = itemAt(old, 'Expose');
  const after = itemAt(next, 'Expose');
  if (equalValues(before, after)) return [];
  const [left, right] = [before, after].map((item) => (listAt(item, 'Paths').length === 0 ? null : item));
  return [objectDiff(typeOfPresence(left, right), 'Expose', [], exposedPaths.diff(before, after, detail))];
});

const proxyRule: ObjectRule = {
  name: 'ConsulProxy',
  type: 'presence',
  fields: scalarsOf(sidecarProxyBlock),
  parts: [
    keyed('Upstreams', upstreamRule, (item) => `${item['Datacenter']}/${item['DestinationName']}`),
    expose,
    transparentProxy,
    freeForm('Config'),
  ],
};

const sidecarServiceRule: ObjectRule = {
  name: 'SidecarService',
  type: 'presence',
  fields: scalarsOf(sidecarServiceBlock),
  parts: [one('Proxy', proxyRule)],
};

const sidecarTaskRule: ObjectRule = {
  name: 'SidecarTask',
  type: 'presence',
  neverContextual: true,
  fields: scalarsOf(sidecarTaskBlock),
  parts: [
    freeForm('Config'),
    one('Resources', resourcesRule),
    byField('Identities', 'Name', identityRule),
    one('LogConfig', logConfigRule),
    volumeMounts,
  ],
};

const tlsRule: ObjectRule = {
  name: 'TLS',
  type: 'presence',
  fields: scalarsOf(gatewayTlsBlock),
  parts: [strings('CipherSuites'), one('SDS', { name: 'SDS', type: 'fields', fields: scalarsOf(sdsBlock) })],
};

const requestHeadersRule: ObjectRule = {
  name: 'RequestHeaders',
  type: 'presence',
  fields: scalarsOf(headerModifiersBlock),
  parts: [strings('Remove')],
};

const ingressServiceFields = withGiven(scalarsOf(ingressServiceBlock), [
  'MaxConnections',
  'MaxPendingRequests',
  'MaxConcurrentRequests',
]);

const ingressServiceRule: ObjectRule = {
  name: 'ConsulIngressService',
  type: 'presence',
  fields: ingressServiceFields,
  parts: [
    strings('Hosts'),
    one('TLS', tlsRule),
    one('RequestHeaders', requestHeadersRule),
    one('ResponseHeaders', { ...requestHeadersRule, name: 'ResponseHeaders' }),
  ],
};

const listenerRule: ObjectRule = {
  name: 'Listener',
  type: 'presence',
  fields: scalarsOf(ingressListenerBlock),
  parts: [byField('Services', 'Name', ingressServiceRule)],
};

const ingressRule: ObjectRule = {
  name: 'Ingress',
  type: 'presence',
  fields: () => nothingFlat,
  parts: [one('TLS', tlsRule), keyed('Listeners', listenerRule, (item) => `${item['Protocol']}/${item['Port']}`)],
};

const terminatingRule: ObjectRule = {
  name: 'Terminating',
  type: 'presence',
  fields: () => nothingFlat,
  parts: [byField('Services', 'Name', { name: 'Service', type: 'presence', fields: scalarsOf(linkedServiceBlock) })],
};

/** The gateway's listen addresses, as `name` → `host:port`. */
const bindAddresses = part('EnvoyGatewayBindAddresses', (old, next, { contextual }) => {
  const before = itemAt(old, 'EnvoyGatewayBindAddresses');
  const after = itemAt(next, 'EnvoyGatewayBindAddresses');
  if (equalValues(before, after)) return [];
  const fields = diffFields(addressesOf(before), addressesOf(after), contextual);
  return [objectDiff(typeOfEntries(before, after), 'EnvoyGatewayBindAddresses', fields)];
});

function addressesOf(addresses: Item | null): Flat {
  const entries = Object.entries((addresses ?? {}) as Record<string, GatewayBindAddress>);
  return new Map(entries.map(([name, { Address, Port }]) => [name, `${bracketed(Address)}:${Port}`]));
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

const gatewayProxyScalars = scalarsOf(gatewayProxyBlock);

/** The timeout, a string with units, is compared only between two blocks. */
const gatewayProxy = part('Proxy', (old, next, detail) => {
  const before = itemAt(old, 'Proxy');
  const after = itemAt(next, 'Proxy');
  const withTimeout = before !== null && after !== null;
  const fields = (proxy: Item): Flat => {
    if (!withTimeout) return gatewayProxyScalars(proxy);
    const timeout = proxy['ConnectTimeout'] as number | null;
    return new Map([
      ...gatewayProxyScalars(proxy),
      ['ConnectTimeout', timeout === null ? '' : durationTextFromNanos(timeout)],
    ]);
  };
  const rule: ObjectRule = { name: 'Proxy', type: 'presence', fields, parts: [bindAddresses, freeForm('Config')] };
  return present(diffObject(rule, before, after, detail));
});

const gatewayRule: ObjectRule = {
  name: 'Gateway',
  type: 'presence',
  fields: () => nothingFlat,
  parts: [
    gatewayProxy,
    one('Ingress', ingressRule),
    one('Terminating', terminatingRule),
    one('Mesh', { name: 'Mesh', type: 'presence', fields: () => nothingFlat }),
  ],
};

export const connectRule: ObjectRule = {
  name: 'ConsulConnect',
  type: 'presence',
  fields: scalarsOf(connectBlock),
  parts: [one('SidecarService', sidecarServiceRule), one('SidecarTask', sidecarTaskRule), one('Gateway', gatewayRule)],
};
