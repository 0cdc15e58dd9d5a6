import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type Key, table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import type { FailureClass } from './classify-failure.js';

/** One attempt, as the delivery log keeps it. Holds no secret: of the destination, scheme and host only. */
export interface Attempt {
  /** From 1, counted over the life of the delivery. */
  readonly number: number;
  /** Asked for by a person or a program, outside the schedule. */
  readonly manual: boolean;
  /** Wall time of its beginning. */
  readonly startedAt: Instant;
  /** From the start to the answer's headers, in milliseconds; null when none came. */
  readonly headersAfter: Milliseconds | null;
  /** How long it took, in milliseconds. */
  readonly total: Milliseconds;
  /** Scheme and host of the destination. */
  readonly destination: string;
  /** The IP address that was connected to; null when there was none. */
  readonly address: string | null;
  /** The status code of HTTP; null without an answer. */
  readonly status: number | null;
  /** Of the answer, by lower-case name; credentials are replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Of the answer, cut at `maximumResponseBytes` of the settings. */
  readonly body: string;
  /** Whether the body was cut. */
  readonly truncated: boolean;
  /** Null when the attempt delivered. */
  readonly failure: { readonly class: FailureClass; readonly message: string } | null;
}

/** Attempts that the log keeps of one delivery: more than any schedule has, so only redeliveries push old ones out. */
const keptAttempts = 50;

/** What became of an e-mail for one of its recipients. */
export interface RecipientResult {
  readonly userId: string;
  /**
   * `refused`: the mail server will never take it. `waiting`: it goes to this recipient with the next attempt; when the delivery is over,
   * with a redelivery.
   */
  readonly outcome: 'accepted' | 'refused' | 'waiting';
  /** The reason, as the mail server reported it; null when accepted. */
  readonly message: string | null;
  /** When the mail server answered. */
  readonly at: Instant;
}

/**
 * When a delivery is due that was only accepted: always. The time of its acceptance is wall time, which can be far from the
 * queues' time. Not 0, which is for redeliveries.
 */
export const dueSinceAcceptance: Instant = 1;

/** Waiting for an attempt. */
interface WaitingState {
  readonly type: 'waiting';
  /** In the queues' time; see `dueSinceAcceptance`. */
  readonly dueAt: Instant;
  /** Scheduled attempts made so far. */
  readonly attempted: number;
}

/** Waiting until the notifications of its run that came before it are over. */
interface BehindState {
  readonly type: 'behind';
}

/** Over, one way or the other, since a time of the wall clock. */
export type SettledState =
  | { readonly type: 'delivered'; readonly at: Instant }
  /** E-mail: some recipients have received it, others were refused permanently, or put off until there were no more attempts. */
  | { readonly type: 'partly_delivered'; readonly at: Instant }
  | { readonly type: 'dead'; readonly at: Instant; readonly reason: 'exhausted' | 'permanent' | 'expired' }
  | { readonly type: 'cancelled'; readonly at: Instant; readonly reason: CancelReason };

const cancelReasons = ['configuration_disabled', 'configuration_deleted', 'no_recipients', 'content_erased'] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** One attempt outside the schedule is due; when it fails, everything is as it was before. */
interface ManualState {
  readonly type: 'manual';
  /** Always 0: it precedes everything else in the queue. */
  readonly dueAt: 0;
  readonly requestedAt: Instant;
  readonly before: WaitingState | BehindState | SettledState;
}

export type DeliveryState = WaitingState | BehindState | ManualState | SettledState;

/** What a caller sees of the state. */
export const deliveryOutcomes = ['pending', 'delivered', 'partly_delivered', 'dead', 'cancelled'] as const;
/** One of `deliveryOutcomes`. */
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

export function outcomeOf(state: DeliveryState): DeliveryOutcome {
  return isUnfinished(state) ? 'pending' : (state as SettledState).type;
}

