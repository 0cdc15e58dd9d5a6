import { equalValues } from '../document/document-values.js';
import { taskBlock } from '../document/fields/task-fields.js';
import {
  actionBlock,
  artifactBlock,
  changeScriptBlock,
  dispatchPayloadBlock,
  scheduleCronBlock,
  secretBlock,
  templateBlock,
  vaultBlock,
  waitBlock,
} from '../document/fields/task-part-fields.js';
import {
  type BlockRule,
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
  sortedObjects,
  strings,
} from './diff-objects.js';
import { everythingOf, scalarsOf, withGiven } from './flatten.js';
import { scalingRule } from './group-rules.js';
import { contentOf } from './omitted-changes.js';
import { services } from './service-rules.js';
import {
  affinities,
  constraints,
  consulRule,
  identityRule,
  logConfigRule,
  matchTemplates,
  resourcesRule,
  volumeMounts,
} from './shared-rules.js';

const artifactRule: ObjectRule = { name: 'Artifact', type: 'fields', fields: scalarsOf(artifactBlock) };

const secretRule: ObjectRule = {
  name: 'Secret',
  type: 'presence',
  fields: everythingOf(secretBlock),
  absent: { Name: '', Provider: '', Path: '', Config: null, Env: null },
};

/** The owner is compared on the sides that name one. */
const templateFields = withGiven(scalarsOf(templateBlock), ['Uid', 'Gid']);

const templateRule: ObjectRule = {
  name: 'Template',
  type: 'presence',
  fields: templateFields,
  parts: [
    // Existing clients expect the block `wait` under the name of its parent.
    one('Wait', { name: 'Template', type: 'presence', fields: everythingOf(waitBlock) }),
    one('ChangeScript', {
      name: 'ChangeScript',
      type: 'presence',
      fields: scalarsOf(changeScriptBlock),
      parts: [strings('Args')],
    }),
  ],
};

const templates = part('Templates', (old, next, detail) => {
  const before = listAt(old, 'Templates');
  const after = listAt(next, 'Templates');
  if (equalValues(before, after)) return [];
  const pairs = matchTemplates(before, after);
  return sortedObjects(pairs.flatMap(([left, right]) => present(diffObject(templateRule, left, right, detail))));
});

const scheduleRule: ObjectRule = { name: 'Schedule', type: 'fields', fields: scalarsOf(scheduleCronBlock) };

const schedule = part('Schedule', (old, next, detail) =>
  present(
    diffObject(scheduleRule, itemAt(itemAt(old, 'Schedule'), 'Cron'), itemAt(itemAt(next, 'Schedule'), 'Cron'), detail),
  ),
);

/** Nomad's diff omits them. */
const scalingPolicies = byField('ScalingPolicies', 'Type', { ...scalingRule, name: 'ScalingPolicy', filled: [] });

const taskParts: readonly Part[] = [
  constraints,
  affinities,
  freeForm('Config'),
  one('Resources', resourcesRule),
  one('LogConfig', logConfigRule),
  one('DispatchPayload', { name: 'DispatchPayload', type: 'fields', fields: scalarsOf(dispatchPayloadBlock) }),
  keyed('Artifacts', artifactRule, (artifact) => String(artifact['RelativeDest'] || contentOf(artifact))),
  services,
  one('Vault', { name: 'Vault', type: 'presence', fields: scalarsOf(vaultBlock) }),
  byField('Secrets', 'Name', secretRule),
  one('Consul', consulRule),
  templates,
  one('Identity', identityRule),
  byField('Identities', 'Name', identityRule),
  byPosition('Actions', {
    name: 'Action',
    type: 'presence',
    fields: scalarsOf(actionBlock),
    parts: [strings('Args')],
  }),
  volumeMounts,
  schedule,
  { ...scalingPolicies, diff: (old, next, detail) => (detail.complete ? scalingPolicies.diff(old, next, detail) : []) },
];

/** The parts of a task, in the order of the diff. */
export const taskRule: BlockRule = {
  fields: scalarsOf(taskBlock, { without: ['Name'] }),
  neverContextual: true,
  ignored: ['Name'],
  parts: taskParts,
};

/** For a task with the restart policy of its group. */
export const inheritingTaskRule: BlockRule = { ...taskRule, ignored: ['Name', 'RestartPolicy'] };
