/** What is wrong with a request before any operation has seen it. The two interfaces print it in their own shapes. */
export interface BadInput {
  readonly type: 'bad_input';
  /**
   * `malformed` cannot be read at all, `wrong_type` can be read and does not fit, `absent` is missing, `too_large`
   * exceeds a limit, `unsupported` is written in another media type, `no_room` came while too many others were held.
   */
  readonly reason: 'malformed' | 'wrong_type' | 'absent' | 'too_large' | 'unsupported' | 'aborted' | 'no_room';
  readonly message: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Name of the query parameter. */
  readonly parameter?: string;
}

export function badInput(reason: BadInput['reason'], message: string): BadInput {
  return { type: 'bad_input', reason, message };
}

/** What is quoted from a request in a message is cut, so that an error is never large. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? text.slice(0, 80) + '…' : text);
}
