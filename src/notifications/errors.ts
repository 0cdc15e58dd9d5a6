import type { FailureClass } from './delivery/classify-failure.js';

/** What is wrong with one member of a request. */
export interface FieldFault {
  /** JSON pointer into the request document, for example `/data/attributes/name`; empty for the whole document. */
  readonly pointer: string;
  /** A sentence for the caller: what is wrong and what would be right. */
  readonly message: string;
}

/** The answer to a verification request, as callers see it. The URL has no userinfo. */
export interface VerificationResponse {
  /** Where the request was sent. */
  readonly url: string;
  /** The beginning of the answer's text. */
  readonly body: string;
  /** The status code of HTTP as a string; empty when there was no answer. */
  readonly code: string;
  /** Of the answer, by lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** RFC 3339 in UTC with milliseconds. */
  readonly sentAt: string;
  /** Whether the destination accepted the request with a 2xx status. */
  readonly successful: boolean;
}

/** It does not exist, or the caller may not see it: both have the same answer. */
export interface NotFound {
  readonly type: 'not_found';
  /** The kind of what is not there. */
  readonly resource:
    | 'workspace'
    | 'organization'
    | 'user'
    | 'notification_configuration'
    | 'notification_event'
    | 'notification_delivery'
    | 'notification_recovery'
    | 'event_type';
  /** The ID or name that was asked for. */
  readonly id: string;
}

/** The request is well understood and wrong; nothing was changed. All faults that were found, not only the first. */
export interface InvalidAttributes {
  readonly type: 'invalid_attributes';
  /** All that is wrong, in the order of the document. */
  readonly faults: readonly FieldFault[];
}

/** A query parameter is not acceptable. */
export interface InvalidParameter {
  readonly type: 'invalid_parameter';
  /** The name of the parameter, as requests write it. */
  readonly parameter: string;
  readonly message: string;
}

/** The workspace holds as many configurations as it may. */
export interface LimitReached {
  readonly type: 'limit_reached';
  /** How many there may be. */
  readonly limit: number;
  readonly message: string;
}

/** The destination did not answer the verification request, or not with 2xx. Create and update have saved nothing. */
export interface VerificationFailed {
  readonly type: 'verification_failed';
  /** Names scheme and host of the destination at most. */
  readonly message: string;
  /** Why the destination did not accept the request. */
  readonly cause: FailureClass;
  /** Null when there was no answer. */
  readonly response: VerificationResponse | null;
}

/** The record was changed by another request meanwhile, or its state does not allow the action. */
export interface Conflict {
  readonly type: 'conflict';
  readonly message: string;
}

/** Everything that an operation of this area can refuse; storage failures and missing management rights come besides. */
export type NotificationError =
  | NotFound
  | InvalidAttributes
  | InvalidParameter
  | LimitReached
  | VerificationFailed
  | Conflict;
