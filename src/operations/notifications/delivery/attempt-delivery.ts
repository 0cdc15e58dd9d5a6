import { err, ok, type Result } from 'neverthrow';
import { classifyAnswer, classifySilence, type Failure } from '../../../notifications/delivery/classify-failure.js';
import type { AttemptReport } from '../../../notifications/delivery/conclude-attempt.js';
import type { Delivery, RecipientResult } from '../../../notifications/delivery/delivery.js';
import { bodyOfEvent, positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { redactHeaders } from '../../../notifications/delivery/redact.js';
import { parseRetryAfter } from '../../../notifications/delivery/retry-schedule.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { renderPayload, requestHeaders } from '../../../notifications/payloads/render-payload.js';
import type { DeliveryError, DeliveryResponse } from '../../../ports/http-delivery.js';
import type { MailMessage } from '../../../ports/mailer.js';
import type { TracedSpan } from '../../../ports/tracer.js';
import type { Transform } from '../../../ports/transform.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { certificateOf, extraHeaders } from '../configurations/verify-destination.js';
import type { OpenDestination } from './load-destination.js';

/** Makes one attempt. Never rejects because of a destination. The event is null when it is no longer stored. */
export function attemptDelivery(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination,
  event: StoredEvent | null,
): Promise<AttemptReport> {
  switch (destination.type) {
    case 'http':
      return bodyOf(context, delivery, event).match(
        (body) => attemptHttp(context, delivery, destination, body ?? ''),
        (message) => {
          const failure = classifySilence({ type: 'transform_failed', message });
          return Promise.resolve(silent(context, { destination: destination.origin }, failure));
        },
      );
    case 'email':
      return attemptMail(context, delivery, destination, event);
    case 'unreadable': {
      const failure = classifySilence({ type: 'secret_unreadable', message: destination.message });
      return Promise.resolve(silent(context, { destination: '' }, failure));
    }
  }
}

/**
 * What is sent; null for e-mail, and when neither the delivery nor its event is stored any more. An error when the host's transform
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
    return typeof next === 'string' ? ok(next) : err('The transform of the service gave no text');
  } catch (error) {
    // What it says may hold contents, which are none of the log's business.
    const message = error instanceof Error ? error.message : 'unknown';
    context.logger.error({ event: event.id, configuration: id, error: message }, 'The transform of messages threw');
    return err('The transform of the service failed');
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
  const identity = {
    token: destination.token,
    retiredTokens: destination.retiredTokens,
    messageId: delivery.eventId,
    acceptedAt: delivery.createdAt,
    now: context.clock.now(),
  };
  const { options } = destination;
  const span = beginAttempt(context, delivery, destination.origin);
  const headers = requestHeaders({ kind: delivery.kind, body }, notifications, notifications.signature, identity);
  const sent = await context.delivery.send({
    method: 'POST',
    url: destination.url,
    headers: { ...headers, ...traceHeader(context, span, delivery), ...extraHeaders(options) },
    body,
    connectTimeout: Math.min(connectTimeout, options.timeout ?? connectTimeout),
    totalTimeout: options.timeout ?? totalTimeout,
    maximumResponseBytes,
    partition: delivery.workspaceId,
    ...certificateOf(options),
  });
  endAttempt(span, sent);
  if (sent.isErr()) {
    const { address, timing } = sent.error;
    const failure = classifySilence(sent.error);
    const report = silent(context, { destination: destination.origin, startedAt: timing.startedAt }, failure);
    return { ...report, body, attempt: { ...report.attempt, address, total: Math.round(timing.total) } };
  }
  const { status, headers: answered, truncated, address, timing } = sent.value;
  const failure = classifyAnswer(delivery.kind, status, sent.value.body);
  const asks = failure !== null && (status === 429 || status === 503);
  return {
    attempt: {
      startedAt: Math.trunc(timing.startedAt),
      headersAfter: timing.headersAfter === null ? null : Math.round(timing.headersAfter),
      total: Math.round(timing.total),
      destination: destination.origin,
      address,
      status,
      headers: redactHeaders(answered, context.settings.notifications.redactedHeaders),
      body: sent.value.body,
      truncated,
      failure: failure === null ? null : { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: asks ? parseRetryAfter(answered['retry-after']?.[0], context.clock.now()) : null,
    body,
    recipients: null,
  };
}

function beginAttempt({ tracer }: EngineContext, delivery: Delivery, origin: string): TracedSpan | undefined {
  return tracer?.begin({
    name: 'notification attempt',
    kind: 'client',
    parent: delivery.traceparent,
    attributes: {
      'http.request.method': 'POST',
      'server.address': origin,
      'signalbox.delivery': delivery.id,
      'signalbox.event': delivery.eventId,
      'signalbox.trigger': delivery.trigger,
      'signalbox.attempt': delivery.attempts.length + 1,
    },
  });
}

function endAttempt(span: TracedSpan | undefined, sent: Result<DeliveryResponse, DeliveryError>): void {
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

/**
 * One message per recipient that has not had one. Addresses that are refused for good are not tried again; when nobody is
 * left to try again for, it has delivered if anybody got it.
 */
async function attemptMail(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination & { readonly type: 'email' },
  event: StoredEvent | null,
): Promise<AttemptReport> {
  const startedAt = context.clock.now();
  const earlier = (delivery.recipients ?? []).filter(({ outcome }) => outcome !== 'waiting');
  const done = new Set(earlier.map(({ userId }) => userId));
  const recipients = destination.recipients.filter((recipient) => !done.has(recipient.userId));
  const failed = (type: 'mail_rejected' | 'mail_unavailable', message: string): AttemptReport =>
    silent(context, { destination: 'mailto:', startedAt }, classifySilence({ type, message }), earlier);
  if (context.mailer === undefined) return failed('mail_unavailable', 'No mail transport is configured');
  if (event === null) return failed('mail_rejected', 'The event of this delivery is no longer stored');

  const results = [...earlier, ...(await mailAll(context, delivery, { ...destination, recipients }, event))];
  const failure = failureOfMail(results);
  const report = silent(context, { destination: 'mailto:', startedAt }, failure, results);
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  if (failure !== null || refused.length === 0) return report;
  const body = `Some recipients were refused: ${refused.map(({ message }) => message).join('; ')}`;
  return { ...report, attempt: { ...report.attempt, body } };
}

async function mailAll(
  context: EngineContext,
  delivery: Delivery,
  { configuration, workspace, recipients }: OpenDestination & { readonly type: 'email' },
  event: StoredEvent,
): Promise<RecipientResult[]> {
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
  return sendEach(
    context,
    mails.map((mail, index) => ({ mail, userId: recipients[index]?.userId ?? '' })),
  );
}

async function sendEach(
  { clock, mailer, settings }: EngineContext,
  mails: readonly { readonly mail: MailMessage; readonly userId: string }[],
): Promise<RecipientResult[]> {
  const results: RecipientResult[] = [];
  const end = clock.monotonic() + settings.notifications.delivery.totalTimeout;
  for (const { mail, userId } of mails) {
    const last = results.at(-1);
    if (last !== undefined && clock.monotonic() > end && isSilent(results)) {
      results.push({ ...last, userId, at: clock.now() });
      continue;
    }
    const sent = await mailer?.send(mail);
    const error = sent?.isErr() ? sent.error : null;
    const outcome = error === null ? 'accepted' : error.type === 'mail_rejected' ? 'refused' : 'waiting';
    results.push({ userId, outcome, message: error?.message ?? null, at: clock.now() });
  }
  return results;
}

/** Mails in a row that a server may leave waiting before the attempt ends without the others, once its time is over. */
const mostSilent = 3;

/**
 * Whether the server has not taken the last few mails. Each of them may have waited until its own time was over, and there can be a
 * thousand recipients; a server that defers recipients at once is asked for all of them.
 */
function isSilent(results: readonly RecipientResult[]): boolean {
  return results.length >= mostSilent && results.slice(-mostSilent).every(({ outcome }) => outcome === 'waiting');
}

function failureOfMail(results: readonly RecipientResult[]): Failure | null {
  const waiting = results.find(({ outcome }) => outcome === 'waiting');
  if (waiting !== undefined) return classifySilence({ type: 'mail_unavailable', message: waiting.message ?? '' });
  if (results.length === 0 || results.some(({ outcome }) => outcome === 'accepted')) return null;
  return classifySilence({ type: 'mail_rejected', message: results.at(-1)?.message ?? '' });
}

/** An attempt without an HTTP answer. */
function silent(
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
