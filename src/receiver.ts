import { err, ok, type Result } from 'neverthrow';
import type { NotificationPayload } from './notifications/payloads/notification-payload.js';
import { matchesSignature, matchesStandardSignature } from './notifications/signature.js';

export type { AssessmentResult } from './notifications/event.js';
export type { AssessmentPayload } from './notifications/payloads/assessment.js';
export type { AutoDestroyPayload } from './notifications/payloads/auto-destroy.js';
export {
  isAssessmentPayload,
  isAutoDestroyPayload,
  isRunPayload,
  isVerification,
  type NotificationPayload,
} from './notifications/payloads/notification-payload.js';
export type { RunNotification, RunPayload } from './notifications/payloads/run.js';

/** Headers as `node:http`, Express and Fastify give them, or as the web standard does. */
export type ReceivedHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

export interface SignatureCheck {
  /** The body exactly as it arrived: a body that was parsed and printed again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: ReceivedHeaders;
  /** The secret of the configuration; while it is replaced, the new one and the old one. */
  readonly token: string | readonly string[];
  /** The header to look at, `x-svc-notification-signature` when absent. */
  readonly header?: string;
}

export interface SignatureFault {
  readonly type: 'signature_missing' | 'signature_wrong' | 'timestamp_out_of_tolerance' | 'payload_malformed';
  readonly message: string;
}

/** Checks the HMAC-SHA512 signature and gives the payload, typed. */
export function verifySignature(check: SignatureCheck): Result<NotificationPayload, SignatureFault> {
  const header = check.header ?? 'x-svc-notification-signature';
  const signature = headerOf(check.headers, header);
  if (signature === undefined || signature === '') return missing(header);
  const matches = tokensOf(check.token).map((token) => matchesSignature(token, check.body, signature));
  return matches.includes(true) ? payloadFrom(check.body) : wrong;
}

export interface StandardSignatureCheck extends Omit<SignatureCheck, 'header'> {
  /** How far the time of sending may be from `now`, in seconds; 300 when absent. */
  readonly tolerance?: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Checks the Standard Webhooks headers, which also bind the time of sending, and gives id and payload. */
export function verifyStandardSignature(
  check: StandardSignatureCheck,
): Result<{ readonly id: string; readonly payload: NotificationPayload }, SignatureFault> {
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
  if (!matchesStandardSignature(tokensOf(check.token), id, timestamp, check.body, signatures)) return wrong;
  return payloadFrom(check.body).map((payload) => ({ id, payload }));
}

const defaultTolerance = 300;

const wrong = err<never, SignatureFault>({
  type: 'signature_wrong',
  message: 'The signature does not match the body: compare the token, and pass the body as it arrived',
});

function missing(header: string): Result<never, SignatureFault> {
  return err({ type: 'signature_missing', message: `The request lacks ${header}` });
}

function payloadFrom(body: string | Uint8Array): Result<NotificationPayload, SignatureFault> {
  const malformed = err<never, SignatureFault>({
    type: 'payload_malformed',
    message: 'The body is signed, but not a notification',
  });
  try {
    const parsed: unknown = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
    const version =
      typeof parsed === 'object' && parsed !== null && 'payload_version' in parsed ? parsed.payload_version : undefined;
    return version === 1 || version === 2 || version === '2' ? ok(parsed as NotificationPayload) : malformed;
  } catch {
    return malformed;
  }
}

function tokensOf(token: string | readonly string[]): readonly string[] {
  return typeof token === 'string' ? [token] : token;
}

function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  if (typeof headers['get'] === 'function')
    return (headers as { get(name: string): string | null }).get(name) ?? undefined;
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name.toLowerCase()];
  return typeof value === 'string' ? value : value?.[0];
}
