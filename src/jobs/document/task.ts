import type { Nanoseconds } from './document-values.js';
import type { FreeForm } from './fields/field-table.js';
import type { WorkloadIdentity } from './identity.js';
import type { Affinity, Constraint } from './placement.js';
import type { ConsulBlock, RestartPolicy, ScalingPolicy } from './policies.js';
import type { Resources } from './resources.js';
import type { Service } from './service.js';
import type {
  CSIPluginConfig,
  DispatchPayload,
  LogConfig,
  TaskAction,
  TaskArtifact,
  TaskLifecycle,
  TaskSchedule,
  TaskSecret,
  TaskTemplate,
  TaskVault,
  VolumeMount,
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
