import { err, ok, type Result } from 'neverthrow';
import type { NotificationPayload } from './notifications/payloads/notification-payload.js';
import { isBlank, matchesSignature, matchesStandardSignature, tokenProblem } from './notifications/signature.js';

export type { AssessmentResult } from './notifications/events/event.js';
export {
  type AssessmentPayload,
  type AutoDestroyPayload,
  isAssessmentPayload,
  isAutoDestroyPayload,
  isOwnEventPayload,
  isRunPayload,
  isVerification,
  type NotificationPayload,
  type OwnEventPayload,
  type RunNotification,
  type RunPayload,
} from './notifications/payloads/notification-payload.js';
export { newSigningKeys } from './notifications/signature.js';

/** Headers in the form of `node:http`, Express and Fastify, or of the web standard. Names are compared without case. */
export type ReceivedHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

/** A received message, and the secret that must have signed it. */
export interface SignatureCheck {
  /** The raw body: a body that was parsed and serialised again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: ReceivedHeaders;
  /**
   * The configuration's secret; during a rotation the new and the old one. Empty entries of a list are ignored.
   * `verifyStandardSignature` also accepts the public key (`whpk_…`) of a configuration that signs with an Ed25519 key.
   */
  readonly token: string | readonly string[];
  /** The header with the signature; default: `x-svc-notification-signature`. */
  readonly header?: string;
}

/**
 * The reason why verification failed. Answer with 4xx and do not process the message. Three types are mistakes of the receiver:
 * `token_missing` and `token_malformed`, best checked when it starts, and `body_not_raw`: the body was parsed or not read.
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

/** Checks the HMAC-SHA512 signature and returns the typed payload. For other bodies, such as those of own event types, see `verifySignedJson`. */
export function verifySignature(check: SignatureCheck): Result<NotificationPayload, SignatureFault> {
  return checkSignature(check).andThen(() => payloadFrom(check.body));
}

/**
 * Checks the HMAC-SHA512 signature and returns the body as parsed JSON of any shape: for configurations that subscribe to own event types
 * or alerts (`isOwnEventPayload`); these also get verification requests and perhaps triggers.
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

/** A message with Standard Webhooks headers, and the secret that must have signed it. */
export interface StandardSignatureCheck extends Omit<SignatureCheck, 'header'> {
  /** The largest difference between the time of sending and `now`, in seconds; default: 300. */
  readonly tolerance?: number;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
}

/** Checks the Standard Webhooks headers, whose signature covers the time of sending, and returns ID and payload. For own events see `verifyStandardSignedJson`. */
export function verifyStandardSignature(
  check: StandardSignatureCheck,
): Result<{ readonly id: string; readonly payload: NotificationPayload }, SignatureFault> {
  return checkStandardSignature(check).andThen((id) => payloadFrom(check.body).map((payload) => ({ id, payload })));
}

/** Checks the Standard Webhooks headers, and returns the ID and the body as parsed JSON, as `verifySignedJson` does. */
export function verifyStandardSignedJson(
  check: StandardSignatureCheck,
): Result<{ readonly id: string; readonly body: unknown }, SignatureFault> {
  return checkStandardSignature(check).andThen((id) => jsonFrom(check.body).map((body) => ({ id, body })));
}

/** Returns the ID of the message. */
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
        message: 'The request was sent too long ago, or its timestamp is invalid',
      });
    }
    if (matchesStandardSignature(tokens, { id, timestamp, body }, signatures)) return ok(id);
    const problem = tokens.map(tokenProblem).find((each) => each !== null);
    return problem === undefined ? wrong : err({ type: 'token_malformed', message: `The token ${problem}` });
  });
}

/** Identifies a message: the same for every retry. */
export interface MessageIdentity {
  readonly id: string;
  /** When the event was accepted, in milliseconds since 1970; null if the headers do not contain it. */
  readonly acceptedAt: number | null;
}

/**
 * The identity of a message, from its headers. The signature in `x-svc-notification-signature` covers the body alone; if
 * an intermediary could change a header, enable `standardWebhooks` and use the ID of `verifyStandardSignature`.
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
 * Stores which messages a receiver has processed. `begin` must be atomic across all processes that share the store: in a database
 * table, an insert that fails if the row exists.
 */
export interface SeenMessages {
  /**
   * `new`: the caller processes it now, until `busyUntil` at most; then another process may begin. `busy`: another
   * process is processing it. `done`: it was finished.
   */
  begin(id: string, now: number, busyUntil: number): SeenState | Promise<SeenState>;
  /** The message was processed; keep this until `keepUntil`. */
  finish(id: string, keepUntil: number): void | Promise<void>;
  /** Processing failed; the next retry is `new`. */
  release(id: string): void | Promise<void>;
}

/** `busy`: the message is being processed. `done`: it was processed successfully. */
export type SeenState = 'new' | 'busy' | 'done';

/** The message to process, and how long its state is kept. */
export interface OnceOptions {
  readonly store: SeenMessages;
  /** From `messageIdentity` or `verifyStandardSignature`. */
  readonly id: string;
  /** Returns milliseconds since 1970; default: the clock of the process. */
  readonly now?: () => number;
  /** How long processing may take before a retry may begin it again, in milliseconds; default: one minute. */
  readonly busyFor?: number;
  /** How long a finished message is kept, in milliseconds; default: two days, twice the span of all retries. */
  readonly keepFor?: number;
}

/** The outcome of a request: processed now, processed before, or being processed elsewhere. */
export type OnceOutcome<T> =
  | { readonly type: 'done'; readonly value: T }
  /** Answer with 2xx: there is nothing to do. */
  | { readonly type: 'repeated' }
  /** Answer with 503 or 409: if the process that works on it fails, the next retry is needed. */
  | { readonly type: 'busy' };

/**
 * Processes a message once. Delivery is at-least-once: after a timeout or a crash on either
 * side the same message arrives again, with the same ID. When the work throws, the promise rejects and the message is released,
 * so that its retry is processed.
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

/** Keeps messages in memory, for receivers that may forget them on exit. Beyond `most`, the oldest are dropped. */
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
  return err({ type: 'signature_missing', message: `The request does not have the header ${header}` });
}

const malformed: Result<never, SignatureFault> = err({
  type: 'payload_malformed',
  message: 'The signature is valid, but the body is not a notification',
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

/** Normalises body and tokens, whatever a receiver in JavaScript passes. */
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
    'The receiver has no token to verify signatures: set it to the token of the configuration. An empty token verifies nothing',
});

function bodyNotRaw(body: unknown): Result<never, SignatureFault> {
  const given = body === undefined || body === null ? 'there is none' : `this is a parsed ${typeof body}`;
  return err({
    type: 'body_not_raw',
    message: `The signature covers the raw body, a string or bytes, but ${given}: read the body before anything parses it`,
  });
}

/** Header names are case-insensitive (RFC 9110, 5.1). Of duplicates the lower-case one counts, then the first. */
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
