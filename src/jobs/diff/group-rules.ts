import {
  disconnectBlock,
  ephemeralDiskBlock,
  migrateBlock,
  rescheduleBlock,
  restartBlock,
  scalingBlock,
  updateBlock,
} from '../document/fields/policy-fields.js';
import { mountOptionsBlock, taskGroupBlock, volumeBlock } from '../document/fields/task-group-fields.js';
import type { Flat } from './diff-fields.js';
import { type BlockRule, byLabel, freeForm, type ObjectRule, one, type Part, strings } from './diff-objects.js';
import { everythingOf, type Item, scalarsOf } from './flatten.js';
import { services } from './service-rules.js';
import { affinities, constraints, consulRule, networks } from './shared-rules.js';

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

const volumeRule: ObjectRule = {
  name: 'Volume',
  type: 'presence',
  fields: scalarsOf(volumeBlock),
  parts: [
    one('MountOptions', {
      name: 'MountOptions',
      type: 'presence',
      fields: scalarsOf(mountOptionsBlock),
      parts: [strings('MountFlags')],
    }),
  ],
};

const groupParts: readonly Part[] = [
  constraints,
  affinities,
  one('RestartPolicy', { name: 'RestartPolicy', type: 'fields', fields: scalarsOf(restartBlock) }),
  one('Migrate', { name: 'Migrate', type: 'fields', fields: scalarsOf(migrateBlock) }),
  one('ReschedulePolicy', { name: 'ReschedulePolicy', type: 'fields', fields: scalarsOf(rescheduleBlock) }),
  one('EphemeralDisk', { name: 'EphemeralDisk', type: 'fields', fields: scalarsOf(ephemeralDiskBlock) }),
  one('Consul', consulRule),
  one('Update', {
    name: 'Update',
    type: 'fields',
    fields: scalarsOf(updateBlock, { without: ['Stagger'] }),
    filled: ['Stagger'],
  }),
  one('Disconnect', { name: 'Disconnect', type: 'presence', fields: everythingOf(disconnectBlock) }),
  networks,
  one('Scaling', scalingRule),
  services,
  byLabel('Volumes', volumeRule),
];

/** Durations of a group that may be absent. */
export const delays = ['MaxRunDuration', 'ShutdownDelay'] as const;

/** The parts of a group besides its tasks and delays, in the order of the diff. */
export const groupRule: BlockRule = {
  fields: scalarsOf(taskGroupBlock, { without: ['Name'] }),
  neverContextual: true,
  ignored: ['Name', 'Tasks', ...delays],
  parts: groupParts,
};
