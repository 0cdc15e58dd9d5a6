export { quoted } from '../../../src/api/quoted.js';

/** A fault of a request found before its operation runs. The two interfaces print it in their own forms. */
export interface BadInput {
  readonly type: 'bad_input';
  /**
   * `malformed` cannot be read at all, `wrong_type` can be read and does not fit, `absent` is missing, `too_large`
   * exceeds a limit, `unsupported` is written in another media type, `no_room` came while too many others were held, `too_many_waiting` wants to wait while its caller waits too often.
   */
  readonly reason:
    | 'malformed'
    | 'wrong_type'
    | 'absent'
    | 'too_large'
    | 'unsupported'
    | 'aborted'
    | 'no_room'
    | 'too_many_waiting';
  readonly message: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Name of the query parameter. */
  readonly parameter?: string;
  /** The status that clients of Nomad expect in place of a 400. */
  readonly status?: 500;
}

/** In seconds: how soon a request may be tried again for which there was no room. */
export function retryAfter({ reason }: BadInput): readonly string[] {
  return reason === 'no_room' || reason === 'too_many_waiting' ? ['Retry-After', '1'] : [];
}

export function badInput(reason: BadInput['reason'], message: string): BadInput {
  return { type: 'bad_input', reason, message };
}
