import {
  block,
  duration,
  durationOrNull,
  flag,
  flagOrNull,
  freeForm,
  inputOnly,
  integerOrNull,
  keptNull,
  one,
  oneOf,
  oneOfOrNull,
  type Stored,
  stringMap,
  strings,
  text,
  textOrNull,
} from './field-table.js';

/** The stored form of `LogConfigInput`, which describes the fields. */
export interface LogConfig extends Stored<typeof logConfigBlock> {}

/** The stored form of `VolumeMountInput`, which describes the fields. */
export interface VolumeMount extends Stored<typeof volumeMountBlock> {}

/** The stored form of `TaskLifecycleInput`, which describes the fields. */
export interface TaskLifecycle extends Stored<typeof lifecycleBlock> {}

/** The stored form of `TaskArtifactInput`, which describes the fields. */
export interface TaskArtifact extends Stored<typeof artifactBlock> {}

/** The stored form of `VaultInput`, which describes the fields. */
export interface TaskVault extends Stored<typeof vaultBlock> {}

/** The stored form of `ChangeScriptInput`, which describes the fields. */
export interface ChangeScript extends Stored<typeof changeScriptBlock> {}

/** The stored form of `WaitConfigInput`, which describes the fields. */
export interface WaitConfig extends Stored<typeof waitBlock> {}

/** The stored form of `TemplateInput`, which describes the fields. */
export interface TaskTemplate extends Stored<typeof templateBlock> {}

/** The stored form of `DispatchPayloadInput`, which describes the field. */
export interface DispatchPayload extends Stored<typeof dispatchPayloadBlock> {}

/** The stored form of `CSIPluginConfigInput`, which describes the fields. */
export interface CSIPluginConfig extends Stored<typeof csiPluginBlock> {}

/** The stored form of `SecretInput`, which describes the fields. */
export interface TaskSecret extends Stored<typeof secretBlock> {}

/** The stored form of `ActionInput`, which describes the fields. */
export interface TaskAction extends Stored<typeof actionBlock> {}

/** The stored form of `TaskScheduleCronInput`, which describes the fields. */
export interface TaskScheduleCron extends Stored<typeof scheduleCronBlock> {}

/** The stored form of `TaskScheduleInput`, which describes the field. */
export interface TaskSchedule extends Stored<typeof scheduleBlock> {}

export const logConfigBlock = block<LogConfig>()('LogConfig', {
  MaxFiles: integerOrNull,
  MaxFileSizeMB: integerOrNull,
  Enabled: inputOnly(flagOrNull),
  Disabled: flagOrNull,
});

export const volumeMountBlock = block<VolumeMount>()('VolumeMount', {
  Volume: textOrNull,
  Destination: textOrNull,
  ReadOnly: flagOrNull,
  PropagationMode: oneOfOrNull('private', 'host-to-task', 'bidirectional'),
  SELinuxLabel: oneOfOrNull('z', 'Z'),
});

export const lifecycleBlock = block<TaskLifecycle>()('TaskLifecycle', {
  Hook: oneOf('prestart', 'poststart', 'poststop'),
  Sidecar: flag,
});

export const artifactBlock = block<TaskArtifact>()('TaskArtifact', {
  GetterSource: textOrNull,
  GetterOptions: stringMap,
  GetterHeaders: stringMap,
  GetterMode: oneOfOrNull('any', 'file', 'dir'),
  GetterInsecure: flagOrNull,
  RelativeDest: textOrNull,
  Chown: flag,
});

export const vaultBlock = block<TaskVault>()('Vault', {
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

export const changeScriptBlock = block<ChangeScript>()('ChangeScript', {
  Command: textOrNull,
  Args: strings,
  Timeout: durationOrNull,
  FailOnError: flagOrNull,
  RunOnFirstRender: flagOrNull,
});

export const waitBlock = block<WaitConfig>()('WaitConfig', {
  Min: keptNull(durationOrNull),
  Max: keptNull(durationOrNull),
});

export const templateBlock = block<TaskTemplate>()('Template', {
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

export const dispatchPayloadBlock = block<DispatchPayload>()('DispatchPayload', { File: text });

export const csiPluginBlock = block<CSIPluginConfig>()('CSIPluginConfig', {
  ID: text,
  Type: oneOf('node', 'controller', 'monolith'),
  MountDir: text,
  StagePublishBaseDir: text,
  HealthTimeout: duration,
});

export const secretBlock = block<TaskSecret>()('Secret', {
  Name: text,
  Provider: text,
  Path: text,
  Config: freeForm,
  Env: stringMap,
});

export const actionBlock = block<TaskAction>()('Action', { Name: text, Command: text, Args: strings });

export const scheduleCronBlock = block<TaskScheduleCron>()('TaskScheduleCron', {
  Start: text,
  End: text,
  Timezone: text,
});

export const scheduleBlock = block<TaskSchedule>()('TaskSchedule', { Cron: one(scheduleCronBlock) });
