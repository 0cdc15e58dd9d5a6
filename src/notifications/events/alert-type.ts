import type { CustomEvent } from './event.js';
import type { EventType } from './event-type.js';

/** What the service reports of its own destinations: events that configurations subscribe to like any others. */
export const alertTypes = [
  'signalbox.destination.failing',
  'signalbox.destination.recovered',
  'signalbox.deliveries.dead',
  'signalbox.configuration.disabled',
] as const;

/** One of the types that the service reports. */
export type AlertType = (typeof alertTypes)[number];

/** The type of the service's own with this name, as if it were registered; undefined for other names. */
export function alertTypeNamed(name: unknown): EventType | undefined {
  const known = alertTypes.find((type) => type === name);
  if (known === undefined) return undefined;
  return { name: known, description: '', schema: null, example: null, body: 'envelope', createdAt: 0, updatedAt: 0 };
}

/** The configuration that an alert is about; null for every other event. It is not notified about itself. */
export function configurationOfAlert({ trigger, data }: CustomEvent): string | null {
  const id = alertTypes.some((type) => type === trigger) ? data['configuration_id'] : null;
  return typeof id === 'string' ? id : null;
}
