/** A fault of a request found before its operation runs. The two interfaces print it in their own forms. */
export interface BadInput {
  readonly type: 'bad_input';
  /**
   * `malformed`: cannot be parsed. `wrong_type`: parsed, but of an unexpected type. `absent`: missing. `too_large`: exceeds a limit.
   * `unsupported`: another media type. `aborted`: ended early. `no_room`: the memory for request bodies is full.
   * `too_many_waiting`: its caller has too many waiting reads.
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
