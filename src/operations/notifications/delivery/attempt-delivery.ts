import { err, ok, type Result } from 'neverthrow';
import { classifyAnswer, classifySilence, type Failure } from '../../../notifications/delivery/classify-failure.js';
import type { Delivery, RecipientResult } from '../../../notifications/delivery/delivery.js';
import { extraHeaders } from '../../../notifications/delivery/delivery-options.js';
import {
  redactHeaders,
  redactSentHeaders,
  type Secrets,
  secretsSentTo,
  withoutSecrets,
  withoutUserinfo,
} from '../../../notifications/delivery/redact.js';
import {
  type AttemptReport,
  bodyOfEvent,
  parseRetryAfter,
  positionOf,
} from '../../../notifications/delivery/transition-delivery.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { renderPayload, requestHeaders } from '../../../notifications/payloads/render-payload.js';
import type { DeliveryError, DeliveryResponse } from '../../../ports/http-delivery.js';
import type { Mailer, MailMessage } from '../../../ports/mailer.js';
import type { SpanStart, TracedSpan } from '../../../ports/tracer.js';
import type { Transform } from '../../../ports/transform.js';
import type { Instant } from '../../../shared/instant.js';
import { messageOf } from '../../../shared/values.js';
import type { EngineContext } from '../../context/engine-context.js';
import { certificateOf } from '../configurations/verify-destination.js';
import type { OpenDestination } from './load-destination.js';

/**
 * Makes one attempt. It never throws, and rejects only for causes other than the destination: a message that cannot be rendered, or a
 * transport that rejects.
 */
export async function attemptDelivery(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination,
  inputs: AttemptInputs,
): Promise<AttemptReport> {
  switch (destination.type) {
    case 'http':
      return await bodyOf(context, delivery, inputs.event).match<AttemptReport | Promise<AttemptReport>>(
        (body) => attemptHttp(context, delivery, destination, body ?? ''),
        (message) => {
          const failure = classifySilence({ type: 'transform_failed', message });
          return silentAttempt(context, { destination: destination.origin }, failure);
        },
      );
    case 'email':
      return await attemptMail(context, delivery, destination, inputs);
    case 'unreadable': {
      const failure = classifySilence({ type: 'secret_unreadable', message: destination.message });
      return silentAttempt(context, { destination: '' }, failure);
    }
  }
}

/**
 * The body to send; null for e-mail, and when neither the delivery nor its event is stored any more. An error when the host's transform
 * fails.
 */
export function bodyOf(
  context: EngineContext,
  delivery: Delivery,
  event: StoredEvent | null,
): Result<string | null, string> {
  if (delivery.body !== undefined || event === null) return ok(delivery.body ?? null);
  const position = positionOf(event, delivery.configurationId);
  const body = position < 0 ? null : bodyOfEvent(event, position);
  return body === null || context.transform === undefined || event.erasedAt !== undefined
    ? ok(body)
    : transformed(context, context.transform, { event, position, body });
}

function transformed(
  context: EngineContext,
  transform: Transform,
  { event, position, body }: { readonly event: StoredEvent; readonly position: number; readonly body: string },
): Result<string, string> {
  const { id = '', trigger = event.trigger } = event.notified[position] ?? {};
  const { workspaceId } = event;
  try {
    const next: unknown = transform({ configurationId: id, workspaceId, trigger, event: event.event, body });
    // The transform is async by mistake: an unhandled rejection of its promise would end the process.
    if (next instanceof Promise) next.catch(() => undefined);
    return typeof next === 'string' ? ok(next) : err('The transform must return a string');
  } catch (error) {
    // Its message may quote contents of the notification, which must not be logged.
    const message = messageOf(error);
    context.logger.error({ event: event.id, configuration: id, error: message }, 'The transform of messages threw');
    return err('The transform failed');
  }
}

