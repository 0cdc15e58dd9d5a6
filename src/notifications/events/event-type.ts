import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { CustomEvent } from './event.js';

/** An event type of the application, in addition to those of the notification interface. */
export interface EventType {
  /** Words of letters, digits and `_`, joined by dots: `order.created`. */
  readonly name: string;
  /** For people; may be empty. */
  readonly description: string;
  /** JSON Schema that the data of its events must match; null accepts any object. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Data that matches the schema; null when none was given. */
  readonly example: Readonly<Record<string, unknown>> | null;
  /** The body for a generic destination: the data alone, or in an envelope with type, time and workspace. */
  readonly body: 'envelope' | 'data';
  /** When it was registered. */
  readonly createdAt: Instant;
  /** When it was last changed. */
  readonly updatedAt: Instant;
}

export const eventTypes = table<EventType>('notification_event_types', ({ name }) => [name]);

/**
 * The input for an event type. Omitted members get their defaults, even when the type already exists.
 */
export interface EventTypeInput {
  /** Words of letters, digits and `_`, joined by dots or hyphens, such as `order.created`; at most 128 characters. */
  readonly name: string;
  /** At most 4096 characters, for people; empty when absent. */
  readonly description?: string | undefined;
  /** The JSON Schema that the data of events must match; null or absent accepts any object. */
  readonly schema?: Readonly<Record<string, unknown>> | null | undefined;
  /** Example data of an event, for people and tests; it must match the schema. */
  readonly example?: Readonly<Record<string, unknown>> | null | undefined;
  /** The form of the body for generic destinations, `envelope` when absent: see `EventType`. */
  readonly body?: 'envelope' | 'data' | undefined;
}

/** The attributes that an event of a registered type may have. Its own payload is `data`. */
export const customEventAttributes: readonly string[] = [
  'trigger',
  'message',
  'data',
  'order_key',
  'occurred_at',
  'idempotency_key',
];

/** Signalbox's alert type with this name, as if it were registered; undefined for other names. */
export function alertTypeNamed(name: unknown): EventType | undefined {
  const known = alertTypes.find((type) => type === name);
  if (known === undefined) return undefined;
  return { name: known, description: '', schema: null, example: null, body: 'envelope', createdAt: 0, updatedAt: 0 };
}

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
