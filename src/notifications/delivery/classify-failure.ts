import type { DestinationKind } from '../configurations/destination.js';

/** Why an attempt failed. A closed set, because it labels metrics. */
export const failureClasses = [
  'invalid_url',
  'address_forbidden',
  'name_not_resolved',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'connection_reset',
  'total_timeout',
  'invalid_response',
  'aborted',
  'proxy_failed',
  'redirect',
  'client_error',
  'gone',
  'rate_limited',
  'server_error',
  'answered_with_error',
  'mail_rejected',
  'mail_unavailable',
  'secret_unreadable',
  'transform_failed',
] as const;
/** One of `failureClasses`. */
export type FailureClass = (typeof failureClasses)[number];

/** A failed attempt, classified. */
export interface Failure {
  readonly class: FailureClass;
  /** A retry cannot succeed. */
  readonly permanent: boolean;
  /** For the delivery log; holds no secrets. */
  readonly message: string;
}

/** Statuses that end a delivery without a retry, by kind of destination. */
const permanentStatuses: Readonly<Record<DestinationKind, ReadonlySet<number>>> = {
  generic: new Set([410]),
  'chat-a': new Set([400, 403, 404, 410]),
  'chat-b': new Set([400, 401, 403, 404, 410, 413]),
  email: new Set(),
};

/** The response of the old chat-b endpoint, with status 200, when it could not relay the message. */
const relayFailure = /^\s*"?webhook message delivery failed with error/i;

/**
 * Null after a success: 2xx, and for chat-b no failure message in the body. 3xx is never followed and counts as a
 * failure. 408, 429 and 5xx, and for generic destinations every status but 410, are retried.
 */
export function classifyAnswer(kind: DestinationKind, status: number, body: string): Failure | null {
  if (status >= 200 && status < 300) {
    if (kind !== 'chat-b' || !relayFailure.test(body)) return null;
    const message = `The destination answered ${status} but reports that the message was not passed on`;
    return { class: 'answered_with_error', permanent: /\b413\b/.test(body), message };
  }
  const permanent = permanentStatuses[kind].has(status);
  return { class: classOf(status), permanent, message: `The destination answered ${status}` };
}

/**
 * Without a response, every failure may be temporary, except those caused by the request itself. A forbidden address may be, too: it was
 * allowed when the destination was verified, so its name resolves elsewhere for now, or the servers on the store have different rules,
 * as during a rolling restart with new rules.
 */
export function classifySilence(error: { readonly type: FailureClass; readonly message: string }): Failure {
  const permanent = error.type === 'invalid_url' || error.type === 'mail_rejected';
  return { class: error.type, permanent, message: error.message };
}

const ofOurs: ReadonlySet<FailureClass> = new Set(['proxy_failed', 'transform_failed', 'aborted']);

/** Whether the destination caused the failure. Others, such as a proxy's, do not use up an attempt or open the breaker. */
export function isOfDestination(failure: Pick<Failure, 'class'>): boolean {
  return !ofOurs.has(failure.class);
}

function classOf(status: number): FailureClass {
  if (status < 200 || status >= 600) return 'invalid_response';
  if (status < 400) return 'redirect';
  if (status === 410) return 'gone';
  if (status === 429) return 'rate_limited';
  return status < 500 ? 'client_error' : 'server_error';
}
