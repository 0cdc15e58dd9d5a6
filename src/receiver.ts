import { err, ok, type Result } from 'neverthrow';
import type { NotificationPayload } from './notifications/payloads/notification-payload.js';
import { isBlank, matchesSignature, matchesStandardSignature, tokenProblem } from './notifications/signature.js';

export type { AssessmentResult } from './notifications/events/event.js';
export type { AssessmentPayload } from './notifications/payloads/assessment.js';
export type { AutoDestroyPayload } from './notifications/payloads/auto-destroy.js';
export { isOwnEventPayload, type OwnEventPayload } from './notifications/payloads/custom.js';
export {
  isAssessmentPayload,
  isAutoDestroyPayload,
  isRunPayload,
  isVerification,
  type NotificationPayload,
} from './notifications/payloads/notification-payload.js';
export type { RunNotification, RunPayload } from './notifications/payloads/run.js';
export { newSigningKeys } from './notifications/signature.js';

/** Headers as `node:http`, Express and Fastify give them, or as the web standard does. Names are compared without case. */
export type ReceivedHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

/** A message that arrived, and the secret that it must be signed with. */
export interface SignatureCheck {
  /** The body exactly as it arrived: a body that was parsed and serialised again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: ReceivedHeaders;
  /**
   * The secret of the configuration; while it is replaced, the new one and the old one. Empty entries of a list are ignored. For
   * `verifyStandardSignature` also the public key (`whpk_…`) of a configuration that signs with an Ed25519 key.
   */
  readonly token: string | readonly string[];
  /** The name of the header with the signature, `x-svc-notification-signature` when absent. */
  readonly header?: string;
}

/**
 * Why a message cannot be trusted. It should be answered with 4xx and not be processed. Three types are mistakes of the receiver:
 * `token_missing` and `token_malformed`, which are better found at its start, and `body_not_raw`, the body was parsed or not read.
 */
export interface SignatureFault {
  readonly type:
    | 'signature_missing'
    | 'signature_wrong'
    | 'timestamp_out_of_tolerance'
    | 'payload_malformed'
    | 'token_missing'
    | 'token_malformed'
    | 'body_not_raw';
  readonly message: string;
}

/** Checks the HMAC-SHA512 signature and gives the payload, typed. Own events have separate bodies: see `verifySignedJson`. */
export function verifySignature(check: SignatureCheck): Result<NotificationPayload, SignatureFault> {
  return checkSignature(check).andThen(() => payloadFrom(check.body));
}

/**
 * Checks the HMAC-SHA512 signature and gives the body as parsed JSON, whatever it is: for configurations that subscribe to own event types
 * or to alerts (`isOwnEventPayload`), which get verification requests and perhaps triggers as well.
 */
export function verifySignedJson(check: SignatureCheck): Result<unknown, SignatureFault> {
  return checkSignature(check).andThen(() => jsonFrom(check.body));
}

function checkSignature(check: SignatureCheck): Result<void, SignatureFault> {
  return usable(check).andThen(({ body, tokens }) => {
    const header = check.header ?? 'x-svc-notification-signature';
    const signature = headerOf(check.headers, header);
    if (signature === undefined || signature === '') return missing(header);
    const matches = tokens.map((token) => matchesSignature(token, body, signature));
    return matches.includes(true) ? ok(undefined) : wrong;
  });
}

