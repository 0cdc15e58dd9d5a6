import { classifyAnswer, classifySilence, type Failure } from '../../notifications/classify-failure.js';
import type { Attempt, Delivery } from '../../notifications/delivery.js';
import type { StoredEvent } from '../../notifications/event.js';
import { redactHeaders } from '../../notifications/redact.js';
import { renderPayload, requestHeaders } from '../../notifications/render-payload.js';
import { parseRetryAfter } from '../../notifications/retry-schedule.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { EngineContext } from '../shared/context.js';
import type { Destination } from './load-destination.js';

/** What came of one attempt. */
export interface AttemptReport {
  readonly attempt: Omit<Attempt, 'number' | 'manual'>;
  /** Null when it delivered. */
  readonly failure: Failure | null;
  /** The wait that the destination asked for. */
  readonly retryAfter: Milliseconds | null;
  /** E-mail: users that are done with, also from earlier attempts. */
  readonly doneUsers: readonly string[];
}

/** What is sent: the body as stored, or the event that mails are made from. */
export interface Content {
  readonly body?: string | undefined;
  readonly event?: StoredEvent | undefined;
}

/** Makes one attempt. Never rejects because of a destination. */
export function attemptDelivery(
  context: EngineContext,
  delivery: Delivery,
  destination: Exclude<Destination, { type: 'closed' }>,
  content: Content,
): Promise<AttemptReport> {
  switch (destination.type) {
    case 'http':
      return attemptHttp(context, delivery, destination, content.body ?? '');
    case 'email':
      return attemptMail(context, delivery, destination, content.event);
    case 'unreadable': {
      const failure = classifySilence({ type: 'secret_unreadable', message: destination.message });
      return Promise.resolve(silent(context, delivery, '', failure, context.clock.now()));
    }
  }
}

async function attemptHttp(
  context: EngineContext,
  delivery: Delivery,
  destination: Destination & { readonly type: 'http' },
  body: string,
): Promise<AttemptReport> {
  const { notifications } = context.settings;
  const { connectTimeout, totalTimeout, maximumResponseBytes } = notifications.delivery;
  const identity = {
    token: destination.token,
    retiredTokens: destination.retiredTokens,
    messageId: delivery.eventId,
    now: context.clock.now(),
  };
  const sent = await context.delivery.send({
    method: 'POST',
    url: destination.url,
    headers: requestHeaders(delivery.kind, body, notifications, notifications.signature, identity),
    body,
    connectTimeout,
    totalTimeout,
    maximumResponseBytes,
  });
  if (sent.isErr()) {
    const { address, timing } = sent.error;
    const failure = classifySilence(sent.error);
    const report = silent(context, delivery, destination.origin, failure, timing.startedAt);
    return { ...report, attempt: { ...report.attempt, address, total: Math.round(timing.total) } };
  }
  const { status, headers, truncated, address, timing } = sent.value;
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
      headers: redactHeaders(headers),
      body: sent.value.body,
      truncated,
      failure: failure === null ? null : { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: asks ? parseRetryAfter(headers['retry-after']?.[0], context.clock.now()) : null,
    doneUsers: delivery.doneUsers,
  };
}

/**
 * One message per recipient that has not had one. It delivers when nobody is left to try again for and somebody got it;
 * addresses that are refused for good are not tried again.
 */
async function attemptMail(
  context: EngineContext,
  delivery: Delivery,
  destination: Destination & { readonly type: 'email' },
  event: StoredEvent | undefined,
): Promise<AttemptReport> {
  const startedAt = context.clock.now();
  const { configuration, workspace } = destination;
  const { notifications } = context.settings;
  const done = new Set(delivery.doneUsers);
  const recipients = destination.recipients.filter((recipient) => !done.has(recipient.userId));
  const failed = (type: 'mail_rejected' | 'mail_unavailable', message: string): AttemptReport =>
    silent(context, delivery, 'mailto:', classifySilence({ type, message }), startedAt, [...done]);
  if (context.mailer === undefined) return failed('mail_unavailable', 'No mail transport is configured');
  if (event === undefined) return failed('mail_rejected', 'The event of this delivery is no longer stored');

  const rendered = renderPayload(
    configuration,
    { type: 'event', event: event.event, workspace },
    {
      place: notifications,
      signature: notifications.signature,
      identity: { token: null, retiredTokens: [], messageId: delivery.id, now: startedAt },
      recipients,
    },
  );
  const mails = rendered.type === 'email' ? rendered.mails : [];
  let rejected: string | null = null;
  let unavailable: string | null = null;
  let accepted = delivery.doneUsers.length > 0;
  for (const [index, mail] of mails.entries()) {
    const sent = await context.mailer.send(mail);
    if (sent.isErr() && sent.error.type === 'mail_unavailable') {
      unavailable = sent.error.message;
      continue;
    }
    done.add(recipients[index]?.userId ?? '');
    if (sent.isErr()) rejected = sent.error.message;
    else accepted = true;
  }
  if (unavailable !== null) return failed('mail_unavailable', unavailable);
  if (!accepted && rejected !== null) return failed('mail_rejected', rejected);
  const report = silent(context, delivery, 'mailto:', null, startedAt, [...done]);
  return rejected === null
    ? report
    : { ...report, attempt: { ...report.attempt, body: `Some recipients were refused: ${rejected}` } };
}

/** An attempt without an HTTP answer. */
function silent(
  context: EngineContext,
  delivery: Delivery,
  destination: string,
  failure: Failure | null,
  startedAt: number,
  doneUsers: readonly string[] = delivery.doneUsers,
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
    doneUsers,
  };
}
