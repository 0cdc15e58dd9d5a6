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
  stringMap,
  strings,
  text,
  textOrNull,
} from './field-table.js';

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
