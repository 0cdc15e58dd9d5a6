import { equalValues } from '../document/document-values.js';
import {
  jobBlock,
  multiregionRegionBlock,
  multiregionStrategyBlock,
  parameterizedBlock,
  periodicBlock,
  uiBlock,
  uiLinkBlock,
} from '../document/job.js';
import {
  disconnectBlock,
  ephemeralDiskBlock,
  migrateBlock,
  rescheduleBlock,
  restartBlock,
  updateBlock,
} from '../document/policies.js';
import { serviceBlock, serviceCheckBlock } from '../document/service.js';
import { taskBlock } from '../document/task.js';
import { mountOptionsBlock, taskGroupBlock, volumeBlock } from '../document/task-group.js';
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
} from '../document/task-parts.js';
import {
  contentOf,
  diffFields,
  everythingOf,
  type Flat,
  flattenFreeForm,
  type Item,
  nothingFlat,
  objectDiff,
  scalarsOf,
  withGiven,
} from './diff-fields.js';
import {
  type BlockRule,
  byField,
  byLabel,
  byPosition,
  type DiffPart,
  diffObject,
  fieldsRule,
  freeForm,
  itemAt,
  keyed,
  matched,
  type ObjectRule,
  one,
  type Part,
  part,
  presenceRule,
  present,
  sortedObjects,
  strings,
} from './diff-objects.js';
import {
  affinities,
  checkRestartRule,
  connectRule,
  constraints,
  consulRule,
  identityRule,
  logConfigRule,
  matchServices,
  matchTemplates,
  networks,
  resourcesRule,
  scalingRule,
  volumeMounts,
} from './shared-rules.js';

/** The lists of a header map as `Accept[0]`. */
const header = part('Header', (old, next, { contextual }) => {
  const before = itemAt(old, 'Header');
  const after = itemAt(next, 'Header');
  if (equalValues(before, after)) return [];
  const flatBefore = flattenFreeForm(before);
  const flatAfter = flattenFreeForm(after);
  const Type = flatBefore.size === 0 ? 'Added' : flatAfter.size === 0 ? 'Deleted' : 'Edited';
  return [objectDiff(Type, 'Header', diffFields(flatBefore, flatAfter, contextual))];
});

const checkRule = presenceRule('Check', scalarsOf(serviceCheckBlock), [header, one('CheckRestart', checkRestartRule)]);

/** A weight of 0 counts as unset. */
function weightsOf(weights: Item): Flat {
  const flat = new Map<string, string>();
  for (const name of ['Passing', 'Warning']) {
    const weight = weights[name];
    if (typeof weight === 'number' && weight > 0) flat.set(name, String(weight));
  }
  return flat;
}

const serviceRule = presenceRule('Service', scalarsOf(serviceBlock), [
  strings('CanaryTags'),
  strings('Tags'),
  byField('Checks', 'Name', checkRule),
  one('Connect', connectRule),
  one('Identity', identityRule),
  one('Weights', presenceRule('Weights', weightsOf)),
]);

/** If each side has one service, they are the same one; several are matched by name, port and position. */
const services = matched('Services', serviceRule, matchServices);

const artifactRule = fieldsRule('Artifact', scalarsOf(artifactBlock));

const secretRule: ObjectRule = {
  name: 'Secret',
  type: 'presence',
  fields: everythingOf(secretBlock),
  absent: { Name: '', Provider: '', Path: '', Config: null, Env: null },
};

/** The owner is compared on the sides that name one. */
const templateFields = withGiven(scalarsOf(templateBlock), ['Uid', 'Gid']);

const templateRule = presenceRule('Template', templateFields, [
  // Existing clients expect the block `wait` under the name of its parent.
  one('Wait', presenceRule('Template', everythingOf(waitBlock))),
  one('ChangeScript', presenceRule('ChangeScript', scalarsOf(changeScriptBlock), [strings('Args')])),
]);

const templates = matched('Templates', templateRule, matchTemplates);

