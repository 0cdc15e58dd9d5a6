import type { Nanoseconds } from './document-values.js';
import {
  absentWhenUnset,
  block,
  duration,
  durationOrNull,
  type FreeForm,
  flag,
  freeForm,
  keptEmpty,
  many,
  one,
  oneAlways,
  stringMap,
  text,
} from './field-table.js';
import { identityBlock, type WorkloadIdentity } from './identity.js';
import { type Affinity, affinityBlock, type Constraint, constraintBlock } from './placement.js';
import {
  type ConsulBlock,
  consulBlock,
  type RestartPolicy,
  restartBlock,
  type ScalingPolicy,
  scalingBlock,
} from './policies.js';
import { type Resources, resourcesBlock } from './resources.js';
import { type Service, serviceBlock } from './service.js';
import {
  actionBlock,
  artifactBlock,
  type CSIPluginConfig,
  csiPluginBlock,
  type DispatchPayload,
  dispatchPayloadBlock,
  type LogConfig,
  lifecycleBlock,
  logConfigBlock,
  scheduleBlock,
  secretBlock,
  type TaskAction,
  type TaskArtifact,
  type TaskLifecycle,
  type TaskSchedule,
  type TaskSecret,
  type TaskTemplate,
  type TaskVault,
  templateBlock,
  type VolumeMount,
  vaultBlock,
  volumeMountBlock,
} from './task-parts.js';

/** One unit of work of a group, run by a driver. The stored form of `TaskInput`, which describes the fields. */
export interface Task {
  readonly Name: string;
  readonly Driver: string;
  readonly User: string;
  readonly Config: FreeForm | null;
  readonly Env: Readonly<Record<string, string>> | null;
  readonly Services: readonly Service[] | null;
  readonly Vault: TaskVault | null;
  readonly Secrets: readonly TaskSecret[] | null;
  readonly Consul: ConsulBlock | null;
  readonly Templates: readonly TaskTemplate[] | null;
  readonly Constraints: readonly Constraint[] | null;
  readonly Affinities: readonly Affinity[] | null;
  readonly Resources: Resources;
  readonly RestartPolicy: RestartPolicy;
  readonly DispatchPayload: DispatchPayload | null;
  readonly Lifecycle: TaskLifecycle | null;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly KillTimeout: Nanoseconds;
  readonly LogConfig: LogConfig;
  readonly Artifacts: readonly TaskArtifact[] | null;
  readonly Leader: boolean;
  readonly ShutdownDelay: Nanoseconds;
  readonly VolumeMounts: readonly VolumeMount[] | null;
  readonly ScalingPolicies: readonly ScalingPolicy[] | null;
  readonly KillSignal: string;
  readonly Kind: string;
  readonly CSIPluginConfig: CSIPluginConfig | null;
  readonly Identity: WorkloadIdentity | null;
  readonly Identities: readonly WorkloadIdentity[] | null;
  readonly Actions: readonly TaskAction[] | null;
  readonly Schedule: TaskSchedule | null;
}

export const taskBlock = block('Task', {
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
