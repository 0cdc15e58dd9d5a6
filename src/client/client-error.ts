/*
 * Errors between a client and the engine, in addition to those of the calls. A client in process returns
 * only `aborted`.
 */

/** The server could not be reached, or the connection broke; a write may or may not have been done. */
export interface Unreachable {
  readonly type: 'unreachable';
  readonly message: string;
  /** The error of the platform's `fetch` or socket. */
  readonly cause?: unknown;
}

/** The server did not answer in time; a write may or may not have been done. */
export interface TimedOut {
  readonly type: 'timed_out';
  readonly message: string;
}

/** The caller's signal aborted the call; a write may or may not have been done. */
export interface Aborted {
  readonly type: 'aborted';
  readonly message: string;
}

/** The request is invalid: a parameter has an invalid value, or the body exceeds its limits. */
export interface BadRequest {
  readonly type: 'bad_request';
  readonly message: string;
  /** Name of the parameter in the request. */
  readonly parameter?: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
}

/** The server refused the request before the call began: busy, stopping, another host, not provided. */
export interface Refused {
  readonly type: 'refused';
  /** The HTTP status code. */
  readonly status: number;
  readonly message: string;
}

/** The response did not come from Signalbox but from another server or a proxy. */
export interface UnexpectedAnswer {
  readonly type: 'unexpected_answer';
  /** The HTTP status code. */
  readonly status: number;
  readonly message: string;
}

/** The transport errors of a call over HTTP, by `type`. In the same process a call fails only with its operation's errors or `aborted`. */
export type ClientError = Unreachable | TimedOut | Aborted | BadRequest | Refused | UnexpectedAnswer;

export const aborted: Aborted = { type: 'aborted', message: 'the call was aborted by its signal' };
