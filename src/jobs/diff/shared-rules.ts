import { identityBlock } from '../document/fields/identity-fields.js';
import { networkBlock, portBlock } from '../document/fields/network-fields.js';
import { affinityBlock, constraintBlock } from '../document/fields/placement-fields.js';
import { checkRestartBlock, consulBlock } from '../document/fields/policy-fields.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../document/fields/resource-fields.js';
import { logConfigBlock, volumeMountBlock } from '../document/fields/task-part-fields.js';
import type { Flat } from './diff-fields.js';
import { byContent, byField, byPosition, type ObjectRule, one, type Part, strings } from './diff-objects.js';
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
