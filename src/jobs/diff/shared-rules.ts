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
  fieldsRule,
  freeForm,
  itemAt,
  keyed,
  listAt,
  type ObjectRule,
  one,
  type Pair,
  type Part,
  part,
  presenceRule,
  present,
  strings,
  textsAt,
  typeOfEntries,
} from './diff-objects.js';

/* Blocks that occur in more than one kind of block. */

const constraintRule = fieldsRule('Constraint', scalarsOf(constraintBlock));

const affinityRule = fieldsRule('Affinity', scalarsOf(affinityBlock));

export const constraints = byContent('Constraints', constraintRule);

export const affinities = byContent('Affinities', affinityRule);

export const consulRule = fieldsRule('Consul', scalarsOf(consulBlock));

export const logConfigRule = fieldsRule('LogConfig', scalarsOf(logConfigBlock));

export const checkRestartRule = presenceRule('CheckRestart', scalarsOf(checkRestartBlock));

export const identityRule = presenceRule('Identity', scalarsOf(identityBlock), [strings('Audience')]);

const staticPortRule = fieldsRule('Static Port', scalarsOf(portBlock));

const dynamicPortRule = fieldsRule('Dynamic Port', scalarsOf(portBlock, { without: ['Value', 'IgnoreCollision'] }));

/** The lists of a DNS block as one string each. */
function joinedLists(dns: Item): Flat {
  const flat = new Map<string, string>();
  for (const name of ['Servers', 'Searches', 'Options']) {
    const list = textsAt(dns, name);
    if (list.length > 0) flat.set(name, list.join(','));
  }
  return flat;
}

const networkRule = presenceRule('Network', scalarsOf(networkBlock, { only: ['Mode', 'Hostname'] }), [
  byField('ReservedPorts', 'Label', staticPortRule),
  byField('DynamicPorts', 'Label', dynamicPortRule),
  one('DNS', presenceRule('DNS', joinedLists)),
  one(
    'CNI',
    fieldsRule('CNIConfig', (cni) => flattenFreeForm(itemAt(cni, 'Args'))),
  ),
]);

/** Networks match only if their whole content is equal. */
export const networks = byContent('Networks', networkRule);

export const resourcesRule = presenceRule('Resources', scalarsOf(resourcesBlock), [
  networks,
  byField('Devices', 'Name', presenceRule('Device', scalarsOf(deviceBlock))),
  one('NUMA', presenceRule('NUMA', scalarsOf(numaBlock))),
]);

export const volumeMounts: Part = byPosition('VolumeMounts', presenceRule('VolumeMount', scalarsOf(volumeMountBlock)));

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

const transparentProxyRule = presenceRule('TransparentProxy', scalarsOf(transparentProxyBlock), [
  strings('ExcludeInboundPorts', 'hidden'),
  strings('ExcludeOutboundPorts', 'hidden'),
  strings('ExcludeOutboundCIDRs', 'hidden'),
  strings('ExcludeUIDs', 'hidden'),
]);

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

const upstreamRule = presenceRule('ConsulUpstreams', scalarsOf(upstreamBlock), [
  one('MeshGateway', fieldsRule('MeshGateway', scalarsOf(upstreamMeshGatewayBlock))),
]);

const exposedPaths = byContent('Paths', fieldsRule('Paths', scalarsOf(exposePathBlock)));

/** A block without paths counts as absent. */
const expose = part('Expose', (old, next, detail) => {
  const before = itemAt(old, 'Expose');
  const after = itemAt(next, 'Expose');
  if (equalValues(before, after)) return [];
  const [left, right] = [before, after].map((item) => (listAt(item, 'Paths').length === 0 ? null : item));
  return [objectDiff(typeOfPresence(left, right), 'Expose', [], exposedPaths.diff(before, after, detail))];
});

const proxyRule = presenceRule('ConsulProxy', scalarsOf(sidecarProxyBlock), [
  keyed('Upstreams', upstreamRule, (item) => `${item['Datacenter']}/${item['DestinationName']}`),
  expose,
  transparentProxy,
  freeForm('Config'),
]);

const sidecarServiceRule = presenceRule('SidecarService', scalarsOf(sidecarServiceBlock), [one('Proxy', proxyRule)]);

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

const tlsRule = presenceRule('TLS', scalarsOf(gatewayTlsBlock), [
  strings('CipherSuites'),
  one('SDS', fieldsRule('SDS', scalarsOf(sdsBlock))),
]);

const requestHeadersRule = presenceRule('RequestHeaders', scalarsOf(headerModifiersBlock), [strings('Remove')]);

const ingressServiceFields = withGiven(scalarsOf(ingressServiceBlock), [
  'MaxConnections',
  'MaxPendingRequests',
  'MaxConcurrentRequests',
]);

const ingressServiceRule = presenceRule('ConsulIngressService', ingressServiceFields, [
  strings('Hosts'),
  one('TLS', tlsRule),
  one('RequestHeaders', requestHeadersRule),
  one('ResponseHeaders', { ...requestHeadersRule, name: 'ResponseHeaders' }),
]);

const listenerRule = presenceRule('Listener', scalarsOf(ingressListenerBlock), [
  byField('Services', 'Name', ingressServiceRule),
]);

const ingressRule = presenceRule('Ingress', () => nothingFlat, [
  one('TLS', tlsRule),
  keyed('Listeners', listenerRule, (item) => `${item['Protocol']}/${item['Port']}`),
]);

const terminatingRule = presenceRule('Terminating', () => nothingFlat, [
  byField('Services', 'Name', presenceRule('Service', scalarsOf(linkedServiceBlock))),
]);

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
  const rule = presenceRule('Proxy', fields, [bindAddresses, freeForm('Config')]);
  return present(diffObject(rule, before, after, detail));
});

const gatewayRule = presenceRule('Gateway', () => nothingFlat, [
  gatewayProxy,
  one('Ingress', ingressRule),
  one('Terminating', terminatingRule),
  one(
    'Mesh',
    presenceRule('Mesh', () => nothingFlat),
  ),
]);

export const connectRule = presenceRule('ConsulConnect', scalarsOf(connectBlock), [
  one('SidecarService', sidecarServiceRule),
  one('SidecarTask', sidecarTaskRule),
  one('Gateway', gatewayRule),
]);