export function isUnfinished(state: DeliveryState): state is WaitingState | BehindState | ManualState {
  return state.type === 'waiting' || state.type === 'behind' || state.type === 'manual';
}

/** One event on its way to one configuration. */
export interface Delivery {
  readonly configurationId: string;
  /** The event's; together with the configuration it names the delivery. */
  readonly sequence: number;
  readonly id: string;
  readonly eventId: string;
  readonly workspaceId: string;
  readonly kind: DestinationKind;
  readonly trigger: string;
  /** See `orderKeyOf`; null also when the settings ask for no order. */
  readonly orderKey: string | null;
  readonly createdAt: Instant;
  readonly state: DeliveryState;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly Attempt[];
  /** E-mail only. */
  readonly recipients?: readonly RecipientResult[];
  /** The event's, which its attempts hand on. */
  readonly traceparent?: string;
  /** The body that was sent, kept from the first failure on, so that every repetition sends the same bytes. */
  readonly body?: string;
  /** Set when the content of its event was erased: there is nothing left to send. */
  readonly erased?: true;
}

/**
 * The deliveries to which something has happened. One that has only been accepted is made of its event (`freshDelivery`)
 * and has no row: accepting an event writes one row whatever the number of its destinations. Indexes hold what is
 * unfinished or ended without success, so a delivery that succeeds at once is a single small write.
 */
export const deliveries = table<Delivery>(
  'notification_deliveries',
  deliveryKey,
  {
    /** What has a time for its next attempt, next first. */
    due: {
      version: 1,
      key: ({ configurationId, state, sequence }) =>
        'dueAt' in state ? [configurationId, state.dueAt, sequence] : undefined,
    },
    /** Unfinished ones in order of acceptance. */
    unfinished: {
      version: 1,
      key: ({ configurationId, state, sequence }) => (isUnfinished(state) ? [configurationId, sequence] : undefined),
    },
    /** Unfinished ones of a run: of each, exactly the first is not `behind`. */
    unfinished_of_run: {
      version: 1,
      key: ({ configurationId, state, orderKey, sequence }) =>
        orderKey !== null && isInOrder(state) ? [configurationId, orderKey, sequence] : undefined,
    },
    /** Ended without success, for the log's filter and for recovery. */
    failed: {
      version: 1,
      key: ({ configurationId, state, sequence }) =>
        state.type === 'dead' || state.type === 'cancelled' || state.type === 'partly_delivered'
          ? [configurationId, state.type, state.at, sequence]
          : undefined,
    },
  },
  { grows: true },
);

export function deliveryKey({ configurationId, sequence }: Pick<Delivery, 'configurationId' | 'sequence'>): Key {
  return [configurationId, sequence];
}

/** Whether later notifications of the run wait for it. They do not wait for a redelivery of a finished one. */
export function isInOrder(state: DeliveryState): boolean {
  const scheduled = state.type === 'manual' ? state.before : state;
  return scheduled.type === 'waiting' || scheduled.type === 'behind';
}

/** Recipients whose mail the server has taken. */
export function acceptedOf(recipients: readonly RecipientResult[] | null | undefined): number {
  return recipients?.filter(({ outcome }) => outcome === 'accepted').length ?? 0;
}

/** The attempts with one more, numbered after the last one. */
export function withAttempt(attempts: readonly Attempt[], attempt: Omit<Attempt, 'number'>): readonly Attempt[] {
  const number = (attempts.at(-1)?.number ?? 0) + 1;
  return [...attempts.slice(1 - keptAttempts), { ...attempt, number }];
}

/** The delivery without what its event said and what was answered: a record that there were attempts. */
export function withoutContents({ body: _body, recipients, ...kept }: Delivery): Delivery {
  return {
    ...kept,
    erased: true,
    attempts: kept.attempts.map((attempt) => ({ ...attempt, headers: {}, body: '' })),
    ...(recipients === undefined ? {} : { recipients: recipients.map((result) => ({ ...result, message: null })) }),
  };
}
