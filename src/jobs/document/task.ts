import {
  absentWhenUnset,
  block,
  duration,
  durationOrNull,
  flag,
  freeForm,
  keptEmpty,
  many,
  one,
  oneAlways,
  type Stored,
  stringMap,
  text,
} from './field-table.js';
import { identityBlock } from './identity.js';
import { affinityBlock, constraintBlock } from './placement.js';
import { consulBlock, restartBlock, scalingBlock } from './policies.js';
import { resourcesBlock } from './resources.js';
import { serviceBlock } from './service.js';
import {
  actionBlock,
  artifactBlock,
  csiPluginBlock,
  dispatchPayloadBlock,
  lifecycleBlock,
  logConfigBlock,
  scheduleBlock,
  secretBlock,
  templateBlock,
  vaultBlock,
  volumeMountBlock,
} from './task-parts.js';

/** One unit of work of a group, run by a driver. The stored form of `TaskInput`, which describes the fields. */
export interface Task extends Stored<typeof taskBlock> {}

export const taskBlock = block<Task>()('Task', {
  Name: text,
  Driver: text,
  User: text,
  Config: freeForm,
  Env: stringMap,
  Services: many(serviceBlock),
  Vault: one(vaultBlock),
  Secrets: many(secretBlock),
  Consul: one(consulBlock),
  Templates: many(templateBlock),
  Constraints: many(constraintBlock),
  Affinities: many(affinityBlock),
  Resources: oneAlways(resourcesBlock),
  RestartPolicy: oneAlways(restartBlock),
  DispatchPayload: one(dispatchPayloadBlock),
  Lifecycle: one(lifecycleBlock),
  Meta: stringMap,
  KillTimeout: durationOrNull,
  LogConfig: oneAlways(logConfigBlock),
  Artifacts: many(artifactBlock),
  Leader: flag,
  ShutdownDelay: duration,
  VolumeMounts: many(volumeMountBlock),
  ScalingPolicies: many(scalingBlock),
  KillSignal: text,
  Kind: text,
  CSIPluginConfig: absentWhenUnset(one(csiPluginBlock)),
  Identity: one(identityBlock),
  Identities: keptEmpty(many(identityBlock)),
  Actions: many(actionBlock),
  Schedule: one(scheduleBlock),
});
