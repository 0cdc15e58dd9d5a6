import type { CustomEvent } from './event.js';

/** Prefix of the names of Signalbox's own event types, reserved for them. */
export const servicePrefix = 'signalbox.';

/** Alerts about destinations: events that configurations subscribe to like any others. */
export const alertTypes = [
  'signalbox.destination.failing',
  'signalbox.destination.recovered',
  'signalbox.deliveries.dead',
  'signalbox.configuration.disabled',
] as const;

/** One of `alertTypes`. */
export type AlertType = (typeof alertTypes)[number];

/** The configuration that an alert is about; null for every other event. It is not notified about itself. */
export function configurationOfAlert({ trigger, data }: CustomEvent): string | null {
  const id = alertTypes.some((type) => type === trigger) ? data['configuration_id'] : null;
  return typeof id === 'string' ? id : null;
}
