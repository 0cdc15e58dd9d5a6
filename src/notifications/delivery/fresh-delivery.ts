import type { Key } from '../../shared/table.js';
import { type NotifiedConfiguration, orderKeyOf, type StoredEvent } from '../events/event.js';
import { renderBody } from '../payloads/render-payload.js';
import { type Delivery, deliveryIdOf, deliveryKey, dueSinceAcceptance } from './delivery.js';

/** The initial delivery of an event to the configuration at a position of its list. */
export function freshDelivery(event: StoredEvent, position: number, ordered: boolean): Delivery {
  const configuration = event.notified[position] as NotifiedConfiguration;
  const { id: eventId, sequence, workspaceId, trigger, createdAt, traceparent } = event;
  const fresh: Delivery = {
    number: numberOf(event, position),
    configurationId: configuration.id,
    sequence,
    id: deliveryIdOf(eventId, position),
    eventId,
    workspaceId,
    kind: configuration.kind ?? 'generic',
    trigger,
    orderKey: ordered ? orderKeyOf(event.event) : null,
    createdAt,
    state: { type: 'waiting', dueAt: dueSinceAcceptance, attempted: 0 },
    attempts: [],
  };
  return traceparent === undefined ? fresh : { ...fresh, traceparent };
}

/** The key of the delivery at a position of the event's list. */
export function keyOfDelivery(event: StoredEvent, position: number): Key {
  const { id: configurationId = '' } = event.notified[position] ?? {};
  return deliveryKey({ number: numberOf(event, position), configurationId, sequence: event.sequence });
}

function numberOf({ numbered, sequence }: StoredEvent, position: number): number | undefined {
  return numbered === true ? sequence + position : undefined;
}

/** The position of a configuration in the event's list; -1 when the event does not notify it. */
export function positionOf(event: StoredEvent, configurationId: string): number {
  const { notified } = event;
  for (let position = 0; position < notified.length; position += 1) {
    if (notified[position]?.id === configurationId) return position;
  }
  return -1;
}

/** The body of the event's notification to the configuration; null for e-mail. Deterministic. */
export function bodyOfEvent(event: StoredEvent, position: number): string | null {
  const {
    id,
    kind = 'generic',
    name = '',
    trigger = event.trigger,
  } = event.notified[position] as NotifiedConfiguration;
  const { workspaceName, organization, workspaceUrl, publicOrigin, basePath } = event.surroundings;
  const workspace = { id: event.workspaceId, name: workspaceName, organization, url: workspaceUrl };
  return renderBody(
    { id, kind, name, triggers: [trigger] },
    { type: 'event', event: event.event, workspace },
    { publicOrigin, basePath },
    deliveryIdOf(event.id, position),
  );
}
