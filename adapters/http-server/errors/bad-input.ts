export { quoted } from '../../../src/api/quoted.js';

/** A fault of a request found before its operation runs. The two interfaces print it in their own forms. */
export interface BadInput {
  readonly type: 'bad_input';
  /**
   * `malformed`: cannot be parsed. `wrong_type`: parsed, but of an unexpected type. `absent`: missing. `too_large`: exceeds a limit.
   * `unsupported`: another media type. `aborted`: ended early. `no_room`: the memory for request bodies is full.
   */
  readonly reason: 'malformed' | 'wrong_type' | 'absent' | 'too_large' | 'unsupported' | 'aborted' | 'no_room';
  readonly message: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Name of the query parameter. */
  readonly parameter?: string;
  /** The status that clients of Nomad expect in place of a 400. */
  readonly status?: 500;
}

export function badInput(reason: BadInput['reason'], message: string): BadInput {
  return { type: 'bad_input', reason, message };
}
