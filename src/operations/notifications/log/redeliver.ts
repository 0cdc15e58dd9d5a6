import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import { type Delivery, deliveries } from '../../../notifications/delivery/delivery.js';
import {
  type RecoverableOutcome,
  recoverableOutcome,
  recoverableOutcomes,
  spanFault,
} from '../../../notifications/delivery/recovery.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import type { Conflict, InvalidParameter, NotFound } from '../../../notifications/errors.js';
import type { StorageError } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import { commit, commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import type { Transaction } from '../../write-transaction.js';
import { findConfiguration, findDelivery } from '../find-resource.js';
import { touchQueue } from './change-queue.js';
import { type DeliverySummary, endedDeliveries, isSelected, summariseDelivery } from './delivery-log.js';

/**
 * Requests one more attempt, whatever the outcome of the delivery. It keeps the event's ID, is signed with the current secret,
 * and ignores an open breaker. If it fails, the state before is restored: no schedule is restarted.
 */
export function redeliver(
  context: EngineContext,
  caller: Principal,
  request: { readonly deliveryId: string },
): ResultAsync<DeliverySummary, NotFound | Conflict | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  return commitValue<DeliverySummary, NotFound | Conflict>(context, caller, (tx) => {
    const found = findDelivery(tx, caller, request.deliveryId, ordered);
    if (found.isErr()) return err(found.error);
    const { delivery } = found.value;
    const configuration = tx.get(configurations, [delivery.configurationId])?.record;
    if (configuration === undefined) {
      return err({
        type: 'conflict',
        message: 'The notification configuration of this delivery no longer exists',
      });
    }
    if (!configuration.enabled) {
      return err({
        type: 'conflict',
        message: 'The notification configuration is disabled; enable it before redelivering',
      });
    }
    if (delivery.erased === true) {
      return err({
        type: 'conflict',
        message: 'The content of this notification was erased; there is nothing to send',
      });
    }
    const asked = requestAttempt(tx, delivery);
    touchQueue(tx, delivery.configurationId);
    return ok(summariseDelivery(asked, { nextAttemptAt: tx.now, waitsFor: null }));
  });
}

/** Selects the deliveries of one configuration to re-send: those that ended in a time range. */
interface RecoverRequest {
  readonly configurationId: string;
  /** Start of the range, inclusive. */
  readonly since: Instant;
  /** End of the range, exclusive; now when absent. */
  readonly until?: Instant;
  /** `dead` when absent. */
  readonly outcome?: RecoverableOutcome;
}

/** The result of `recoverDeliveries`; the delivery loop sends the deliveries. */
export interface Recovered {
  /** The number of deliveries to re-send. */
  readonly count: number;
  /** Whether there are more: repeat the request with `reached` as its start. */
  readonly more: boolean;
  /** When the last of them had ended; null when there was none. */
  readonly reached: Instant | null;
}

/** The most rows changed in one write, so that other writers are not delayed. */
const recoverBatch = 500;

/** Re-sends the failed deliveries of a time range, oldest first, up to the limit of the settings. */
export function recoverDeliveries(
  context: EngineContext,
  caller: Principal,
  request: RecoverRequest,
): ResultAsync<Recovered, NotFound | Conflict | InvalidParameter | StorageError> {
  return new ResultAsync(recover(context, caller, request));
}

async function recover(
  context: EngineContext,
  caller: Principal,
  request: RecoverRequest,
): Promise<Result<Recovered, NotFound | Conflict | InvalidParameter | StorageError>> {
  const { configurationId, since } = request;
  const until = request.until ?? Math.max(since, context.clock.now() + 1);
  const fault = spanFault(since, until);
  if (fault !== undefined) return err(fault);
  const asked = readRecoverableOutcome(request.outcome);
  if (asked.isErr()) return err(asked.error);
  const outcome = asked.value;
  const limit = context.settings.notifications.maximumRecover;
  let count = 0;
  let reached: Instant | null = null;
  let after: End | null = null;
  for (;;) {
    const size = Math.min(recoverBatch, limit - count);
    const span: Span = { configurationId, outcome, since, until, after, size };
    const written = await commit<Portion, NotFound | Conflict>(context, caller, (tx) =>
      recoverPortion(tx, caller, span),
    );
    if (written.isErr()) return err(written.error);
    const { taken, more, last } = written.value.value;
    count += taken.length;
    reached = taken.at(-1) ?? reached;
    after = last ?? after;
    if (!more || count >= limit) return ok({ count, more, reached });
  }
}

/** The requested outcome, `dead` by default. Values of untyped callers are checked, too. */
export function readRecoverableOutcome(asked: unknown): Result<RecoverableOutcome, InvalidParameter> {
  const outcome = asked === undefined ? 'dead' : recoverableOutcome(asked);
  if (outcome !== undefined) return ok(outcome);
  const message = `The outcome must be one of ${recoverableOutcomes.join(', ')}`;
  return err({ type: 'invalid_parameter', parameter: 'outcome', message });
}

/** When a delivery ended, and its sequence, which orders deliveries that ended at the same time. */
type End = readonly [Instant, number];

export function endOf({ state, sequence }: Delivery): End {
  return ['at' in state ? state.at : 0, sequence];
}

interface Portion {
  /** The end times of the deliveries to re-send. */
  readonly taken: readonly Instant[];
  readonly more: boolean;
  /** The last examined delivery; null when there was none. */
  readonly last: End | null;
}

type Span = Required<RecoverRequest> & {
  /** Begins after this one. */
  readonly after: End | null;
  /** The maximum number of examined deliveries. */
  readonly size: number;
};

function recoverPortion(tx: Transaction, caller: Principal, span: Span): Result<Portion, NotFound | Conflict> {
  const { configurationId, after, size } = span;
  const found = findConfiguration(tx, caller, configurationId);
  if (found.isErr()) return err(found.error);
  if (!found.value.configuration.enabled) {
    const message = 'The notification configuration is disabled; enable it before recovering';
    return err({ type: 'conflict', message });
  }
  const rows = endedDeliveries(tx, configurationId, { ...span, limit: size + 1 }, after);
  const looked = rows.slice(0, size);
  const taken = looked.filter((delivery) => isSelected(delivery, { trigger: null }));
  for (const delivery of taken) requestAttempt(tx, delivery);
  if (taken.length > 0) touchQueue(tx, configurationId);
  const last = looked.at(-1);
  return ok({
    taken: taken.map((delivery) => endOf(delivery)[0]),
    more: rows.length > size,
    last: last === undefined ? null : endOf(last),
  });
}

/** Requests an attempt outside the schedule, which precedes all others in the queue and ignores an open breaker. */
export function requestAttempt(tx: Transaction, delivery: Delivery): Delivery {
  const state = transitionDelivery(delivery.state, { type: 'redelivery_requested', at: tx.now });
  const next = state.isOk() ? { ...delivery, state: state.value } : delivery;
  tx.put(deliveries, next);
  return next;
}
