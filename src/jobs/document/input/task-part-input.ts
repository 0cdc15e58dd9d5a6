// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { JsonValue } from '../fields/field-table.js';

/** How much output of the task is kept. The block `logs` of a job specification. */
export interface LogConfigInput {
  /** How many files of each output are kept. Default: `10`. */
  readonly MaxFiles?: number | null;
  /** MB of one file. Default: `10`. */
  readonly MaxFileSizeMB?: number | null;
  /** @deprecated Ignored: use `Disabled`. */
  readonly Enabled?: boolean | null;
  /** Collects no output. Default: `false`. */
  readonly Disabled?: boolean | null;
}

/** Mounts a volume of the group into the task. The block `volume_mount` of a job specification. */
export interface VolumeMountInput {
  /** The name of a volume of the group. */
  readonly Volume?: string | null;
  /** Where the task sees it. */
  readonly Destination?: string | null;
  /** Mounts it for reading only. Default: `false`. */
  readonly ReadOnly?: boolean | null;
  /** How mounts inside of the volume are seen: `private`, `host-to-task` or `bidirectional`. Default: `private`. */
  readonly PropagationMode?: 'private' | 'host-to-task' | 'bidirectional' | null;
  /** `z` for a label that tasks share, `Z` for a separate one. */
  readonly SELinuxLabel?: 'z' | 'Z' | null;
}

/** Gives the task a token of the secrets service. The block `vault` of a job specification. */
export interface VaultInput {
  /** @deprecated Ignored. */
  readonly Policies?: readonly string[] | null;
  /** The role of the token. */
  readonly Role?: string | null;
  /** The namespace in Vault that the token is for. */
  readonly Namespace?: string | null;
  /** The cluster of Vault. Default: `default`. */
  readonly Cluster?: string | null;
  /** Gives the token to the task as `VAULT_TOKEN`. Default: `true`. */
  readonly Env?: boolean | null;
  /** Writes the token to no file. Default: `false`. */
  readonly DisableFile?: boolean | null;
  /** What happens when the token changes: `noop`, `restart` or `signal`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | null;
  /** What the task is sent when `ChangeMode` is `signal`, such as `SIGHUP`. Default: `SIGHUP`. */
  readonly ChangeSignal?: string | null;
  /** Does not renew the token. Default: `false`. */
  readonly AllowTokenExpiration?: boolean | null;
}

/** A secret that the task reads through a provider. The block `secret` of a job specification. */
export interface SecretInput {
  /** From 1 to 128 letters, digits and underscores. */
  readonly Name?: string | null;
  /** `nomad`, `vault`, or the name of a plugin. */
  readonly Provider?: string | null;
  /** Where the secret is. */
  readonly Path?: string | null;
  /** Options of the built-in providers. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Variables of the environment of a plugin. */
  readonly Env?: { readonly [name: string]: string } | null;
}

/** A file that is rendered from a template and watched for changes. The block `template` of a job specification. */
export interface TemplateInput {
  /** A file with the template. Excludes `EmbeddedTmpl`. */
  readonly SourcePath?: string | null;
  /** The file that is written, seen from the directory of the task. */
  readonly DestPath?: string | null;
  /** The template itself. */
  readonly EmbeddedTmpl?: string | null;
  /** What happens when the text changes: `noop`, `restart`, `signal` or `script`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | 'script' | null;
  /** What is run when `ChangeMode` is `script`. */
  readonly ChangeScript?: ChangeScriptInput | null;
  /** What the task is sent when `ChangeMode` is `signal`; SIGHUP when left out. */
  readonly ChangeSignal?: string | null;
  /** Renders only before the task starts. Default: `false`. */
  readonly Once?: boolean | null;
  /**
   * A random wait of at most this long before the change has its effect. A string such as `30s`, or nanoseconds.
   * Default: `5s`.
   */
  readonly Splay?: DurationInput | null;
  /** The rights of the file as an octal number. Default: `0644`. */
  readonly Perms?: string | null;
  /** The owner of the file by number; that of the process when left out. */
  readonly Uid?: number | null;
  /** The group of the file by number. */
  readonly Gid?: number | null;
  /** What an expression begins with. Default: `{{`. */
  readonly LeftDelim?: string | null;
  /** What it ends with. Default: `}}`. */
  readonly RightDelim?: string | null;
  /** Reads the rendered text as `NAME=value` lines for the environment. Default: `false`. */
  readonly Envvars?: boolean | null;
  /** @deprecated Has no effect. A string such as `30s`, or nanoseconds. Default: `0s`. */
  readonly VaultGrace?: DurationInput | null;
  /** Waits until changes have settled before rendering. */
  readonly Wait?: WaitConfigInput | null;
  /** Fails when the template asks for a key that is not there. Default: `false`. */
  readonly ErrMissingKey?: boolean | null;
}

