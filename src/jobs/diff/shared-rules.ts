import { identityBlock } from '../document/identity.js';
import { networkBlock, portBlock } from '../document/network.js';
import { affinityBlock, constraintBlock } from '../document/placement.js';
import { checkRestartBlock, consulBlock, scalingBlock } from '../document/policies.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../document/resources.js';
import { logConfigBlock, volumeMountBlock } from '../document/task-parts.js';
import type { Flat } from './diff-fields.js';
import { byContent, byField, byPosition, freeForm, type ObjectRule, one, type Part, strings } from './diff-objects.js';
import { flattenFreeForm, type Item, scalarsOf } from './flatten.js';

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
    const list = (dns[name] ?? []) as readonly string[];
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
      fields: (cni) => flattenFreeForm((cni['Args'] ?? null) as Item | null),
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
