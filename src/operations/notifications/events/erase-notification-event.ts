import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { type Delivery, deliveries, isUnfinished, withoutContents } from '../../../notifications/delivery/delivery.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import type { NotFound } from '../../../notifications/errors.js';
import { events, orderKeyOf, type StoredEvent } from '../../../notifications/events/event.js';
import type { StorageError } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { releaseNext } from '../../records/delivery-rows.js';
import type { Transaction } from '../../write-transaction.js';
import { touchQueue } from '../log/change-queue.js';
import { queueClock } from '../log/delivery-log.js';
import { deliveriesOf, findEvent } from './events-log.js';

/**
 * Erases the content of an event and every response to it. Its record is kept: the time of acceptance and the outcomes of its
 * deliveries. Unfinished deliveries are cancelled. A request in progress cannot be stopped; only the status of its response is kept.
 */
export function eraseNotificationEvent(
  context: EngineContext,
  caller: Principal,
  { eventId }: { readonly eventId: string },
): ResultAsync<void, NotFound | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  return commit<void, NotFound>(context, caller, (tx) => {
    const found = findEvent(tx, caller, eventId, 'admin');
    if (found.isErr()) return err(found.error);
    const event = found.value;
    const { queue: now } = queueClock(context, tx);
    for (const delivery of deliveriesOf(tx, event, ordered)) eraseDelivery(tx, delivery, now);
    tx.put(events, erased(event, tx.now));
    return ok(undefined);
  }).map(() => undefined);
}

function erased(event: StoredEvent, now: number): StoredEvent {
  const { trigger, createdAt } = event;
  return {
    ...event,
    erasedAt: event.erasedAt ?? now,
    event: {
      kind: 'custom',
      trigger,
      message: '',
      data: {},
      orderKey: orderKeyOf(event.event),
      occurredAt: new Date(createdAt).toISOString(),
      body: 'envelope',
    },
  };
}

function eraseDelivery(tx: Transaction, delivery: Delivery, now: Instant): void {
  const cancelled = transitionDelivery(delivery.state, { type: 'cancelled', at: tx.now, reason: 'content_erased' });
  const next: Delivery = { ...withoutContents(delivery), state: cancelled.unwrapOr(delivery.state) };
  tx.put(deliveries, next);
  if (!isUnfinished(delivery.state)) return;
  releaseNext(tx, next, now);
  touchQueue(tx, delivery.configurationId);
}
