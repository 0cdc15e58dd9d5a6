import type { FailureClass } from '../../../src/notifications/delivery/classify-failure.js';
import type { AttemptReport, AttemptRules } from '../../../src/notifications/delivery/conclude-attempt.js';
import type { Delivery } from '../../../src/notifications/delivery/delivery.js';
import type {
  DeliveringQueue,
  HeldQueue,
  QueuedDelivery,
  QueueRules,
} from '../../../src/notifications/queue/held-queue.js';
import { heldQueue } from '../../../src/notifications/queue/held-queue.js';
import { newQueue, type QueueRecord } from '../../../src/notifications/queue/queue-record.js';
import { started, takeNext } from '../../../src/notifications/queue/take-next.js';
import { type Portion, type QueueEvent, transitionQueue } from '../../../src/notifications/queue/transition-queue.js';

export const rules: QueueRules & AttemptRules = {
  window: 8,
  maximumAge: 100_000,
  breaker: { failures: 3, pause: 1000, maximumPause: 4000 },
  limit: { initial: 4, maximum: 8 },
  retry: { generic: [50, 100, 200], chat: [], email: [] },
  jitter: 0,
  maximumRetryAfter: 10_000,
};

export function delivery(sequence: number, run: string | null, overrides: Partial<Delivery> = {}): Delivery {
  return {
    configurationId: 'nc-1',
    sequence,
    id: `nd-${sequence}`,
    eventId: `ne-${sequence}`,
    workspaceId: 'ws-1',
    kind: 'generic',
    trigger: 'run:errored',
    orderKey: run,
    createdAt: sequence,
    state: { type: 'waiting', dueAt: sequence, attempted: 0 },
    attempts: [],
    ...overrides,
  };
}

export function fresh(sequence: number, run: string | null = null): QueuedDelivery {
  return { delivery: delivery(sequence, run), stored: false, event: null };
}

/** What was read of a queue with nothing in it but the given. */
export function portion(given: Partial<Portion> = {}): Portion {
  return {
    rows: [],
    fresh: [],
    readThrough: 1000,
    complete: true,
    nextDue: null,
    storedHeads: new Map(),
    unreleased: [],
    runsRead: 'whole',
    ...given,
  };
}

/** A queue in which these are waiting, in memory and nowhere else. */
export function queueOf(items: readonly QueuedDelivery[], given: Partial<Portion> = {}): DeliveringQueue {
  return apply(empty(), { type: 'filled', portion: portion({ fresh: items, ...given }) });
}

export function empty(record: Partial<QueueRecord> = {}): DeliveringQueue {
  return heldQueue({ ...newQueue('nc-1', 'ws-1', 0), ...record }, rules) as DeliveringQueue;
}

export function apply(queue: HeldQueue, ...events: readonly QueueEvent[]): DeliveringQueue {
  return events.reduce((next: HeldQueue, event) => transitionQueue(next, event, rules), queue) as DeliveringQueue;
}

/** Starts everything that may start at the moment; gives the sequences. */
export function startAll(given: DeliveringQueue, now = 1000): { queue: DeliveringQueue; sequences: number[] } {
  const sequences: number[] = [];
  let queue = given;
  for (;;) {
    const next = takeNext(queue, { now, wall: now }, rules);
    queue = next.queue;
    if (next.candidate === null) return { queue, sequences };
    sequences.push(next.candidate.delivery.sequence);
    queue = started(queue, next.candidate);
  }
}

export function report(failure: FailureClass | null = null, permanent = false): AttemptReport {
  return {
    attempt: {
      startedAt: 0,
      headersAfter: null,
      total: 5,
      destination: '',
      address: null,
      status: null,
      headers: {},
      body: '',
      truncated: false,
      failure: failure === null ? null : { class: failure, message: '' },
    },
    failure: failure === null ? null : { class: failure, permanent, message: '' },
    retryAfter: null,
    body: '{}',
    recipients: null,
  };
}

export function ended(sequence: number, failure: FailureClass | null = null, at = 1000): QueueEvent {
  return { type: 'attempted', sequence, report: report(failure), at, wall: at, fraction: 0.5 };
}

export function recorded(
  queue: HeldQueue,
  released: ReadonlyMap<string, { sequence: number; dueAt: number } | null> = new Map(),
): QueueEvent {
  return { type: 'recorded', recorded: { count: queue.outcomes.length, position: 0, released } };
}

/** What is to be written, in short. */
export function written(queue: HeldQueue): string[] {
  return queue.outcomes.map(
    ({ after, event }) => `${after.sequence} ${event?.type ?? 'under_way'} → ${after.state.type}`,
  );
}
