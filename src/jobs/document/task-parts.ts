import type { Nanoseconds } from './document-values.js';
import {
  block,
  duration,
  durationOrNull,
  type FreeForm,
  flag,
  flagOrNull,
  freeForm,
  inputOnly,
  integerOrNull,
  keptNull,
  one,
  oneOf,
  oneOfOrNull,
  stringMap,
  strings,
  text,
  textOrNull,
} from './field-table.js';

/** The stored form of `LogConfigInput`, which describes the fields. */
export interface LogConfig {
  readonly MaxFiles: number;
  readonly MaxFileSizeMB: number;
  readonly Disabled: boolean;
}

/** The stored form of `VolumeMountInput`, which describes the fields. */
export interface VolumeMount {
  readonly Volume: string;
  readonly Destination: string;
  readonly ReadOnly: boolean;
  readonly PropagationMode: string;
  readonly SELinuxLabel: string;
}

/** The stored form of `TaskLifecycleInput`, which describes the fields. */
export interface TaskLifecycle {
  readonly Hook: string;
  readonly Sidecar: boolean;
}

/** The stored form of `TaskArtifactInput`, which describes the fields. */
export interface TaskArtifact {
  readonly GetterSource: string;
  readonly GetterOptions: Readonly<Record<string, string>> | null;
  readonly GetterHeaders: Readonly<Record<string, string>> | null;
  readonly GetterMode: string;
  readonly GetterInsecure: boolean;
  readonly RelativeDest: string;
  readonly Chown: boolean;
}

/** The stored form of `VaultInput`, which describes the fields. */
export interface TaskVault {
  readonly Role: string;
  readonly Namespace: string;
  readonly Cluster: string;
  readonly Env: boolean;
  readonly DisableFile: boolean;
  readonly ChangeMode: string;
  readonly ChangeSignal: string;
  readonly AllowTokenExpiration: boolean;
}

/** The stored form of `ChangeScriptInput`, which describes the fields. */
export interface ChangeScript {
  readonly Command: string;
  readonly Args: readonly string[] | null;
  readonly Timeout: Nanoseconds;
  readonly FailOnError: boolean;
  readonly RunOnFirstRender: boolean;
}

/** The stored form of `WaitConfigInput`, which describes the fields. */
export interface WaitConfig {
  readonly Min: Nanoseconds | null;
  readonly Max: Nanoseconds | null;
}

/** The stored form of `TemplateInput`, which describes the fields. */
export interface TaskTemplate {
  readonly SourcePath: string;
  readonly DestPath: string;
  readonly EmbeddedTmpl: string;
  readonly ChangeMode: string;
  readonly ChangeScript: ChangeScript | null;
  readonly ChangeSignal: string;
  readonly Once: boolean;
  readonly Splay: Nanoseconds;
  readonly Perms: string;
  readonly Uid: number | null;
  readonly Gid: number | null;
  readonly LeftDelim: string;
  readonly RightDelim: string;
  readonly Envvars: boolean;
  readonly VaultGrace: Nanoseconds;
  readonly Wait: WaitConfig | null;
  readonly ErrMissingKey: boolean;
}

/** The stored form of `DispatchPayloadInput`, which describes the field. */
export interface DispatchPayload {
  readonly File: string;
}

/** The stored form of `CSIPluginConfigInput`, which describes the fields. */
export interface CSIPluginConfig {
  readonly ID: string;
  readonly Type: string;
  readonly MountDir: string;
  readonly StagePublishBaseDir: string;
  readonly HealthTimeout: Nanoseconds;
}

/** The stored form of `SecretInput`, which describes the fields. */
export interface TaskSecret {
  readonly Name: string;
  readonly Provider: string;
  readonly Path: string;
  readonly Config: FreeForm | null;
  readonly Env: Readonly<Record<string, string>> | null;
}

/** The stored form of `ActionInput`, which describes the fields. */
export interface TaskAction {
  readonly Name: string;
  readonly Command: string;
  readonly Args: readonly string[] | null;
}

/** The stored form of `TaskScheduleCronInput`, which describes the fields. */
export interface TaskScheduleCron {
  readonly Start: string;
  readonly End: string;
  readonly Timezone: string;
}

/** The stored form of `TaskScheduleInput`, which describes the field. */
export interface TaskSchedule {
  readonly Cron: TaskScheduleCron | null;
}

export const logConfigBlock = block('LogConfig', {
  MaxFiles: integerOrNull,
  MaxFileSizeMB: integerOrNull,
  Enabled: inputOnly(flagOrNull),
  Disabled: flagOrNull,
});

export const volumeMountBlock = block('VolumeMount', {
  Volume: textOrNull,
  Destination: textOrNull,
  ReadOnly: flagOrNull,
  PropagationMode: oneOfOrNull('private', 'host-to-task', 'bidirectional'),
  SELinuxLabel: oneOfOrNull('z', 'Z'),
});

export const lifecycleBlock = block('TaskLifecycle', {
  Hook: oneOf('prestart', 'poststart', 'poststop'),
  Sidecar: flag,
});

export const artifactBlock = block('TaskArtifact', {
  GetterSource: textOrNull,
  GetterOptions: stringMap,
  GetterHeaders: stringMap,
  GetterMode: oneOfOrNull('any', 'file', 'dir'),
  GetterInsecure: flagOrNull,
  RelativeDest: textOrNull,
  Chown: flag,
});

export const vaultBlock = block('Vault', {
  Policies: inputOnly(strings),
  Role: text,
  Namespace: textOrNull,
  Cluster: text,
  Env: flagOrNull,
  DisableFile: flagOrNull,
  ChangeMode: oneOfOrNull('noop', 'restart', 'signal'),
  ChangeSignal: textOrNull,
  AllowTokenExpiration: flagOrNull,
});

export const changeScriptBlock = block('ChangeScript', {
  Command: textOrNull,
  Args: strings,
  Timeout: durationOrNull,
  FailOnError: flagOrNull,
  RunOnFirstRender: flagOrNull,
});

export const waitBlock = block('WaitConfig', { Min: keptNull(durationOrNull), Max: keptNull(durationOrNull) });

export const templateBlock = block('Template', {
  SourcePath: textOrNull,
  DestPath: textOrNull,
  EmbeddedTmpl: textOrNull,
  ChangeMode: oneOfOrNull('noop', 'restart', 'signal', 'script'),
  ChangeScript: one(changeScriptBlock),
  ChangeSignal: textOrNull,
  Once: flagOrNull,
  Splay: durationOrNull,
  Perms: textOrNull,
  Uid: keptNull(integerOrNull),
  Gid: keptNull(integerOrNull),
  LeftDelim: textOrNull,
  RightDelim: textOrNull,
  Envvars: flagOrNull,
  VaultGrace: durationOrNull,
  Wait: one(waitBlock),
  ErrMissingKey: flagOrNull,
});

export const dispatchPayloadBlock = block('DispatchPayload', { File: text });

export const csiPluginBlock = block('CSIPluginConfig', {
  ID: text,
  Type: oneOf('node', 'controller', 'monolith'),
  MountDir: text,
  StagePublishBaseDir: text,
  HealthTimeout: duration,
});

export const secretBlock = block('Secret', {
  Name: text,
  Provider: text,
  Path: text,
  Config: freeForm,
  Env: stringMap,
});

export const actionBlock = block('Action', { Name: text, Command: text, Args: strings });

export const scheduleCronBlock = block('TaskScheduleCron', { Start: text, End: text, Timezone: text });

export const scheduleBlock = block('TaskSchedule', { Cron: one(scheduleCronBlock) });
