// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';

/** A signed token that identifies the task to others. The block `identity` of a job specification. */
export interface WorkloadIdentityInput {
  /** From 1 to 128 letters, digits, dashes and underscores. */
  readonly Name?: string | null;
  /** The audiences of the token, preferably a single one. */
  readonly Audience?: readonly string[] | null;
  /** What happens when the token is renewed: `noop`, `restart` or `signal`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | null;
  /** What the task is sent when `ChangeMode` is `signal`, such as `SIGHUP`. */
  readonly ChangeSignal?: string | null;
  /** Passes the token to the task as `NOMAD_TOKEN_<name>`. No node supports this: the job waits. */
  readonly Env?: boolean | null;
  /** Writes the token to a file in the secrets directory. No node supports this: the job waits. */
  readonly File?: boolean | null;
  /** The file, relative to the directory of the task. Needs `File`. */
  readonly Filepath?: string | null;
  /** The service that the identity represents. Set automatically. */
  readonly ServiceName?: string | null;
  /** How long a token is valid. It never expires when left out. A string such as `30s`, or nanoseconds. */
  readonly TTL?: DurationInput | null;
  /** Names of further claims of the token. */
  readonly ExtraClaims?: readonly string[] | null;
}
