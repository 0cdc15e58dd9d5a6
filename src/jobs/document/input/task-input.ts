// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { JsonValue } from '../fields/field-table.js';
import type { WorkloadIdentityInput } from './identity-input.js';
import type { AffinityInput, ConstraintInput } from './placement-input.js';
import type { ConsulInput, RestartPolicyInput, ScalingPolicyInput } from './policy-input.js';
import type { ResourcesInput } from './resource-input.js';
import type { ServiceInput } from './service-input.js';
import type {
  ActionInput,
  CSIPluginConfigInput,
  DispatchPayloadInput,
  LogConfigInput,
  SecretInput,
  TaskArtifactInput,
  TaskLifecycleInput,
  TaskScheduleInput,
  TemplateInput,
  VaultInput,
  VolumeMountInput,
} from './task-part-input.js';

/** One unit of work, run by a driver. The block `task` of a job specification. */
export interface TaskInput {
  /** Unique in the group, at most 128 bytes, without slashes. */
  readonly Name?: string | null;
  /** The driver that runs the task, such as `raw_exec` or `function`. */
  readonly Driver?: string | null;
  /** The user of the node that the task runs as. */
  readonly User?: string | null;
  /** The configuration of the driver. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Environment variables. May interpolate `${NOMAD_…}`, `${attr.…}` and `${meta.…}`. */
  readonly Env?: { readonly [name: string]: string } | null;
  /** Services that the task registers. */
  readonly Services?: readonly ServiceInput[] | null;
  /** A token for Vault. Not supported: refused. */
  readonly Vault?: VaultInput | null;
  /** Secrets that are read before the task starts. */
  readonly Secrets?: readonly SecretInput[] | null;
  /** Settings for the service catalogue Consul. */
  readonly Consul?: ConsulInput | null;
  /** Files that are rendered for the task. */
  readonly Templates?: readonly TemplateInput[] | null;
  /** Rules that a node must satisfy for this task. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Processor, memory and devices reserved for the task. */
  readonly Resources?: ResourcesInput | null;
  /** How often the task is restarted; fields that are left out are inherited from the group. */
  readonly RestartPolicy?: RestartPolicyInput | null;
  /** Writes the payload of a dispatch to a file. */
  readonly DispatchPayload?: DispatchPayloadInput | null;
  /** Starts the task before, with or after the main tasks; without it the task is one of them. */
  readonly Lifecycle?: TaskLifecycleInput | null;
  /** Names and values for the task; they override those of the group and the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How long the task may take to end before it is killed. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly KillTimeout?: DurationInput | null;
  /** Log rotation: how much output is kept. */
  readonly LogConfig?: LogConfigInput | null;
  /** Files that are downloaded before the task starts. */
  readonly Artifacts?: readonly TaskArtifactInput[] | null;
  /** Ends the other tasks of the group when this one ends. */
  readonly Leader?: boolean | null;
  /** How long the task keeps running after its services were deregistered. A string such as `30s`, or nanoseconds. */
  readonly ShutdownDelay?: DurationInput | null;
  /** Mounts of the volumes of the group. */
  readonly VolumeMounts?: readonly VolumeMountInput[] | null;
  /** Bounds for the resources of the task. */
  readonly ScalingPolicies?: readonly ScalingPolicyInput[] | null;
  /** The signal that requests the end of the task; SIGINT when left out. */
  readonly KillSignal?: string | null;
  /** Marks tasks of the service mesh. Set automatically. */
  readonly Kind?: string | null;
  /** Makes the task a plugin for volumes. No node supports this: the job waits. */
  readonly CSIPluginConfig?: CSIPluginConfigInput | null;
  /** The default identity of the task. */
  readonly Identity?: WorkloadIdentityInput | null;
  /** Tokens that identify the task to other systems. */
  readonly Identities?: readonly WorkloadIdentityInput[] | null;
  /** Commands that can be run in the task. */
  readonly Actions?: readonly ActionInput[] | null;
  /** The times at which the task runs. Not supported: refused. */
  readonly Schedule?: TaskScheduleInput | null;
}
