import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import { type Delivery, deliveries } from '../../../notifications/delivery/delivery.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import type { Conflict, InvalidParameter, NotFound } from '../../../notifications/errors.js';
import type { StorageError } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import { commit, type Transaction } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { findConfiguration, findDelivery } from '../find-resource.js';
import { touchQueue } from './change-queue.js';
import { type DeliverySummary, summariseDelivery } from './delivery-view.js';

/**
 * Asks for one more attempt, whatever became of the delivery. It keeps the event's id, is signed with the present secret,
 * passes a breaker that is open, and when it fails everything is as it was before: no schedule starts again.
 */
export function redeliver(
  context: EngineContext,
  caller: Principal,
  request: { readonly deliveryId: string },
): ResultAsync<DeliverySummary, NotFound | Conflict | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  return commit<DeliverySummary, NotFound | Conflict>(context, caller, (tx) => {
    const found = findDelivery(tx, caller, request.deliveryId, ordered);
    if (found.isErr()) return err(found.error);
    const { delivery } = found.value;
    const configuration = tx.get(configurations, [delivery.configurationId])?.record;
    if (configuration === undefined) {
      return err({
        type: 'conflict',
        message: 'The notification configuration of this delivery does not exist any more',
      });
    }
    if (!configuration.enabled) {
      return err({
        type: 'conflict',
        message: 'The notification configuration is disabled; enable it before redelivering',
      });
    }
    const asked = requestAttempt(tx, delivery);
    touchQueue(tx, delivery.configurationId);
    return ok(summariseDelivery(asked, { nextAttemptAt: tx.now, waitsFor: null }));
  }).map(({ value }) => value);
}

/** Deliveries of one configuration that ended in a span of time, to be sent again. */
export interface RecoverRequest {
  readonly configurationId: string;
  /** Deliveries that ended from this moment on … */
  readonly since: Instant;
  /** … and before this one; until now when absent. */
  readonly until?: Instant;
  /** `dead` when absent. */
  readonly outcome?: 'dead' | 'cancelled';
}

/** What `recoverDeliveries` has done; the deliveries are sent by the delivery loop. */
export interface Recovered {
  /** Deliveries that are sent again. */
  readonly count: number;
  /** There are more: repeat with the time of the last one. */
  readonly more: boolean;
  /** When the last recovered one had ended; null when there was none. */
  readonly reached: Instant | null;
}

/** Rows changed in one write, so that other writers get their turn. */
const recoverBatch = 500;

/** Redelivers what ended without success in a span of time, oldest first, up to the limit of the settings. */
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
  const { configurationId, since, outcome = 'dead' } = request;
  const until = request.until ?? Math.max(since, context.clock.now() + 1);
  if (!Number.isFinite(since) || !Number.isFinite(until) || since > until) {
    const message = 'since and until must be times, and since the earlier one';
    return err({ type: 'invalid_parameter', parameter: 'since', message });
  }
  const limit = context.settings.notifications.maximumRecover;
  let count = 0;
  let reached: Instant | null = null;
  for (;;) {
    const size = Math.min(recoverBatch, limit - count);
    const written = await commit<{ taken: Instant[]; more: boolean }, NotFound | Conflict>(context, caller, (tx) => {
      const found = findConfiguration(tx, caller, configurationId);
      if (found.isErr()) return err(found.error);
      if (!found.value.configuration.enabled) {
        return err({
          type: 'conflict',
          message: 'The notification configuration is disabled; enable it before recovering',
        });
      }
      const rows = tx.list(deliveries, {
        index: 'failed',
        from: [configurationId, outcome, since],
        to: [configurationId, outcome, until],
        limit: size + 1,
      });
      const taken = rows.slice(0, size).map(({ record }) => {
        requestAttempt(tx, record);
        return 'at' in record.state ? record.state.at : tx.now;
      });
      if (taken.length > 0) touchQueue(tx, configurationId);
      return ok({ taken, more: rows.length > size });
    });
    if (written.isErr()) return err(written.error);
    const { taken, more } = written.value.value;
    count += taken.length;
    reached = taken.at(-1) ?? reached;
    if (!more || count >= limit) return ok({ count, more, reached });
  }
}

/** Attempts outside the schedule stand before all others in the queue and do not wait for an open breaker. */
export function requestAttempt(tx: Transaction, delivery: Delivery): Delivery {
  const state = transitionDelivery(delivery.state, { type: 'redelivery_requested', at: tx.now });
  const next = state.isOk() ? { ...delivery, state: state.value } : delivery;
  tx.put(deliveries, next);
  return next;
}
