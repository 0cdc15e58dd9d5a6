import type { Hold } from '../../queue/process.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type Key, table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import type { FailureClass } from './classify-failure.js';

/** One attempt in the delivery log. Holds no secret: of the destination, scheme and host only. */
export interface Attempt {
  /** From 1, counted over the life of the delivery. */
  readonly number: number;
  /** Requested explicitly, outside the schedule. */
  readonly manual: boolean;
  /** Wall time of the start. */
  readonly startedAt: Instant;
  /** From the start to the response headers, in milliseconds; null without a response. */
  readonly headersAfter: Milliseconds | null;
  /** Duration, in milliseconds. */
  readonly total: Milliseconds;
  /** Scheme and host of the destination. */
  readonly destination: string;
  /** The connected IP address; null without a connection. */
  readonly address: string | null;
  /** The HTTP status code; null without a response. */
  readonly status: number | null;
  /** Response headers, by lower-case name; credentials are replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Response body, cut at `maximumResponseBytes` of the settings. */
  readonly body: string;
  /** Whether the body was cut. */
  readonly truncated: boolean;
  /** The request as sent; absent for e-mail, and when nothing was to be sent or an earlier version made the attempt. */
  readonly request?: {
    readonly method: string;
    /** By lower-case name, without those of the transport; what proves or identifies the sender is `[redacted]`. */
    readonly headers: Readonly<Record<string, string>>;
    /** Size of the body in bytes. */
    readonly bodyBytes: number;
  };
  /** Null after a success. */
  readonly failure: { readonly class: FailureClass; readonly message: string } | null;
}

/** Attempts kept per delivery: more than any schedule has, so that only redeliveries displace old ones. */
const keptAttempts = 50;

/** The result of an e-mail for one recipient. */
export interface RecipientResult {
  readonly userId: string;
  /**
   * `refused`: the mail server refused it permanently. `waiting`: the next attempt sends it to this recipient; after the end of the
   * delivery only a redelivery does.
   */
  readonly outcome: 'accepted' | 'refused' | 'waiting';
  /** The reason, as the mail server reported it; null when accepted. */
  readonly message: string | null;
  /** When the mail server responded. */
  readonly at: Instant;
}

/**
 * The due time of a delivery without attempts: due immediately. Its time of acceptance is wall time, which can be far from
 * queue time. Not 0, which is for redeliveries.
 */
export const dueSinceAcceptance: Instant = 1;

/** Waiting for an attempt. */
interface WaitingState {
  readonly type: 'waiting';
  /** In queue time; see `dueSinceAcceptance`. */
  readonly dueAt: Instant;
  /** Scheduled attempts made so far. */
  readonly attempted: number;
}

/** Waiting until the earlier notifications of its run are finished. */
interface BehindState {
  readonly type: 'behind';
}

/** Finished, since a wall time. */
export type SettledState =
  | { readonly type: 'delivered'; readonly at: Instant }
  /** E-mail: accepted for some recipients; for the others refused permanently, or deferred until the last attempt. */
  | { readonly type: 'partly_delivered'; readonly at: Instant }
  | { readonly type: 'dead'; readonly at: Instant; readonly reason: 'exhausted' | 'permanent' | 'expired' }
  | { readonly type: 'cancelled'; readonly at: Instant; readonly reason: CancelReason };

const cancelReasons = ['configuration_disabled', 'configuration_deleted', 'no_recipients', 'content_erased'] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** One attempt outside the schedule is due; if it fails, the state before is restored. */
interface ManualState {
  readonly type: 'manual';
  /** Always 0: it precedes everything else in the queue. */
  readonly dueAt: 0;
  readonly requestedAt: Instant;
  readonly before: WaitingState | BehindState | SettledState;
}

export type DeliveryState = WaitingState | BehindState | ManualState | SettledState;

/** The state as shown to callers. */
export const deliveryOutcomes = ['pending', 'delivered', 'partly_delivered', 'dead', 'cancelled'] as const;
/** One of `deliveryOutcomes`. */
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

