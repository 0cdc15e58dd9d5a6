import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { type Key, table } from '../shared/table.js';
import { type Breaker, closedBreaker } from './circuit-breaker.js';
import type { DestinationKind } from './destination.js';
import type { Trigger } from './trigger.js';

/** Why an attempt did not deliver. Closed: it labels metrics. */
export const failureClasses = [
  'invalid_url',
  'address_forbidden',
  'name_not_resolved',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'connection_reset',
  'total_timeout',
  'invalid_response',
  'aborted',
  'redirect',
  'client_error',
  'gone',
  'rate_limited',
  'server_error',
  'answered_with_error',
  'mail_rejected',
  'mail_unavailable',
  'secret_unreadable',
] as const;
export type FailureClass = (typeof failureClasses)[number];

/** One attempt, as the delivery log keeps it. Holds no secret: of the destination, scheme and host only. */
export interface Attempt {
  /** From 1, counted over the life of the delivery. */
  readonly number: number;
  /** Asked for by a person or a program, outside the schedule. */
  readonly manual: boolean;
  readonly startedAt: Instant;
  readonly headersAfter: Milliseconds | null;
  readonly total: Milliseconds;
  readonly destination: string;
  readonly address: string | null;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
  readonly truncated: boolean;
  /** Null when the attempt delivered. */
  readonly failure: { readonly class: FailureClass; readonly message: string } | null;
}

/** Waiting for its next attempt. */
export interface WaitingState {
  readonly type: 'waiting';
  readonly dueAt: Instant;
  /** Scheduled attempts made so far. */
  readonly attempted: number;
}

/** Over, one way or the other. */
export type SettledState =
  | { readonly type: 'delivered'; readonly at: Instant }
  | { readonly type: 'dead'; readonly at: Instant; readonly reason: 'exhausted' | 'permanent' }
  | { readonly type: 'cancelled'; readonly at: Instant; readonly reason: CancelReason };

export type CancelReason = 'configuration_disabled' | 'configuration_deleted' | 'no_recipients';

/** One attempt outside the schedule is due; when it fails, everything is as it was before. */
export interface ManualState {
  readonly type: 'manual';
  /** Always 0: it stands before everything else in the queue. */
  readonly dueAt: 0;
  readonly requestedAt: Instant;
  readonly before: WaitingState | SettledState;
}

export type DeliveryState = WaitingState | ManualState | SettledState;

/** What a caller sees of the state. */
export const deliveryOutcomes = ['pending', 'delivered', 'dead', 'cancelled'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/** One event on its way to one configuration. */
export interface Delivery {
  readonly id: string;
  readonly workspaceId: string;
  readonly configurationId: string;
  readonly kind: DestinationKind;
  readonly eventId: string;
  readonly sequence: number;
  readonly trigger: Trigger;
  /** See `orderKeyOf`; null also when the settings ask for no order. */
  readonly orderKey: string | null;
  readonly createdAt: Instant;
  readonly state: DeliveryState;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly Attempt[];
  /** E-mail: users that need no further message. */
  readonly doneUsers: readonly string[];
}

export const deliveries = table<Delivery>('notification_deliveries', (delivery) => [delivery.id], {
  /** Unfinished ones of a configuration, next first. */
  due: {
    version: 1,
    key: ({ configurationId, state, sequence }) =>
      'dueAt' in state ? [configurationId, state.dueAt, sequence] : undefined,
  },
  by_configuration: {
    version: 1,
    key: ({ configurationId, createdAt, sequence }) => [configurationId, createdAt, sequence],
  },
  /** Finished ones, for the log's filter and for retention. */
  settled: {
    version: 1,
    key: ({ configurationId, state, sequence }) =>
      'at' in state ? [configurationId, state.type, state.at, sequence] : undefined,
  },
});

/**
 * The request body of a delivery, serialised once, sent and signed as it is. E-mail has none: it is made per recipient.
 * Apart from the delivery, because every attempt writes that again; in the order of sending, so that neighbours are read
 * together.
 */
export interface DeliveryBody {
  readonly configurationId: string;
  /** The delivery's: an event has one delivery for each configuration. */
  readonly sequence: number;
  readonly body: string;
}

export const deliveryBodies = table<DeliveryBody>('notification_bodies', bodyKeyOf);

/** Where the body of a delivery is. */
export function bodyKeyOf({ configurationId, sequence }: Pick<DeliveryBody, 'configurationId' | 'sequence'>): Key {
  return [configurationId, sequence];
}

/** Attempts that the log keeps of one delivery: more than any schedule has, so only redeliveries push old ones out. */
export const keptAttempts = 50;

/** A lane without history. */
export function newLane(configurationId: string, dueAt: Instant): DeliveryLane {
  return { configurationId, dueAt, lease: null, breaker: closedBreaker, failingSince: null };
}

export function outcomeOf(state: DeliveryState): DeliveryOutcome {
  return state.type === 'waiting' || state.type === 'manual' ? 'pending' : state.type;
}

/**
 * The queue of one configuration. Exists while the configuration has unfinished deliveries. One engine at a time works on
 * a lane, so that order, the circuit breaker and a slow destination concern nothing outside it.
 */
export interface DeliveryLane {
  readonly configurationId: string;
  /**
   * When its first unfinished delivery is due, or its breaker lets the next attempt through. Null when nothing is
   * unfinished: the row then only remembers a breaker that has seen failures.
   */
  readonly dueAt: Instant | null;
  readonly lease: { readonly owner: string; readonly until: Instant } | null;
  readonly breaker: Breaker;
  /** First failure since the last success, for the automatic switch-off. */
  readonly failingSince: Instant | null;
}

export const deliveryLanes = table<DeliveryLane>('notification_lanes', (lane) => [lane.configurationId], {
  /** A lane that is being worked on comes up again when its lease ends. */
  by_wake: {
    version: 1,
    key: ({ dueAt, lease }) => (dueAt === null ? undefined : [lease === null ? dueAt : lease.until]),
  },
});

/** A run whose oldest unfinished delivery waits for another attempt: the later ones of the run wait too. */
export interface DeliveryHold {
  readonly configurationId: string;
  readonly orderKey: string;
  readonly deliveryId: string;
  readonly until: Instant;
}

export const deliveryHolds = table<DeliveryHold>('notification_holds', (hold) => [hold.configurationId, hold.orderKey]);
