import type { FailureClass } from './delivery/classify-failure.js';

/** The fault of one member of a request. */
export interface FieldFault {
  /** JSON pointer into the request document, for example `/data/attributes/name`; empty for the whole document. */
  readonly pointer: string;
  /** A sentence for the caller: the fault and the remedy. */
  readonly message: string;
}

/** The response to a verification request, as shown to callers. The URL has no userinfo. */
export interface VerificationResponse {
  /** The URL of the request. */
  readonly url: string;
  /** The beginning of the response body. */
  readonly body: string;
  /** The HTTP status code as a string; empty without a response. */
  readonly code: string;
  /** Response headers, by lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** RFC 3339 in UTC with milliseconds. */
  readonly sentAt: string;
  /** Whether the destination accepted the request with a 2xx status. */
  readonly successful: boolean;
}

/** The object does not exist, or the caller may not see it; the error is the same. */
export interface NotFound {
  readonly type: 'not_found';
  /** The kind of the missing object. */
  readonly resource:
    | 'workspace'
    | 'organization'
    | 'user'
    | 'notification_configuration'
    | 'notification_event'
    | 'notification_delivery'
    | 'notification_recovery'
    | 'event_type';
  /** The requested ID or name. */
  readonly id: string;
}

/** The request is invalid; nothing was changed. Lists all faults. */
export interface InvalidAttributes {
  readonly type: 'invalid_attributes';
  /** All faults, in the order of the document. */
  readonly faults: readonly FieldFault[];
}

/** A query parameter is invalid. */
export interface InvalidParameter {
  readonly type: 'invalid_parameter';
  /** The name of the parameter in requests. */
  readonly parameter: string;
  readonly message: string;
}

/** The workspace has reached its limit of configurations. */
export interface LimitReached {
  readonly type: 'limit_reached';
  /** The largest number. */
  readonly limit: number;
  readonly message: string;
}

/** The destination did not answer the verification request, or not with 2xx. Create and update have saved nothing. */
export interface VerificationFailed {
  readonly type: 'verification_failed';
  /** May name scheme and host of the destination, nothing else of its URL. */
  readonly message: string;
  /** Why the destination did not accept the request. */
  readonly cause: FailureClass;
  /** Null without a response. */
  readonly response: VerificationResponse | null;
}

/** The record was changed by another request since it was read, or its state does not allow the action. */
export interface Conflict {
  readonly type: 'conflict';
  readonly message: string;
}

/** All errors of operations of this area, apart from storage failures and missing management rights. */
export type NotificationError =
  | NotFound
  | InvalidAttributes
  | InvalidParameter
  | LimitReached
  | VerificationFailed
  | Conflict;