export function outcomeOf(state: DeliveryState): DeliveryOutcome {
  return isUnfinished(state) ? 'pending' : (state as SettledState).type;
}

export function isUnfinished(state: DeliveryState): state is WaitingState | BehindState | ManualState {
  return state.type === 'waiting' || state.type === 'behind' || state.type === 'manual';
}

/** One event on its way to one configuration. While an attempt is under way it has a holder. */
export interface Delivery extends Hold {
  /** The key of its row; absent when the event was accepted by a version whose keys were configuration and sequence. */
  readonly number?: number | undefined;
  readonly configurationId: string;
  /** The event's sequence number; with the configuration it identifies the delivery. */
  readonly sequence: number;
  readonly id: string;
  readonly eventId: string;
  readonly workspaceId: string;
  readonly kind: DestinationKind;
  readonly trigger: string;
  /** See `orderKeyOf`; null also when ordering is disabled. */
  readonly orderKey: string | null;
  readonly createdAt: Instant;
  readonly state: DeliveryState;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly Attempt[];
  /** E-mail only. */
  readonly recipients?: readonly RecipientResult[];
  /** The event's trace context, which its attempts pass on. */
  readonly traceparent?: string;
  /** The sent body, kept from the first failure on, so that every retry sends the same bytes. */
  readonly body?: string;
  /** Its event is a sample. */
  readonly sample?: true;
  /** Set when the event's content was erased, so that nothing can be sent. */
  readonly erased?: true;
}

/**
 * One row for each event and configuration, written with the event. Most are delivered as they are accepted and soon recorded: indexes that
 * are not read for each delivery are extended late, so that such a row never enters them.
 */
export const deliveries = table<Delivery>(
  'notification_deliveries',
  deliveryKey,
  {
    /** What may be claimed, by due time. */
    due: {
      version: 3,
      key: ({ configurationId, state, sequence, holder }) =>
        holder === undefined && 'dueAt' in state ? [configurationId, state.dueAt, sequence] : undefined,
    },
    /** Unfinished deliveries by run; in each run, at most the first is not `behind`. */
    of_run: {
      version: 1,
      key: ({ configurationId, state, orderKey, sequence }) =>
        orderKey !== null && isInOrder(state) ? [configurationId, orderKey, sequence] : undefined,
      lazy: 32,
    },
    /** Those that wait for an earlier one of their run. Usually there are none, which is known without a look at the runs. */
    behind: {
      version: 1,
      key: ({ configurationId, state, orderKey, sequence }) =>
        state.type === 'behind' ? [configurationId, orderKey, sequence] : undefined,
    },
    /** What somebody works on: never many. */
    held: { version: 1, key: ({ sequence, holder }) => (holder === undefined ? undefined : [sequence]), lazy: 128 },
    /** Unfinished deliveries in order of acceptance. */
    unfinished: {
      version: 3,
      key: ({ configurationId, state, sequence }) => (isUnfinished(state) ? [configurationId, sequence] : undefined),
      lazy: 128,
    },
    /** Failed deliveries, for the log's filter and for recovery. */
    failed: {
      version: 1,
      key: ({ configurationId, state, sequence }) =>
        state.type === 'dead' || state.type === 'cancelled' || state.type === 'partly_delivered'
          ? [configurationId, state.type, state.at, sequence]
          : undefined,
    },
    log: { version: 1, key: ({ configurationId, sequence }) => [configurationId, sequence], lazy: 128 },
  },
  { grows: true, numbered: true },
);

/** The name of their queue in the rows of processes. */
export const queueName = 'deliveries';

export function deliveryKey({ number, configurationId, sequence }: DeliveryPlace): Key {
  return number === undefined ? [configurationId, sequence] : [number];
}

type DeliveryPlace = Pick<Delivery, 'number' | 'configurationId' | 'sequence'>;

