import { dueSinceAcceptance, isUnfinished } from '../../../notifications/delivery/delivery.js';
import { type AttemptReport, isGivenUp, type Outcome } from '../../../notifications/delivery/transition-delivery.js';
import type { QueueRecord } from '../../../notifications/queue/queue-record.js';
import { isoFromInstant } from '../../../shared/instant.js';
import { type EngineContext, emit } from '../../context/engine-context.js';
import type { DeliveryEnd } from './delivery-memory.js';

type Reported = Extract<DeliveryEnd, { type: 'report' }>;

/** Counts an attempt and the changes of its queue's breaker. */
export function observeAttempt(
  context: EngineContext,
  queues: { readonly before: QueueRecord; readonly after: QueueRecord },
  { outcome, end }: { readonly outcome: Outcome; readonly end: Reported },
): void {
  const { observer } = context;
  const { kind, state, createdAt } = outcome.before;
  const { report, at, wall } = end;
  observer.count('signalbox.notification.attempts', 1, {
    kind,
    outcome: wordOf(outcome),
    class: report.failure?.class ?? 'none',
  });
  observer.record('signalbox.notification.attempt.duration', report.attempt.total / 1000, { kind });
  if (state.type === 'waiting') {
    // A delivery without attempts is due since its acceptance, in wall time; all others wait in queue time.
    const waited = state.dueAt === dueSinceAcceptance ? wall - createdAt : at - state.dueAt;
    const lag = Math.max(0, waited - report.attempt.total);
    observer.record('signalbox.notification.attempt.lag', lag / 1000, { kind });
  }
  observeDestination(context, queues, { kind, report });
}

/** Logs and emits when a destination begins to fail or works again, and when its breaker opens or closes. */
function observeDestination(
  context: EngineContext,
  { before, after }: { readonly before: QueueRecord; readonly after: QueueRecord },
  { kind, report }: { readonly kind: Outcome['before']['kind']; readonly report: AttemptReport },
): void {
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
  observeBlockage(context, { before, after }, report);
  const isOpen = after.breaker.type === 'open';
  if ((before.breaker.type === 'open') === isOpen) return;
  context.observer.count('signalbox.notification.breaker.changes', 1, { kind, to: isOpen ? 'open' : 'closed' });
  notify(isOpen ? 'breaker_opened' : 'breaker_closed');
}

/** Reports failures on the sender's side, such as those of its proxy, that block a destination. They do not count as its failures. */
function observeBlockage(
  context: EngineContext,
  { before, after }: { readonly before: QueueRecord; readonly after: QueueRecord },
  report: AttemptReport,
): void {
  const about = { configuration: after.configurationId, workspace: after.workspaceId };
  if (before.hindered === undefined && after.hindered !== undefined) {
    const { class: failure, message: error } = report.failure ?? {};
    context.logger.warn({ ...about, failure, error }, 'Notifications cannot be sent to their destination');
  }
  if (before.hindered !== undefined && after.hindered === undefined) {
    const hinderedSince = isoFromInstant(before.hindered.since);
    context.logger.info({ ...about, hinderedSince }, 'Notifications reach their destination again');
  }
}

function wordOf({ attempt, after }: Outcome): 'delivered' | 'retrying' | 'dead' {
  if (attempt?.failure === null) return 'delivered';
  return isUnfinished(after.state) ? 'retrying' : 'dead';
}

/** Reports a stored outcome, after the commit, so that a listener finds every reported attempt in the log. */
export function observeEnd(context: EngineContext, outcome: Outcome): void {
  const { before, after, attempt } = outcome;
  const { id, configurationId, workspaceId } = before;
  if (attempt !== null) {
    emit(context, 'notification.attempt', {
      deliveryId: id,
      configurationId,
      attempt: after.attempts.at(-1)?.number ?? 0,
      outcome: wordOf(outcome),
      errorClass: attempt.failure?.class ?? null,
    });
  }
  if (isUnfinished(after.state) || !isUnfinished(before.state)) return;
  const { state } = after;
  const reason = 'reason' in state ? state.reason : null;
  emit(context, 'notification.delivery', { deliveryId: id, configurationId, workspaceId, outcome: state.type, reason });
  if (!isGivenUp(outcome)) return;
  const about = { delivery: id, configuration: configurationId, workspace: workspaceId, reason };
  context.logger.warn({ ...about, failure: after.attempts.at(-1)?.failure?.class }, 'A notification was given up');
}
