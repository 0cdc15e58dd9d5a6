import { err, ok, type Result } from 'neverthrow';
import { classifyAnswer, classifySilence } from '../../../notifications/delivery/classify-failure.js';
import type { AttemptReport } from '../../../notifications/delivery/conclude-attempt.js';
import type { Delivery } from '../../../notifications/delivery/delivery.js';
import { extraHeaders } from '../../../notifications/delivery/delivery-options.js';
import { bodyOfEvent, positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { redactHeaders, type Secrets, secretsSentTo, withoutSecrets } from '../../../notifications/delivery/redact.js';
import { parseRetryAfter } from '../../../notifications/delivery/retry-schedule.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { requestHeaders } from '../../../notifications/payloads/render-payload.js';
import type { DeliveryError, DeliveryResponse } from '../../../ports/http-delivery.js';
import type { TracedSpan } from '../../../ports/tracer.js';
import type { Transform } from '../../../ports/transform.js';
import { messageOf } from '../../../shared/values.js';
import type { EngineContext } from '../../context/engine-context.js';
import { certificateOf } from '../configurations/verify-destination.js';
import { type AttemptInputs, attemptMail } from './attempt-mail.js';
import type { OpenDestination } from './load-destination.js';
import { beginAttempt, silentAttempt } from './silent-attempt.js';

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
  const headers = requestHeaders({ kind: delivery.kind, body }, notifications, notifications.signature, identity);
  const sent = await context.delivery.send({
    method: 'POST',
    url: destination.url,
    headers: { ...headers, ...traceHeader(context, span, delivery), ...added },
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
    return { ...report, body, attempt: { ...report.attempt, address, total: Math.round(timing.total) } };
  }
  const tokens = [destination.token, ...identity.retiredTokens];
  const secrets = secretsSentTo({ url: destination.url, tokens, headers: added });
  return reportOf(context, delivery, sent.value, { destination: destination.origin, body, secrets });
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
