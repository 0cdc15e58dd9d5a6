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
import { identityBlock } from '../document/identity.js';
import { networkBlock, portBlock } from '../document/network.js';
import { affinityBlock, constraintBlock } from '../document/placement.js';
import { checkRestartBlock, consulBlock, scalingBlock } from '../document/policies.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../document/resources.js';
import { logConfigBlock, volumeMountBlock } from '../document/task-parts.js';
import {
  diffFields,
  type Flat,
  flattenFreeForm,
  type Item,
  nothingFlat,
  objectDiff,
  scalarsOf,
  typeOfPresence,
  withGiven,
} from './diff-fields.js';
import {
  byContent,
  byField,
  byPosition,
  diffObject,
  freeForm,
  itemAt,
  keyed,
  listAt,
  type ObjectRule,
  one,
  type Part,
  part,
  present,
  strings,
  textsAt,
  typeOfEntries,
} from './diff-objects.js';

/* Blocks that occur in more than one kind of block. */

const constraintRule: ObjectRule = { name: 'Constraint', type: 'fields', fields: scalarsOf(constraintBlock) };

const affinityRule: ObjectRule = { name: 'Affinity', type: 'fields', fields: scalarsOf(affinityBlock) };

export const constraints = byContent('Constraints', constraintRule);

export const affinities = byContent('Affinities', affinityRule);

export const consulRule: ObjectRule = { name: 'Consul', type: 'fields', fields: scalarsOf(consulBlock) };

export const logConfigRule: ObjectRule = { name: 'LogConfig', type: 'fields', fields: scalarsOf(logConfigBlock) };

export const checkRestartRule: ObjectRule = {
  name: 'CheckRestart',
  type: 'presence',
  fields: scalarsOf(checkRestartBlock),
};

export const identityRule: ObjectRule = {
  name: 'Identity',
  type: 'presence',
  fields: scalarsOf(identityBlock),
  parts: [strings('Audience')],
};

const staticPortRule: ObjectRule = { name: 'Static Port', type: 'fields', fields: scalarsOf(portBlock) };

const dynamicPortRule: ObjectRule = {
  name: 'Dynamic Port',
  type: 'fields',
  fields: scalarsOf(portBlock, { without: ['Value', 'IgnoreCollision'] }),
};

/** The lists of a DNS block as one string each. */
function joinedLists(dns: Item): Flat {
  const flat = new Map<string, string>();
  for (const name of ['Servers', 'Searches', 'Options']) {
    const list = textsAt(dns, name);
    if (list.length > 0) flat.set(name, list.join(','));
  }
  return flat;
}

const networkRule: ObjectRule = {
  name: 'Network',
  type: 'presence',
  fields: scalarsOf(networkBlock, { only: ['Mode', 'Hostname'] }),
  parts: [
    byField('ReservedPorts', 'Label', staticPortRule),
    byField('DynamicPorts', 'Label', dynamicPortRule),
    one('DNS', { name: 'DNS', type: 'presence', fields: joinedLists }),
    one('CNI', {
      name: 'CNIConfig',
      type: 'fields',
      fields: (cni) => flattenFreeForm(itemAt(cni, 'Args')),
    }),
  ],
};

/** Networks match only if their whole content is equal. */
export const networks = byContent('Networks', networkRule);

export const resourcesRule: ObjectRule = {
  name: 'Resources',
  type: 'presence',
  fields: scalarsOf(resourcesBlock),
  parts: [
    networks,
    byField('Devices', 'Name', { name: 'Device', type: 'presence', fields: scalarsOf(deviceBlock) }),
    one('NUMA', { name: 'NUMA', type: 'presence', fields: scalarsOf(numaBlock) }),
  ],
};

export const volumeMounts: Part = byPosition('VolumeMounts', {
  name: 'VolumeMount',
  type: 'presence',
  fields: scalarsOf(volumeMountBlock),
});

/** An element of the old list and its counterpart in the new list; null for none. */
type Pair = readonly [Item | null, Item | null];

/**
 * Pairs the services of both sides. If each side has one, they are a pair. Otherwise each old service is paired with the first new one
 * that is most like it: the name counts 3, the port 2, the position 1, and more than 2 are needed.
 */
export function matchServices(old: readonly Item[], next: readonly Item[]): Pair[] {
  return matchEach(old, next, (before, after, samePosition) => {
    const score =
      (before['Name'] === after['Name'] ? 3 : 0) +
      (before['PortLabel'] === after['PortLabel'] ? 2 : 0) +
      (samePosition ? 1 : 0);
    return score > 2 ? score : 0;
  });
}

/** Pairs the templates of both sides. If each side has one, they are a pair; otherwise those with the same destination are. */
export function matchTemplates(old: readonly Item[], next: readonly Item[]): Pair[] {
  return matchEach(old, next, (before, after) => (before['DestPath'] === after['DestPath'] ? 1 : 0));
}

/** The similarity of two elements; 0 when they cannot be the same. */
type Likeness = (old: Item, next: Item, samePosition: boolean) => number;

function matchEach(old: readonly Item[], next: readonly Item[], likeness: Likeness): Pair[] {
  const [onlyOld] = old;
  const [onlyNew] = next;
  if (old.length === 1 && next.length === 1) return [[onlyOld ?? null, onlyNew ?? null]];
  const free = new Set(next.keys());
  const pairs: Pair[] = old.map((before, position) => {
    const match = bestOf(free, (at) => likeness(before, next[at] as Item, at === position));
    if (match === undefined) return [before, null];
    free.delete(match);
    return [before, next[match] ?? null];
  });
  return [...pairs, ...[...free].map((at): Pair => [null, next[at] ?? null])];
}

/** The first position with the highest score; undefined when all are 0. */
function bestOf(positions: ReadonlySet<number>, scoreOf: (position: number) => number): number | undefined {
  let best: number | undefined;
  let highest = 0;
  for (const position of positions) {
    const score = scoreOf(position);
    if (score > highest) {
      highest = score;
      best = position;
    }
  }
  return best;
}

const scalingScalars = scalarsOf(scalingBlock, { without: ['ID', 'Type', 'CreateIndex', 'ModifyIndex'] });

const ownTargets: ReadonlySet<string> = new Set(['Target[Job]', 'Target[Group]', 'Target[Namespace]']);

/** The target is omitted: a policy always scales its own group. */
function scalingFields(policy: Item): Flat {
  return new Map([...scalingScalars(policy)].filter(([name]) => !ownTargets.has(name)));
}

export const scalingRule: ObjectRule = {
  name: 'Scaling',
  type: 'presence',
  neverContextual: true,
  fields: scalingFields,
  ignored: ['ID', 'CreateIndex', 'ModifyIndex'],
  filled: ['Type'],
  parts: [freeForm('Policy', 'neverContextual')],
};

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
  const entries = Object.entries(proxy).map(([name, value]): [string, unknown] => [
    name,
    Array.isArray(value) ? [...new Set(value.map(String))].sort() : value,
  ]);
  return Object.fromEntries(entries);
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
    const timeout = proxy['ConnectTimeout'];
    return new Map([
      ...gatewayProxyScalars(proxy),
      ['ConnectTimeout', typeof timeout === 'number' ? durationTextFromNanos(timeout) : ''],
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
