import type { CustomEvent } from './event.js';

/** What names of the service's own types begin with. No type of an application does. */
export const servicePrefix = 'signalbox.';

/** What Signalbox reports about its destinations: events that configurations subscribe to like any others. */
export const alertTypes = [
  'signalbox.destination.failing',
  'signalbox.destination.recovered',
  'signalbox.deliveries.dead',
  'signalbox.configuration.disabled',
] as const;

/** One of the types that the service reports. */
export type AlertType = (typeof alertTypes)[number];

/** The configuration that an alert is about; null for every other event. It is not notified about itself. */
export function configurationOfAlert({ trigger, data }: CustomEvent): string | null {
  const id = alertTypes.some((type) => type === trigger) ? data['configuration_id'] : null;
  return typeof id === 'string' ? id : null;
}
