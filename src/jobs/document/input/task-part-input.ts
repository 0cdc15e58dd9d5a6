// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { JsonValue } from '../fields/field-table.js';

/** Log rotation: how much output of the task is kept. The block `logs` of a job specification. */
export interface LogConfigInput {
  /** The number of files kept for each output. Default: `10`. */
  readonly MaxFiles?: number | null;
  /** The maximum size of a file in MB. Default: `10`. */
  readonly MaxFileSizeMB?: number | null;
  /** @deprecated Ignored: use `Disabled`. */
  readonly Enabled?: boolean | null;
  /** Disables the collection of output. Default: `false`. */
  readonly Disabled?: boolean | null;
}

/** Mounts a volume of the group into the task. The block `volume_mount` of a job specification. */
export interface VolumeMountInput {
  /** The name of a volume of the group. */
  readonly Volume?: string | null;
  /** The path of the mount in the task. */
  readonly Destination?: string | null;
  /** Mounts it read-only. Default: `false`. */
  readonly ReadOnly?: boolean | null;
  /** The propagation of mounts inside the volume: `private`, `host-to-task` or `bidirectional`. Default: `private`. */
  readonly PropagationMode?: 'private' | 'host-to-task' | 'bidirectional' | null;
  /** `z` for a label that tasks share, `Z` for a private one. */
  readonly SELinuxLabel?: 'z' | 'Z' | null;
}

/** Passes a Vault token to the task. The block `vault` of a job specification. */
export interface VaultInput {
  /** @deprecated Ignored. */
  readonly Policies?: readonly string[] | null;
  /** The Vault role of the token. */
  readonly Role?: string | null;
  /** The namespace in Vault that the token is for. */
  readonly Namespace?: string | null;
  /** The cluster of Vault. Default: `default`. */
  readonly Cluster?: string | null;
  /** Passes the token to the task as `VAULT_TOKEN`. Default: `true`. */
  readonly Env?: boolean | null;
  /** Does not write the token to a file. Default: `false`. */
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
  /** The path of the secret. */
  readonly Path?: string | null;
  /** Options of the built-in providers. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Environment variables of a plugin. */
  readonly Env?: { readonly [name: string]: string } | null;
}

/** A file that is rendered from a template and watched for changes. The block `template` of a job specification. */
export interface TemplateInput {
  /** A file with the template. Cannot be combined with `EmbeddedTmpl`. */
  readonly SourcePath?: string | null;
  /** The rendered file, relative to the directory of the task. */
  readonly DestPath?: string | null;
  /** The template itself. */
  readonly EmbeddedTmpl?: string | null;
  /** What happens when the output changes: `noop`, `restart`, `signal` or `script`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | 'script' | null;
  /** The script to run when `ChangeMode` is `script`. */
  readonly ChangeScript?: ChangeScriptInput | null;
  /** What the task is sent when `ChangeMode` is `signal`; SIGHUP when left out. */
  readonly ChangeSignal?: string | null;
  /** Renders only before the task starts. Default: `false`. */
  readonly Once?: boolean | null;
  /** The maximum random delay before the change takes effect. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly Splay?: DurationInput | null;
  /** The permissions of the file as an octal number. Default: `0644`. */
  readonly Perms?: string | null;
  /** The owner of the file by number; that of the process when left out. */
  readonly Uid?: number | null;
  /** The group of the file by number. */
  readonly Gid?: number | null;
  /** The left delimiter of expressions. Default: `{{`. */
  readonly LeftDelim?: string | null;
  /** The right delimiter of expressions. Default: `}}`. */
  readonly RightDelim?: string | null;
  /** Reads the output as `NAME=value` lines for the environment. Default: `false`. */
  readonly Envvars?: boolean | null;
  /** @deprecated Has no effect. A string such as `30s`, or nanoseconds. Default: `0s`. */
  readonly VaultGrace?: DurationInput | null;
  /** Waits until changes have settled before rendering. */
  readonly Wait?: WaitConfigInput | null;
  /** Fails when the template reads a missing key. Default: `false`. */
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

/** How long the inputs of a template must be stable before it is rendered. The block `wait` of a job specification. */
export interface WaitConfigInput {
  /** How long to wait for further changes before rendering. A string such as `30s`, or nanoseconds. */
  readonly Min?: DurationInput | null;
  /** The maximum wait. A string such as `30s`, or nanoseconds. */
  readonly Max?: DurationInput | null;
}

/** The file for the payload of a dispatched job. The block `dispatch_payload` of a job specification. */
export interface DispatchPayloadInput {
  /** The file, relative to the local directory of the task. */
  readonly File?: string | null;
}

/** Makes the task run before, beside or after the main tasks. The block `lifecycle` of a job specification. */
export interface TaskLifecycleInput {
  /** When the task starts: `prestart`, `poststart` or `poststop`. */
  readonly Hook?: 'prestart' | 'poststart' | 'poststop' | null;
  /** Whether the task keeps running beside the main tasks; otherwise it must end. */
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
  /** The destination, relative to the directory of the task. Default: `local/`. */
  readonly RelativeDest?: string | null;
  /** Makes the user of the task the owner of the files. */
  readonly Chown?: boolean | null;
}

/** Makes the task a storage plugin. The block `csi_plugin` of a job specification. */
export interface CSIPluginConfigInput {
  /** The name of the plugin. */
  readonly ID?: string | null;
  /** `node`, `controller` or `monolith`. */
  readonly Type?: 'node' | 'controller' | 'monolith' | null;
  /** The directory with the socket of the plugin. Default: `/csi`. */
  readonly MountDir?: string | null;
  /** The directory in which the plugin mounts volumes. Not below `MountDir`. Default: `/local/csi`. */
  readonly StagePublishBaseDir?: string | null;
  /** How long the plugin may take to respond. A string such as `30s`, or nanoseconds. Default: `30s`. */
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

/** When the task starts and ends. The block `cron` of a job specification. */
export interface TaskScheduleCronInput {
  /** A cron expression. */
  readonly Start?: string | null;
  /** A cron expression of minute and hour. */
  readonly End?: string | null;
  /** The time zone of both. */
  readonly Timezone?: string | null;
}
