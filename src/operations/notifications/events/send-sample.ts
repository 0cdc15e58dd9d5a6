import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { freshDelivery } from '../../../notifications/delivery/transition-delivery.js';
import type { Conflict, FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import { sampleEvent } from '../../../notifications/events/sample-event.js';
import type { StorageError } from '../../../ports/storage.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { storeEvent } from '../../records/publish-notification-event.js';
import { recipientsOf } from '../configurations/verify-notification-configuration.js';
import { findConfiguration } from '../find-resource.js';
import { type DeliverySummary, summariseDelivery } from '../log/delivery-log.js';
import { registeredType } from './send-notification-event.js';

/** Selects the example to send. */
interface SampleRequest {
  readonly configurationId: string;
  readonly sample: { readonly trigger: string };
  readonly faults?: readonly FieldFault[];
}

/**
 * Queues the example of an event for one configuration, whether or not it is subscribed to the trigger and whatever its filter. It is delivered like
 * every other event; nobody else is notified of it. Like a redelivery it needs an enabled configuration.
 */
export function sendSampleEvent(
  context: EngineContext,
  caller: Principal,
  { configurationId, sample: { trigger }, faults = [] }: SampleRequest,
): ResultAsync<DeliverySummary, NotFound | InvalidAttributes | Conflict | StorageError> {
  return commit<DeliverySummary, NotFound | InvalidAttributes | Conflict>(context, caller, (tx) => {
    const found = findConfiguration(tx, caller, configurationId);
    if (found.isErr()) return err(found.error);
    if (faults.length > 0) return err({ type: 'invalid_attributes', faults });
    const { configuration, workspace } = found.value;
    const unique = tx.ids.next('notification_event').slice(-16);
    const event = sampleEvent(trigger, registeredType(tx, trigger), { now: tx.now, unique });
    if (event.isErr()) return err(event.error);
    const conflict = (message: string) => err({ type: 'conflict', message } as const);
    if (!configuration.enabled) {
      return conflict('The notification configuration is disabled; enable it before sending a sample');
    }
    if (configuration.kind === 'email' && recipientsOf(tx, configuration, workspace).length === 0) {
      return conflict('The notification configuration has no recipients; add users of the organization');
    }
    const asked = { event: event.value, idempotencyKey: null, notified: [configuration], sample: true } as const;
    const { stored } = storeEvent(tx, tx, workspace, asked);
    const delivery = freshDelivery(stored, 0, false);
    const { id: eventId, workspaceId, trigger: sent } = stored;
    tx.emit('notification.event', { eventId, workspaceId, trigger: sent, deliveryIds: [delivery.id] });
    return ok(summariseDelivery(delivery, { nextAttemptAt: tx.now, waitsFor: null }));
  }).map(({ value }) => value);
}