/** Whether later notifications of the run wait for it. They do not wait for a redelivery of a finished delivery. */
export function isInOrder(state: DeliveryState): boolean {
  const scheduled = state.type === 'manual' ? state.before : state;
  return scheduled.type === 'waiting' || scheduled.type === 'behind';
}

/** The number of recipients for whom the mail server accepted the mail. */
export function acceptedOf(recipients: readonly RecipientResult[] | null | undefined): number {
  return recipients?.filter(({ outcome }) => outcome === 'accepted').length ?? 0;
}

/** Appends an attempt, numbered after the last one. */
export function withAttempt(attempts: readonly Attempt[], attempt: Omit<Attempt, 'number'>): readonly Attempt[] {
  const number = (attempts.at(-1)?.number ?? 0) + 1;
  return [...attempts.slice(1 - keptAttempts), { ...attempt, number }];
}

/** The delivery without the content of event and responses: a record of its attempts. */
export function withoutContents({ body: _body, recipients, ...kept }: Delivery): Delivery {
  return {
    ...kept,
    erased: true,
    attempts: kept.attempts.map((attempt) => ({ ...attempt, headers: {}, body: '' })),
    ...(recipients === undefined ? {} : { recipients: recipients.map((result) => ({ ...result, message: null })) }),
  };
}

/*
 * Events and deliveries are found by ID without an index of IDs: the ID contains the sequence number of the event, and
 * the ID of a delivery also the position of its configuration in the event. The rest of the id is random, so that ids of two
 * stores differ although both count from the beginning.
 */

const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** 58^10 is more than 2^53, so ten digits hold every sequence, and ids of equal length sort by age. */
const sequenceDigits = 10;
const positionDigits = 2;
const saltDigits = 6;
const idPattern = /^n[ed]-[0-9A-Za-z]{16}$/;

/** Most deliveries that one event can have. */
export const mostDeliveriesOfEvent = 58 ** positionDigits;

/** The id of an event; `random` is an identifier whose last characters are random. */
export function eventIdOf(sequence: number, random: string): string {
  return `ne-${digitsOf(sequence, sequenceDigits)}${random.slice(-saltDigits)}`;
}

/** The id of the delivery at a position of its event's list of configurations. */
export function deliveryIdOf(eventId: string, position: number): string {
  const sequence = eventId.slice(3, 3 + sequenceDigits);
  return `nd-${sequence}${digitsOf(position, positionDigits)}${eventId.slice(positionDigits - saltDigits)}`;
}

/** The sequence in an event's or a delivery's id; null when it cannot be such an id. */
export function sequenceFromId(id: string): number | null {
  return idPattern.test(id) ? numberFrom(id.slice(3, 3 + sequenceDigits)) : null;
}

/** The range of sequences of the events whose ids, or those of whose deliveries, begin with a string; null when none can. */
export function sequencesFromPrefix(prefix: string): readonly [from: number, to: number] | null {
  if (!/^n[ed]-[0-9A-Za-z]{0,16}$/.test(prefix)) return null;
  const known = prefix.slice(3, 3 + sequenceDigits);
  const from = numberFrom(known.padEnd(sequenceDigits, digits[0]));
  const to = (from ?? 0) + 58 ** (sequenceDigits - known.length);
  return from === null ? null : [from, Math.min(Number.MAX_SAFE_INTEGER, to)];
}

/** The position in a delivery's id; null when it cannot be such an id. */
export function positionFromDeliveryId(id: string): number | null {
  const from = 3 + sequenceDigits;
  return idPattern.test(id) && id.startsWith('nd-') ? numberFrom(id.slice(from, from + positionDigits)) : null;
}

function digitsOf(value: number, length: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 58)) text = (digits[rest % 58] as string) + text;
  return text.padStart(length, digits[0]);
}

function numberFrom(text: string): number | null {
  let value = 0;
  for (const character of text) {
    const digit = digits.indexOf(character);
    if (digit < 0) return null;
    value = value * 58 + digit;
  }
  return Number.isSafeInteger(value) ? value : null;
}