/** The script that `change_mode = "script"` runs in the task. The block `change_script` of a job specification. */
export interface ChangeScriptInput {
  /** A program inside of the task. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
  /** How long it may run. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly Timeout?: DurationInput | null;
  /** Ends the task when the script fails. Default: `false`. */
  readonly FailOnError?: boolean | null;
  /** Runs the script at the first rendering too. Default: `false`. */
  readonly RunOnFirstRender?: boolean | null;
}

/** How long a rendered file must be quiet before it is used. The block `wait` of a job specification. */
export interface WaitConfigInput {
  /** How long to wait for further changes before the template is rendered. A string such as `30s`, or nanoseconds. */
  readonly Min?: DurationInput | null;
  /** The longest such wait. A string such as `30s`, or nanoseconds. */
  readonly Max?: DurationInput | null;
}

/** Where the payload of a dispatched job is written. The block `dispatch_payload` of a job specification. */
export interface DispatchPayloadInput {
  /** The file, seen from the local directory of the task. */
  readonly File?: string | null;
}

/** Makes the task run before, beside or after the main tasks. The block `lifecycle` of a job specification. */
export interface TaskLifecycleInput {
  /** When the task starts: `prestart`, `poststart` or `poststop`. */
  readonly Hook?: 'prestart' | 'poststart' | 'poststop' | null;
  /** Keeps the task running beside the main tasks; otherwise it must end. */
  readonly Sidecar?: boolean | null;
}

/** A file or archive that is fetched before the task starts. The block `artifact` of a job specification. */
export interface TaskArtifactInput {
  /** A URL. */
  readonly GetterSource?: string | null;
  /** Options of the download; `checksum` as `sha256:<digits>`. */
  readonly GetterOptions?: { readonly [name: string]: string } | null;
  /** Headers of the request. */
  readonly GetterHeaders?: { readonly [name: string]: string } | null;
  /** What is downloaded: a `file`, a `dir` (an archive is unpacked), or `any` of both. Default: `any`. */
  readonly GetterMode?: 'any' | 'file' | 'dir' | null;
  /** Accepts any certificate. Default: `false`. */
  readonly GetterInsecure?: boolean | null;
  /** Where it is put, seen from the directory of the task. Default: `local/`. */
  readonly RelativeDest?: string | null;
  /** Gives the files to the user of the task. */
  readonly Chown?: boolean | null;
}

/** Makes the task a storage plugin. The block `csi_plugin` of a job specification. */
export interface CSIPluginConfigInput {
  /** The name of the plugin. */
  readonly ID?: string | null;
  /** `node`, `controller` or `monolith`. */
  readonly Type?: 'node' | 'controller' | 'monolith' | null;
  /** Where the plugin finds its socket. Default: `/csi`. */
  readonly MountDir?: string | null;
  /** Where the plugin mounts volumes. Not below `MountDir`. Default: `/local/csi`. */
  readonly StagePublishBaseDir?: string | null;
  /** How long the plugin may take to answer. A string such as `30s`, or nanoseconds. Default: `30s`. */
  readonly HealthTimeout?: DurationInput | null;
}

/** A command that can be run in the task by name. The block `action` of a job specification. */
export interface ActionInput {
  /** From 1 to 128 characters without white space, unique in the task. */
  readonly Name?: string | null;
  /** A program inside of the task. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
}

/** Lets the task run only at certain times. The block `schedule` of a job specification. */
export interface TaskScheduleInput {
  /** When the task starts and ends. */
  readonly Cron?: TaskScheduleCronInput | null;
}

/** Start and end of the times at which the task runs. The block `cron` of a job specification. */
export interface TaskScheduleCronInput {
  /** A cron expression. */
  readonly Start?: string | null;
  /** A cron expression of minute and hour. */
  readonly End?: string | null;
  /** The zone of both. */
  readonly Timezone?: string | null;
}
