import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import { alertTypes } from './alert-type.js';

/** An event type of the application, in addition to those of the notification interface. */
export interface EventType {
  /** Words of letters, digits and `_`, joined by dots: `order.created`. */
  readonly name: string;
  /** For people; may be empty. */
  readonly description: string;
  /** JSON Schema that the data of its events must fit; null takes any object. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Data that fits; null when none was given. */
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
  /** The JSON Schema that the data of events must meet; null and absent: anything. */
  readonly schema?: Readonly<Record<string, unknown>> | null | undefined;
  /** Data of an event, for people and tests; it must meet the schema. */
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
