import { classifySilence, type Failure } from '../../../notifications/delivery/classify-failure.js';
import type { AttemptReport } from '../../../notifications/delivery/conclude-attempt.js';
import type { Delivery, RecipientResult } from '../../../notifications/delivery/delivery.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { renderPayload } from '../../../notifications/payloads/render-payload.js';
import type { Mailer, MailMessage } from '../../../ports/mailer.js';
import type { EngineContext } from '../../context/engine-context.js';
import type { OpenDestination } from './load-destination.js';
import { beginAttempt, silentAttempt } from './silent-attempt.js';

/** The context of an attempt, in addition to the delivery and its destination. */
export interface AttemptInputs {
  /** Null when it is no longer stored. */
  readonly event: StoredEvent | null;
  /** Aborted when the engine stops. */
  readonly stopping: AbortSignal;
}

/**
 * Sends one message to each recipient without one. Permanently refused addresses are retried only by a redelivery;
 * when no recipient is left to retry, the delivery succeeds if at least one got the message.
 */
export async function attemptMail(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination & { readonly type: 'email' },
  { event, stopping }: AttemptInputs,
): Promise<AttemptReport> {
  const span = beginAttempt(context, delivery, { 'server.address': 'mailto:' });
  const report = await mailWaiting(context, delivery, destination, { event, stopping });
  const recipients = report.recipients ?? [];
  const attributes = {
    'signalbox.recipients': recipients.length,
    'signalbox.recipients.accepted': recipients.filter(({ outcome }) => outcome === 'accepted').length,
  };
  span?.end(report.failure === null ? { attributes } : { attributes, failure: report.failure.class });
  return report;
}

async function mailWaiting(
  context: EngineContext,
  delivery: Delivery,
  destination: OpenDestination & { readonly type: 'email' },
  { event, stopping }: AttemptInputs,
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
  { state, recipients: told = [] }: Delivery,
  all: readonly R[],
): { readonly recipients: readonly R[]; readonly earlier: readonly RecipientResult[] } {
  const isAsked = state.type === 'manual';
  const earlier = told.filter(({ outcome }) => outcome === 'accepted' || (outcome === 'refused' && !isAsked));
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