async function attemptHttp(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination & { readonly type: 'http' },
  body: string,
): Promise<AttemptReport> {
  const { notifications } = context.settings;
  const { connectTimeout, totalTimeout, maximumResponseBytes } = notifications.delivery;
  const now = context.clock.now();
  const identity = {
    token: destination.token,
    // The destination is cached while there are deliveries, so the validity of replaced tokens is checked at each attempt.
    retiredTokens: destination.retiredTokens.filter(({ until }) => until > now).map(({ token }) => token),
    messageId: delivery.eventId,
    acceptedAt: delivery.createdAt,
    now,
  };
  const { options } = destination;
  const added = extraHeaders(options);
  const span = beginAttempt(context, delivery, {
    'http.request.method': 'POST',
    'server.address': destination.origin,
  });
  const { signature } = notifications;
  const headers = {
    ...requestHeaders({ kind: delivery.kind, body }, notifications, signature, identity),
    ...traceHeader(context, span, delivery),
    ...added,
  };
  const secretNames = [...signature.headers, 'webhook-signature', ...Object.keys(added)];
  // The transport makes the header from credentials in the URL.
  const ofUrl = withoutUserinfo(destination.url) === destination.url ? {} : { authorization: '' };
  const request = {
    method: 'POST',
    headers: redactSentHeaders({ ...ofUrl, ...headers }, secretNames),
    bodyBytes: Buffer.byteLength(body),
  } as const;
  const sent = await context.delivery.send({
    method: request.method,
    url: destination.url,
    headers,
    body,
    connectTimeout: Math.min(connectTimeout, options.timeout ?? connectTimeout),
    totalTimeout: options.timeout ?? totalTimeout,
    maximumResponseBytes,
    partition: delivery.workspaceId,
    ...certificateOf(options),
  });
  endWithAnswer(span, sent);
  if (sent.isErr()) {
    const { address, timing } = sent.error;
    const failure = classifySilence(sent.error);
    const report = silentAttempt(context, { destination: destination.origin, startedAt: timing.startedAt }, failure);
    return { ...report, body, attempt: { ...report.attempt, address, total: Math.round(timing.total), request } };
  }
  const tokens = [destination.token, ...identity.retiredTokens];
  const secrets = secretsSentTo({ url: destination.url, tokens, headers: added });
  const report = reportOf(context, delivery, sent.value, { destination: destination.origin, body, secrets });
  return { ...report, attempt: { ...report.attempt, request } };
}

interface SentTo {
  readonly destination: string;
  readonly body: string;
  /** See `secretsSentTo`. */
  readonly secrets: Secrets;
}