/** A message with the headers of Standard Webhooks, and the secret that it must be signed with. */
export interface StandardSignatureCheck extends Omit<SignatureCheck, 'header'> {
  /** How far the time of sending may be from `now`, in seconds; 300 when absent. */
  readonly tolerance?: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Checks the Standard Webhooks headers, which also bind the time of sending, and gives id and payload. For own events see below. */
export function verifyStandardSignature(
  check: StandardSignatureCheck,
): Result<{ readonly id: string; readonly payload: NotificationPayload }, SignatureFault> {
  return checkStandardSignature(check).andThen((id) => payloadFrom(check.body).map((payload) => ({ id, payload })));
}

/** Checks the Standard Webhooks headers, and gives the id and the body as parsed JSON, as `verifySignedJson` does. */
export function verifyStandardSignedJson(
  check: StandardSignatureCheck,
): Result<{ readonly id: string; readonly body: unknown }, SignatureFault> {
  return checkStandardSignature(check).andThen((id) => jsonFrom(check.body).map((body) => ({ id, body })));
}

/** Gives the id of the message. */
function checkStandardSignature(check: StandardSignatureCheck): Result<string, SignatureFault> {
  return usable(check).andThen(({ body, tokens }): Result<string, SignatureFault> => {
    const id = headerOf(check.headers, 'webhook-id');
    const timestamp = headerOf(check.headers, 'webhook-timestamp');
    const signatures = headerOf(check.headers, 'webhook-signature');
    if (id === undefined || timestamp === undefined || signatures === undefined) {
      return missing('webhook-id, webhook-timestamp and webhook-signature');
    }
    const distance = Math.abs(check.now / 1000 - Number(timestamp));
    if (!(distance <= (check.tolerance ?? defaultTolerance))) {
      return err({
        type: 'timestamp_out_of_tolerance',
        message: 'The request was sent too long ago, or its time is not a number',
      });
    }
    if (matchesStandardSignature(tokens, { id, timestamp, body }, signatures)) return ok(id);
    const problem = tokens.map(tokenProblem).find((each) => each !== null);
    return problem === undefined ? wrong : err({ type: 'token_malformed', message: `The token ${problem}` });
  });
}

/** Which message a request is: the same over all its repetitions. */
export interface MessageIdentity {
  readonly id: string;
  /** When the event was accepted, in milliseconds since 1970; null when the request does not report. */
  readonly acceptedAt: number | null;
}

/**
 * The identity of a message, from its headers. The signature in `x-svc-notification-signature` covers the body alone; if a
 * party on the way could change a header, turn `standardWebhooks` on and take the id of `verifyStandardSignature`.
 */
export function messageIdentity(
  headers: ReceivedHeaders,
  names: { readonly id?: string; readonly timestamp?: string } = {},
): Result<MessageIdentity, SignatureFault> {
  const name = names.id ?? 'x-svc-notification-id';
  const id = headerOf(headers, name);
  if (id === undefined || id === '') return missing(name);
  const acceptedAt = Date.parse(headerOf(headers, names.timestamp ?? 'x-svc-notification-timestamp') ?? '');
  return ok({ id, acceptedAt: Number.isNaN(acceptedAt) ? null : acceptedAt });
}

/**
 * Remembers which messages a receiver has worked on. `begin` must be atomic over everything that shares the store: for a
 * table of a database it is an insert that fails when the row is there.
 */
export interface SeenMessages {
  /**
   * `new`: the caller works on it from now on, until `busyUntil` at most; then another process may begin. `busy`: another
   * process works on it. `done`: it was finished.
   */
  begin(id: string, now: number, busyUntil: number): SeenState | Promise<SeenState>;
  /** The work is done; remember it until `keepUntil`. */
  finish(id: string, keepUntil: number): void | Promise<void>;
  /** The work failed; the next repetition is new. */
  release(id: string): void | Promise<void>;
}

/** `busy`: somebody works on the message. `done`: the work has succeeded. */
export type SeenState = 'new' | 'busy' | 'done';

/** Which message is processed, and how long it is cached. */
export interface OnceOptions {
  readonly store: SeenMessages;
  /** From `messageIdentity`, or of `verifyStandardSignature`. */
  readonly id: string;
  /** Milliseconds since 1970; the clock of the process when absent. */
  readonly now?: () => number;
  /** How long the work may take before a repetition may begin it again, in milliseconds; a minute when absent. */
  readonly busyFor?: number;
  /** How long a finished message is cached, in milliseconds; two days when absent, twice the time of all repetitions. */
  readonly keepFor?: number;
}

/** The outcome of a request: the work was done now, was done before, or is being done by another process. */
export type OnceOutcome<T> =
  | { readonly type: 'done'; readonly value: T }
  /** Answer with 2xx: there is nothing to do. */
  | { readonly type: 'repeated' }
  /** Answer with 503 or 409: the process that works on it may fail, and then the next repetition is needed. */
  | { readonly type: 'busy' };

/**
 * Does the work for a message unless that was done before. Deliveries come at least once: after a timeout or a crash on either
 * side the same message comes again, with the same id. When the work throws, the message is forgotten, so that its
 * repetition is worked on, and the promise rejects.
 */
export async function once<T>(options: OnceOptions, work: () => T | Promise<T>): Promise<OnceOutcome<T>> {
  const { store, id, now = Date.now, busyFor = 60_000, keepFor = 172_800_000 } = options;
  const state = await store.begin(id, now(), now() + busyFor);
  if (state !== 'new') return { type: state === 'done' ? 'repeated' : 'busy' };
  let value: T;
  try {
    value = await work();
  } catch (error) {
    await store.release(id);
    throw error;
  }
  await store.finish(id, now() + keepFor);
  return { type: 'done', value };
}

/** Messages seen by this process, for one that may forget them when it ends. The oldest go when there are too many. */
export function seenInMemory({ most = 100_000 }: { readonly most?: number } = {}): SeenMessages {
  const seen = new Map<string, { readonly until: number; readonly done: boolean }>();
  const note = (id: string, until: number, done: boolean): void => {
    seen.delete(id);
    seen.set(id, { until, done });
    for (const oldest of seen.keys()) {
      if (seen.size <= most) break;
      seen.delete(oldest);
    }
  };
  return {
    begin: (id, now, busyUntil) => {
      const known = seen.get(id);
      if (known !== undefined && known.until > now) return known.done ? 'done' : 'busy';
      note(id, busyUntil, false);
      return 'new';
    },
    finish: (id, keepUntil) => note(id, keepUntil, true),
    release: (id) => void seen.delete(id),
  };
}

const defaultTolerance = 300;

const wrong = err<never, SignatureFault>({
  type: 'signature_wrong',
  message: 'The signature does not match the body: compare the token, and pass the body as it arrived',
});

function missing(header: string): Result<never, SignatureFault> {
  return err({ type: 'signature_missing', message: `The request lacks ${header}` });
}

const malformed: Result<never, SignatureFault> = err({
  type: 'payload_malformed',
  message: 'The body is signed, but not a notification',
});

function payloadFrom(body: string | Uint8Array): Result<NotificationPayload, SignatureFault> {
  return jsonFrom(body).andThen((parsed) => {
    const version =
      typeof parsed === 'object' && parsed !== null && 'payload_version' in parsed ? parsed.payload_version : undefined;
    return version === 1 || version === 2 || version === '2' ? ok(parsed as NotificationPayload) : malformed;
  });
}

function jsonFrom(body: string | Uint8Array): Result<unknown, SignatureFault> {
  try {
    return ok(JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)));
  } catch {
    return malformed;
  }
}

