/*
 * What can go wrong between a client and the engine, beside what the calls themselves refuse. A client in process gives
 * only `aborted`.
 */

/** The server could not be reached, or the connection broke; whether a write was done is not known. */
export interface Unreachable {
  readonly type: 'unreachable';
  readonly message: string;
  /** What the platform's `fetch` or socket reported. */
  readonly cause?: unknown;
}

/** The server did not answer in time; whether a write was done is not known. */
export interface TimedOut {
  readonly type: 'timed_out';
  readonly message: string;
}

/** The caller's signal ended the call; whether a write was done is not known. */
export interface Aborted {
  readonly type: 'aborted';
  readonly message: string;
}

/** The request could not be read as this call: a value does not fit the parameter, or the body its limits. */
export interface BadRequest {
  readonly type: 'bad_request';
  readonly message: string;
  /** Name of the parameter on the wire. */
  readonly parameter?: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
}

/** The server refused the request before it considered the call (busy, stopping, another host, not provided). */
export interface Refused {
  readonly type: 'refused';
  /** The status code of HTTP. */
  readonly status: number;
  readonly message: string;
}

/** The answer is not one of this interface: another server, or a proxy, has answered. */
export interface UnexpectedAnswer {
  readonly type: 'unexpected_answer';
  /** The status code of HTTP. */
  readonly status: number;
  readonly message: string;
}

/** What a call over HTTP can fail with; `type` says which. In the same process a call fails with the errors of its operation. */
export type ClientError = Unreachable | TimedOut | Aborted | BadRequest | Refused | UnexpectedAnswer;

export const aborted: Aborted = { type: 'aborted', message: 'the call was ended by its signal' };