/** The report of an HTTP response. */
function reportOf(
  { clock, settings }: EngineContext,
  { kind }: Delivery,
  answer: DeliveryResponse,
  { destination, body, secrets }: SentTo,
): AttemptReport {
  const { status, headers: answered, truncated, address, timing } = answer;
  const failure = classifyAnswer(kind, status, answer.body);
  const asks = failure !== null && (status === 429 || status === 503);
  return {
    attempt: {
      startedAt: Math.trunc(timing.startedAt),
      headersAfter: timing.headersAfter === null ? null : Math.round(timing.headersAfter),
      total: Math.round(timing.total),
      destination,
      address,
      status,
      headers: redactHeaders(answered, settings.notifications.redactedHeaders, secrets),
      body: withoutSecrets(answer.body, secrets, truncated),
      truncated,
      failure: failure === null ? null : { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: asks ? parseRetryAfter(answered['retry-after']?.[0], clock.now()) : null,
    body,
    recipients: null,
  };
}

function endWithAnswer(span: TracedSpan | undefined, sent: Result<DeliveryResponse, DeliveryError>): void {
  sent.match(
    ({ status }) => {
      const attributes = { 'http.response.status_code': status };
      span?.end(status >= 400 ? { attributes, failure: `status ${status}` } : { attributes });
    },
    ({ type }) => span?.end({ failure: type }),
  );
}

function traceHeader(
  { settings }: EngineContext,
  span: TracedSpan | undefined,
  delivery: Delivery,
): { readonly traceparent?: string } {
  const traceparent = span?.traceparent ?? delivery.traceparent;
  return traceparent === undefined || !settings.notifications.traceparent ? {} : { traceparent };
}

/** An attempt without an HTTP response. */
export function silentAttempt(
  context: EngineContext,
  { destination, startedAt = context.clock.now() }: { readonly destination: string; readonly startedAt?: Instant },
  failure: Failure | null,
  recipients: readonly RecipientResult[] | null = null,
): AttemptReport {
  return {
    attempt: {
      startedAt: Math.trunc(startedAt),
      headersAfter: null,
      total: Math.max(0, Math.round(context.clock.now() - startedAt)),
      destination,
      address: null,
      status: null,
      headers: {},
      body: '',
      truncated: false,
      failure: failure === null ? null : { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: null,
    body: null,
    recipients,
  };
}

/** Begins the span of an attempt as a child of the event's trace; undefined without a tracer. */
function beginAttempt(
  { tracer }: EngineContext,
  delivery: Delivery,
  attributes: SpanStart['attributes'],
): TracedSpan | undefined {
  return tracer?.begin({
    name: 'notification attempt',
    kind: 'client',
    parent: delivery.traceparent,
    attributes: {
      ...attributes,
      'signalbox.delivery': delivery.id,
      'signalbox.event': delivery.eventId,
      'signalbox.trigger': delivery.trigger,
      'signalbox.attempt': delivery.attempts.length + 1,
    },
  });
}

/** The context of an attempt, in addition to the delivery and its destination. */
interface AttemptInputs {
  /** Null when it is no longer stored. */
  readonly event: StoredEvent | null;
  /** Aborted when the engine stops. */
  readonly stopping: AbortSignal;
}

/**
 * Sends one message to each recipient without one. Permanently refused addresses are retried only by a redelivery;
 * when no recipient is left to retry, the delivery succeeds if at least one got the message.
 */
async function attemptMail(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination & { readonly type: 'email' },
  inputs: AttemptInputs,
): Promise<AttemptReport> {
  const span = beginAttempt(context, delivery, { 'server.address': 'mailto:' });
  const report = await mailWaiting(context, delivery, destination, inputs);
  const recipients = report.recipients ?? [];
  const attributes = {
    'signalbox.recipients': recipients.length,
    'signalbox.recipients.accepted': recipients.filter(({ outcome }) => outcome === 'accepted').length,
  };
  span?.end(report.failure === null ? { attributes } : { attributes, failure: report.failure.class });
  return report;
}

async function mailWaiting(
  ...[context, delivery, destination, { event, stopping }]: Parameters<typeof attemptMail>
): Promise<AttemptReport> {
  const startedAt = context.clock.now();
  const { recipients, earlier } = addressees(delivery, destination.recipients);
  const failed = (type: 'mail_rejected' | 'mail_unavailable', message: string): AttemptReport =>
    silentAttempt(context, { destination: 'mailto:', startedAt }, classifySilence({ type, message }), earlier);
  if (context.mailer === undefined) return failed('mail_unavailable', 'No mail transport is configured');
  if (event === null) return failed('mail_rejected', 'The event of this delivery is no longer stored');

  const mails = mailsTo(context, delivery, { ...destination, recipients }, event);
  const { results: now, isBrokenOff } = await sendEach(context, mails, stopping);
  const results = [...earlier, ...now.map((result) => withoutLoss(result, delivery))];
  const failure = isBrokenOff
    ? classifySilence({ type: 'aborted', message: notSentAtStop })
    : failureOfMail([...earlier, ...now]);
  const report = silentAttempt(context, { destination: 'mailto:', startedAt }, failure, results);
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  if (failure !== null || refused.length === 0) return report;
  const body = `Some recipients were refused: ${refused.map(({ message }) => message).join('; ')}`;
  return { ...report, attempt: { ...report.attempt, body } };
}

/**
 * The recipients of this attempt, and the earlier results of the others. A redelivery retries refused recipients; when all
 * recipients have got the mail, it goes to all of them again.
 */
function addressees<R extends { readonly userId: string }>(
  { state, recipients: results = [] }: Delivery,
  all: readonly R[],
): { readonly recipients: readonly R[]; readonly earlier: readonly RecipientResult[] } {
  const isAsked = state.type === 'manual';
  const earlier = results.filter(({ outcome }) => outcome === 'accepted' || (outcome === 'refused' && !isAsked));
  const done = new Set(earlier.map(({ userId }) => userId));
  const recipients = all.filter(({ userId }) => !done.has(userId));
  return isAsked && recipients.length === 0 ? { recipients: all, earlier: [] } : { recipients, earlier };
}

/** An earlier success is kept, even if the mail could not be sent once more. */
function withoutLoss(result: RecipientResult, { recipients = [] }: Delivery): RecipientResult {
  if (result.outcome === 'accepted') return result;
  const had = recipients.find(({ userId, outcome }) => userId === result.userId && outcome === 'accepted');
  return had ?? result;
}

interface AddressedMail {
  readonly mail: MailMessage;
  readonly userId: string;
}

function mailsTo(
  context: EngineContext,
  delivery: Delivery,
  { configuration, workspace, recipients }: OpenDestination & { readonly type: 'email' },
  event: StoredEvent,
): AddressedMail[] {
  const { notifications } = context.settings;
  const now = context.clock.now();
  const rendered = renderPayload(
    configuration,
    { type: 'event', event: event.event, workspace },
    {
      endpoint: notifications,
      signature: notifications.signature,
      identity: { token: null, retiredTokens: [], messageId: delivery.id, acceptedAt: delivery.createdAt, now },
      recipients,
    },
  );
  const mails = rendered.type === 'email' ? rendered.mails : [];
  return mails.map((mail, index) => ({ mail, userId: recipients[index]?.userId ?? '' }));
}

/** `isBrokenOff`: whether the engine stopped before all were sent. */
async function sendEach(
  { clock, mailer, settings }: EngineContext,
  mails: readonly AddressedMail[],
  stopping: AbortSignal,
): Promise<{ readonly results: readonly RecipientResult[]; readonly isBrokenOff: boolean }> {
  const results: RecipientResult[] = [];
  let isBrokenOff = false;
  const end = clock.monotonic() + settings.notifications.delivery.totalTimeout;
  for (const { mail, userId } of mails) {
    isBrokenOff ||= stopping.aborted;
    const unsent = isBrokenOff ? notSentAtStop : clock.monotonic() > end ? silence(results) : null;
    const result = unsent === null ? await sendOne(mailer, mail) : ({ outcome: 'waiting', message: unsent } as const);
    results.push({ ...result, userId, at: clock.now() });
  }
  return { results, isBrokenOff };
}

async function sendOne(
  mailer: Mailer | undefined,
  mail: MailMessage,
): Promise<Pick<RecipientResult, 'outcome' | 'message'>> {
  const sent = await mailer?.send(mail);
  const error = sent?.isErr() ? sent.error : null;
  const outcome = error === null ? 'accepted' : error.type === 'mail_rejected' ? 'refused' : 'waiting';
  return { outcome, message: error?.message ?? null };
}

/** A stop does not wait for the remaining mails, so that the accepted ones can be recorded and are sent only once. */
const notSentAtStop = 'The engine stopped before this mail was sent';

/** The number of consecutive mails without a response after which the attempt ends, once its time is over. */
const mostSilent = 3;

/**
 * The timeout of the last few mails; null when the server has responded to one. Each may have waited for its full timeout,
 * and there can be a thousand recipients; a server that defers recipients at once is tried for all of them.
 */
function silence(results: readonly RecipientResult[]): string | null {
  const last = results.slice(-mostSilent);
  const silent = last.length === mostSilent && last.every(({ outcome }) => outcome === 'waiting');
  return silent ? (last.at(-1)?.message ?? '') : null;
}

function failureOfMail(results: readonly RecipientResult[]): Failure | null {
  const waiting = results.find(({ outcome }) => outcome === 'waiting');
  if (waiting !== undefined) return classifySilence({ type: 'mail_unavailable', message: waiting.message ?? '' });
  if (results.length === 0 || results.some(({ outcome }) => outcome === 'accepted')) return null;
  return classifySilence({ type: 'mail_rejected', message: results.at(-1)?.message ?? '' });
}