/** The body and the tokens that a signature can be checked with, whatever a receiver in JavaScript passes. */
function usable(check: {
  readonly body: unknown;
  readonly token: unknown;
}): Result<{ readonly body: string | Uint8Array; readonly tokens: readonly string[] }, SignatureFault> {
  const given: readonly unknown[] = Array.isArray(check.token) ? check.token : [check.token];
  const tokens = given.filter((token) => typeof token === 'string').filter((token) => !isBlank(token));
  if (tokens.length === 0) return tokenMissing;
  const { body } = check;
  if (typeof body === 'string' || body instanceof Uint8Array) return ok({ body, tokens });
  return body instanceof ArrayBuffer ? ok({ body: new Uint8Array(body), tokens }) : bodyNotRaw(body);
}

const tokenMissing = err<never, SignatureFault>({
  type: 'token_missing',
  message:
    'The receiver has no token to check signatures with: set it to the token of the configuration. An empty token verifies nothing',
});

function bodyNotRaw(body: unknown): Result<never, SignatureFault> {
  const given = body === undefined || body === null ? 'there is none' : `this is a parsed ${typeof body}`;
  return err({
    type: 'body_not_raw',
    message: `The signature covers the raw body, a string or bytes, but ${given}: read the body before anything parses it`,
  });
}

/** Names of headers have no case (RFC 9110, 5.1). Of a name written twice, the lower-case one counts, then the first. */
function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  const value = valueAt(headers, name);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}

function valueAt(headers: unknown, name: string): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const wanted = name.toLowerCase();
  if (isLookup(headers) && !(headers instanceof Map)) return headers.get(wanted) ?? headers.get(name);
  const entries: readonly (readonly [unknown, unknown])[] =
    headers instanceof Map ? [...headers] : Object.entries(headers);
  const named = entries.filter(
    ([each, value]) => typeof each === 'string' && each.toLowerCase() === wanted && value !== undefined,
  );
  return (named.find(([each]) => each === wanted) ?? named[0])?.[1];
}

function isLookup(headers: object): headers is { get(name: string): unknown } {
  return 'get' in headers && typeof headers.get === 'function';
}
