import type { DestinationKind } from '../../../notifications/configurations/destination.js';
import { classifySilence } from '../../../notifications/delivery/classify-failure.js';
import type { AttemptReport } from '../../../notifications/delivery/conclude-attempt.js';
import { dueSinceAcceptance, isUnfinished } from '../../../notifications/delivery/delivery.js';
import { type HeldQueue, isGivenUp, type Outcome } from '../../../notifications/queue/held-queue.js';
import type { QueueTime } from '../../../notifications/queue/take-next.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { type EngineContext, emit } from '../../context/engine-context.js';
import type { DeliveryWork, Held } from './delivery-work.js';
import type { TurnResult } from './record-turn.js';

/** Counts an attempt and the changes of its queue's breaker. */
export function observeAttempt(
  context: EngineContext,
  { before, after }: { readonly before: Held | undefined; readonly after: Held | undefined },
  { sequence, report, at }: { readonly sequence: number; readonly report: AttemptReport; readonly at: QueueTime },
): void {
  const item = before?.queue.running.get(sequence);
  const outcome = after?.queue.outcomes.at(-1);
  if (before === undefined || item === undefined || outcome === undefined) return;
  const { observer } = context;
  const { kind, state, createdAt } = item.delivery;
  observer.count('signalbox.notification.attempts', 1, {
    kind,
    outcome: wordOf(outcome),
    class: report.failure?.class ?? 'none',
  });
  observer.record('signalbox.notification.attempt.duration', report.attempt.total / 1000, { kind });
  if (state.type === 'waiting') {
    // An accepted delivery without a row is due since its acceptance, by the wall clock; all others wait in queue time.
    const waited = state.dueAt === dueSinceAcceptance ? at.wall - createdAt : at.now - state.dueAt;
    const lag = Math.max(0, waited - report.attempt.total);
    observer.record('signalbox.notification.attempt.lag', lag / 1000, { kind });
  }
  if (after !== undefined) observeDestination(context, before.queue, after.queue, { kind, report });
}

/** Logs and emits when a destination begins to fail or works again, and when its breaker opens or closes. */
function observeDestination(
  context: EngineContext,
  before: HeldQueue,
  after: HeldQueue,
  { kind, report }: { readonly kind: DestinationKind; readonly report: AttemptReport },
): void {
  if (before.type === 'lost' || after.type === 'lost') return;
  const { configurationId, workspaceId } = after;
  const about = { configuration: configurationId, workspace: workspaceId };
  const notify = (change: 'failing' | 'recovered' | 'breaker_opened' | 'breaker_closed'): void =>
    emit(context, 'notification.destination', { configurationId, workspaceId, change });
  const failure = report.failure?.class;
  if (before.failingSince === null && after.failingSince !== null) {
    context.logger.warn(
      { ...about, failure, status: report.attempt.status },
      'A notification destination began to fail',
    );
    notify('failing');
  }
  if (before.failingSince !== null && after.failingSince === null) {
    const failingSince = isoFromInstant(before.failingSince);
    context.logger.info({ ...about, failingSince }, 'A notification destination works again');
    notify('recovered');
  }
  observeBlocking(context, before, after, report);
  if (isOpen(before) === isOpen(after)) return;
  context.observer.count('signalbox.notification.breaker.changes', 1, { kind, to: isOpen(after) ? 'open' : 'closed' });
  notify(isOpen(after) ? 'breaker_opened' : 'breaker_closed');
}

/** Reports failures on the sender's side, such as those of its proxy, that block a destination. They do not count as its failures. */
function observeBlocking(context: EngineContext, before: ServedQueue, after: ServedQueue, report: AttemptReport): void {
  const { configurationId: configuration, workspaceId: workspace } = after;
  const about = { configuration, workspace };
  if (before.hindered === null && after.hindered !== null) {
    const { class: failure, message: error } = report.failure ?? {};
    context.logger.warn({ ...about, failure, error }, 'Notifications are blocked before they reach their destination');
  }
  if (before.hindered !== null && after.hindered === null) {
    const hinderedSince = isoFromInstant(before.hindered.since);
    context.logger.info({ ...about, hinderedSince }, 'Notifications reach their destination again');
  }
}

type ServedQueue = Exclude<HeldQueue, { readonly type: 'lost' }>;

function isOpen(queue: HeldQueue): boolean {
  return queue.type !== 'lost' && queue.breaker.type === 'open';
}

function wordOf({ attempt, after }: Outcome): 'delivered' | 'retrying' | 'dead' {
  if (attempt?.failure === null) return 'delivered';
  return isUnfinished(after.state) ? 'retrying' : 'dead';
}

/** Emits and logs the stored outcomes of a turn; every reported attempt is already in the delivery log. */
export function reportTurn(context: EngineContext, result: TurnResult, work: DeliveryWork): void {
  for (const { queue, autoDisabled } of result.outcomes) {
    for (const outcome of queue.outcomes) {
      emitAttempt(context, outcome);
      emitEnd(context, outcome);
    }
    if (!autoDisabled) continue;
    const { configurationId, workspaceId } = queue;
    const message = 'A notification configuration was disabled: it failed for too long';
    context.logger.warn({ configuration: configurationId }, message);
    emit(context, 'notification.configuration', { configurationId, workspaceId, change: 'auto_disabled' });
  }
  context.observer.gauge('signalbox.notification.queues', work.held.size, {});
}

function emitAttempt(context: EngineContext, outcome: Outcome): void {
  const { before, after, attempt } = outcome;
  if (attempt === null) return;
  const { id, configurationId } = before.delivery;
  emit(context, 'notification.attempt', {
    deliveryId: id,
    configurationId,
    attempt: after.attempts.at(-1)?.number ?? 0,
    outcome: wordOf(outcome),
    errorClass: attempt.failure?.class ?? null,
  });
}

function emitEnd(context: EngineContext, outcome: Outcome): void {
  const { before, event, after } = outcome;
  if (event === null || isUnfinished(after.state) || !isUnfinished(before.delivery.state)) return;
  const { id: deliveryId, configurationId, workspaceId, state } = after;
  const reason = 'reason' in state ? state.reason : null;
  emit(context, 'notification.delivery', { deliveryId, configurationId, workspaceId, outcome: state.type, reason });
  if (!isGivenUp(outcome)) return;
  const about = { delivery: deliveryId, configuration: configurationId, workspace: workspaceId, reason };
  context.logger.warn({ ...about, failure: after.attempts.at(-1)?.failure?.class }, 'A notification was given up');
}

/** For a transport that rejects, which it must not. */
export function brokenReport(at: Instant): AttemptReport {
  const failure = classifySilence({ type: 'connect_failed', message: 'The attempt failed unexpectedly' });
  return {
    attempt: {
      startedAt: Math.trunc(at),
      headersAfter: null,
      total: 0,
      destination: '',
      address: null,
      status: null,
      headers: {},
      body: '',
      truncated: false,
      failure: { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: null,
    body: null,
    recipients: null,
  };
}