const scheduleRule = fieldsRule('Schedule', scalarsOf(scheduleCronBlock));

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
  one('DispatchPayload', fieldsRule('DispatchPayload', scalarsOf(dispatchPayloadBlock))),
  keyed('Artifacts', artifactRule, (artifact) => String(artifact['RelativeDest'] || contentOf(artifact))),
  services,
  one('Vault', presenceRule('Vault', scalarsOf(vaultBlock))),
  byField('Secrets', 'Name', secretRule),
  one('Consul', consulRule),
  templates,
  one('Identity', identityRule),
  byField('Identities', 'Name', identityRule),
  byPosition('Actions', presenceRule('Action', scalarsOf(actionBlock), [strings('Args')])),
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

const volumeRule = presenceRule('Volume', scalarsOf(volumeBlock), [
  one('MountOptions', presenceRule('MountOptions', scalarsOf(mountOptionsBlock), [strings('MountFlags')])),
]);

const groupParts: readonly Part[] = [
  constraints,
  affinities,
  one('RestartPolicy', fieldsRule('RestartPolicy', scalarsOf(restartBlock))),
  one('Migrate', fieldsRule('Migrate', scalarsOf(migrateBlock))),
  one('ReschedulePolicy', fieldsRule('ReschedulePolicy', scalarsOf(rescheduleBlock))),
  one('EphemeralDisk', fieldsRule('EphemeralDisk', scalarsOf(ephemeralDiskBlock))),
  one('Consul', consulRule),
  one('Update', {
    name: 'Update',
    type: 'fields',
    fields: scalarsOf(updateBlock, { without: ['Stagger'] }),
    filled: ['Stagger'],
  }),
  one('Disconnect', presenceRule('Disconnect', everythingOf(disconnectBlock))),
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

const regionRule = fieldsRule('Region', scalarsOf(multiregionRegionBlock), [strings('Datacenters', 'hidden')]);

const regions = byField('Regions', 'Name', regionRule);

const strategyRule = fieldsRule('Strategy', scalarsOf(multiregionStrategyBlock));

/** As existing clients expect, an added strategy appears as an edited one that was empty before. */
const strategy: DiffPart = (old, next, detail) =>
  present(
    diffObject(
      strategyRule,
      old === null ? { MaxParallel: 0, OnFailure: '' } : itemAt(old, 'Strategy'),
      itemAt(next, 'Strategy'),
      detail,
    ),
  );

const multiregionRule = presenceRule('Multiregion', () => nothingFlat, [
  {
    of: ['Strategy', 'Regions'],
    diff: (...sides) => sortedObjects([...strategy(...sides), ...regions.diff(...sides)]),
  },
]);

const jobParts: readonly Part[] = [
  strings('Datacenters', 'hidden'),
  constraints,
  affinities,
  one('Periodic', presenceRule('Periodic', scalarsOf(periodicBlock), [strings('Specs', 'hidden')])),
  one(
    'ParameterizedJob',
    presenceRule('ParameterizedJob', scalarsOf(parameterizedBlock), [strings('MetaOptional'), strings('MetaRequired')]),
  ),
  one('Multiregion', multiregionRule),
  one(
    'UI',
    presenceRule('UI', scalarsOf(uiBlock), [
      byPosition('Links', {
        name: 'Link',
        type: 'presence',
        fields: scalarsOf(uiLinkBlock),
        absent: { Label: '', Url: '' },
      }),
    ]),
  ),
];

/** Bookkeeping of the registration. */
const bookkeeping = [
  'ID',
  'Status',
  'StatusDescription',
  'Version',
  'Stable',
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
  'SubmitTime',
];

/** The parts of a job besides its groups, in the order of the diff. */
export const jobRule: BlockRule = {
  fields: scalarsOf(jobBlock, { without: [...bookkeeping, 'NomadTokenID'] }),
  neverContextual: true,
  // The update policy is compared together with the groups.
  ignored: [...bookkeeping, 'Update', 'TaskGroups'],
  filled: ['NomadTokenID'],
  parts: jobParts,
};
