import type { Instant } from '../../shared/instant.js';
import { type Failure, isOfDestination } from '../delivery/classify-failure.js';
import { type AttemptReport, type AttemptRules, concludeAttempt } from '../delivery/conclude-attempt.js';
import { acceptedOf, type CancelReason, type Delivery, isInOrder, isUnfinished } from '../delivery/delivery.js';
import { type AdaptiveLimit, afterAnswer, afterOverload, isOverload } from './adaptive-limit.js';
import { afterFailure, afterSuccess, type Breaker } from './circuit-breaker.js';
import {
  type CancellingQueue,
  type DeliveringQueue,
  type HeldQueue,
  knownSequences,
  type Outcome,
  type QueuedDelivery,
  type QueueRules,
  reopened,
} from './held-queue.js';
import type { Blockage, Cancellation, QueueRecord } from './queue-record.js';
import {
  expiresAt,
  outcomeOf,
  runContinues,
  timeForAge,
  withReady,
  withRowsBehind,
  withRowsUnderWay,
} from './take-next.js';

/** The result of reading a queue. */
export interface Portion {
  /** Due rows, including redeliveries; for a queue that is being cancelled, any unfinished rows. */
  readonly rows: readonly Delivery[];
  /** Deliveries without a row, in order, after the queue's `readThrough`. */
  readonly fresh: readonly QueuedDelivery[];
  readonly readThrough: number;
  /** Whether all events have been read. */
  readonly complete: boolean;
  /** When the next unread row is due. */
  readonly nextDue: Instant | null;
  /** Runs whose head waits in the store, with its sequence: all of them, or those of `fresh`. */
  readonly storedHeads: ReadonlyMap<string, number>;
  readonly runsRead: DeliveringQueue['runsRead'];
  /**
   * The runs among them whose head is still `behind`: the notification before it finished without releasing it, as when an engine that had
   * lost the lease stored a success.
   */
  readonly unreleased: readonly string[];
}

/** The result of writing outcomes. */
export interface Recorded {
  /** The number of outcomes written. */
  readonly count: number;
  readonly position: number;
  /** For each released run, its next notification and due time; null when the store had none. */
  readonly released: ReadonlyMap<string, { readonly sequence: number; readonly dueAt: Instant } | null>;
}

export type QueueEvent =
  /** Read from the store. */
  | { readonly type: 'filled'; readonly portion: Portion }
  /** Accepted since the last read, in order; complete up to `through`. */
  | { readonly type: 'arrived'; readonly fresh: readonly QueuedDelivery[]; readonly through: number }
  | {
      readonly type: 'attempted';
      readonly sequence: number;
      readonly report: AttemptReport;
      readonly at: Instant;
      /** The same time by the wall clock. */
      readonly wall: Instant;
      /** In [0, 1), for jitter. */
      readonly fraction: number;
    }
  /** Not sent, because the configuration is disabled or deleted. `at` is wall time. */
  | { readonly type: 'not_sent'; readonly sequence: number; readonly at: Instant; readonly reason: CancelReason }
  | { readonly type: 'recorded'; readonly recorded: Recorded }
  /** Long-running attempts get a row, so that the position can pass them. */
  | { readonly type: 'attempts_take_long'; readonly sequences: readonly number[] }
  /** Another writer has changed the queue or its rows. */
  | { readonly type: 'touched'; readonly record: QueueRecord }
  /** The configuration is disabled or deleted. */
  | { readonly type: 'closed'; readonly cancellation: Cancellation }
  | { readonly type: 'lost' };

/** All transitions of a queue in memory, except taking a delivery off its front (`takeNext`, `started`). */
export function transitionQueue(queue: HeldQueue, event: QueueEvent, rules: QueueRules & AttemptRules): HeldQueue {
  switch (event.type) {
    case 'filled':
      if (queue.type === 'delivering') return filled(queue, event.portion);
      return queue.type === 'cancelling' ? cancelled(queue, event.portion) : queue;
    case 'arrived':
      return queue.type === 'delivering' ? arrived(queue, event.fresh, event.through, rules) : queue;
    case 'attempted':
      return attempted(queue, event, rules);
    case 'not_sent':
      return notSent(queue, event);
    case 'recorded':
      return recorded(queue, event.recorded);
    case 'attempts_take_long':
      return withRowsUnderWay(queue, event.sequences);
    case 'touched':
      return queue.type === 'lost' ? queue : reopened(event.record, queue.limit, { releases: none, ...queue });
    case 'closed':
      return queue.type === 'delivering' ? closed(queue, event.cancellation) : queue;
    case 'lost': {
      const { configurationId, workspaceId, running, outcomes } = queue;
      return { type: 'lost', configurationId, workspaceId, running, outcomes, unconfirmed: queue.unconfirmed };
    }
  }
}

const none: ReadonlySet<string> = new Set();

function filled(queue: DeliveringQueue, portion: Portion): DeliveringQueue {
  const known = knownSequences(queue);
  const fresh = portion.fresh.filter(({ delivery }) => !known.has(delivery.sequence));
  const read: DeliveringQueue = {
    ...queue,
    readThrough: portion.readThrough,
    complete: portion.complete,
    nextDue: portion.nextDue,
    fresh: [...queue.fresh, ...fresh],
    runsRead: portion.runsRead,
  };
  const withHeads = queue.runsRead === 'unread' ? withRunsOfStore(read, portion) : withStoredHeads(read, portion);
  return portion.rows
    .filter((row) => !known.has(row.sequence) && !isBeingReleased(queue, row))
    .reduce((next, row) => withReady(next, { delivery: row, stored: true, event: null }), withHeads);
}

/**
 * A read may see the effects of a write before its completion is reported here. Until then the run has another head here; it is
 * read again afterwards.
 */
function isBeingReleased({ releases }: DeliveringQueue, { orderKey, state }: Delivery): boolean {
  return orderKey !== null && state.type !== 'manual' && releases.has(orderKey);
}

/** Runs as stored, corrected by the newer state in memory: outcomes that are not written yet, and attempts in progress. */
function withRunsOfStore(queue: DeliveringQueue, { storedHeads: stored, unreleased }: Portion): DeliveringQueue {
  const storedHeads = new Map(stored);
  const releases = new Set(queue.releases);
  let { runs } = queue;
  for (const { after } of queue.outcomes) {
    const { orderKey, sequence, state } = after;
    if (orderKey === null) continue;
    if (state.type === 'waiting') storedHeads.set(orderKey, Math.min(sequence, storedHeads.get(orderKey) ?? sequence));
    else if (!isInOrder(state) && storedHeads.get(orderKey) === sequence) releases.add(orderKey);
  }
  for (const { delivery } of queue.running.values()) {
    const { orderKey, sequence, state } = delivery;
    if (orderKey === null || state.type === 'manual') continue;
    runs = runs.with(orderKey, { head: sequence, waiting: [], storedBehind: true });
    storedHeads.delete(orderKey);
  }
  for (const key of unreleased) if (storedHeads.get(key) === stored.get(key)) releases.add(key);
  return { ...queue, runs, storedHeads, releases };
}

function withStoredHeads(queue: DeliveringQueue, { storedHeads: read, unreleased }: Portion): DeliveringQueue {
  if (read.size === 0) return queue;
  const storedHeads = new Map(queue.storedHeads);
  for (const [key, head] of read) if (!queue.runs.has(key)) storedHeads.set(key, head);
  // Runs with an attempt in progress here have another head.
  const released = unreleased.filter((key) => !queue.runs.has(key));
  return { ...queue, storedHeads, releases: new Set([...queue.releases, ...released]) };
}

function cancelled(queue: CancellingQueue, portion: Portion): CancellingQueue {
  const known = knownSequences(queue);
  const { at, reason } = queue.cancellation;
  const rows = portion.rows.map((delivery) => ({ delivery, stored: true, event: null }));
  const found = [...rows, ...portion.fresh].filter(({ delivery }) => !known.has(delivery.sequence));
  const outcomes = found.map((item) => outcomeOf(item, { type: 'cancelled', at, reason }));
  return {
    ...queue,
    readThrough: portion.readThrough,
    complete: portion.complete && found.length === 0,
    outcomes: [...queue.outcomes, ...outcomes],
  };
}

function closed(queue: DeliveringQueue, cancellation: Cancellation): CancellingQueue {
  const { configurationId, workspaceId, running, outcomes, unconfirmed, position } = queue;
  const { breaker, failingSince, blockage, limit } = queue;
  const held = { configurationId, workspaceId, running, outcomes, unconfirmed, position };
  const known = { breaker, failingSince, blockage, limit };
  return { ...held, ...known, type: 'cancelling', readThrough: position, cancellation, complete: false };
}

function arrived(
  queue: DeliveringQueue,
  given: readonly QueuedDelivery[],
  through: number,
  rules: QueueRules,
): DeliveringQueue {
  if (!queue.complete || through <= queue.readThrough) return queue;
  const fresh = given.filter(({ delivery }) => delivery.sequence > queue.readThrough);
  if (fresh.length === 0) return { ...queue, readThrough: through };
  // The head of a run may be only in the store: such a queue is read from there.
  if (queue.runsRead !== 'whole' || queue.fresh.length + fresh.length > rules.window) {
    return { ...queue, complete: false };
  }
  return { ...queue, fresh: [...queue.fresh, ...fresh], readThrough: through };
}

function attempted(
  queue: HeldQueue,
  { sequence, report, at, wall, fraction }: QueueEvent & { readonly type: 'attempted' },
  rules: QueueRules & AttemptRules,
): HeldQueue {
  const before = queue.running.get(sequence);
  if (before === undefined) return queue;
  const timeLeft = expiresAt(before, rules) - timeForAge({ now: at, wall });
  const end = { at, wall, fraction, timeLeft };
  const concluded = concludeAttempt(before.delivery, report, rules, end);
  const outcome = queue.type === 'cancelling' ? notAgain(queue, { before, ...concluded }) : { before, ...concluded };
  const ended = withOutcome(withoutRunning(queue, sequence), outcome);
  if (ended.type === 'lost') return ended;
  const full = queue.running.size >= ended.limit.limit;
  const failure = failureOfDestination(before.delivery, report);
  const assessed = {
    ...ended,
    breaker: failure === undefined ? ended.breaker : nextBreaker(ended.breaker, failure, at, rules),
    failingSince: failure === undefined ? ended.failingSince : failure === null ? null : (ended.failingSince ?? at),
    blockage: nextBlockage(ended.blockage, report.failure, at),
    limit: nextLimit(ended.limit, report, { full, at }, rules),
  };
  return assessed.type === 'delivering' ? runAfterAttempt(assessed, before, concluded.after) : assessed;
}

/** After its configuration was disabled or deleted, an attempt in progress is the last one. */
function notAgain({ cancellation }: CancellingQueue, outcome: Outcome): Outcome {
  if (!isUnfinished(outcome.after.state)) return outcome;
  const { at, reason } = cancellation;
  const ended = outcomeOf({ ...outcome.before, delivery: outcome.after }, { type: 'cancelled', at, reason });
  return { ...ended, before: outcome.before, attempt: outcome.attempt };
}

/**
 * The failure of the destination according to the attempt: null when it works, undefined when unknown. A failed redelivery is
 * ignored, because scheduled attempts find out the same. A mail server that accepted the mail for one recipient works: it defers
 * others for their own reasons, such as a full mailbox, and the mails of other events must not wait for that.
 */
function failureOfDestination(
  { state, recipients: earlier }: Delivery,
  { failure, recipients }: AttemptReport,
): Failure | null | undefined {
  if (failure === null) return null;
  const accepted = acceptedOf(recipients);
  if (accepted > acceptedOf(earlier)) return null;
  return accepted > 0 || state.type === 'manual' || !isOfDestination(failure) ? undefined : failure;
}

/** A failure on the sender's side blocks until an attempt reaches the destination, with any outcome. An aborted attempt changes nothing. */
function nextBlockage(blockage: Blockage | null, failure: Failure | null, at: Instant): Blockage | null {
  if (failure === null || isOfDestination(failure)) return null;
  return failure.class === 'aborted' ? blockage : { by: failure.class, since: blockage?.since ?? at };
}

function nextBreaker(breaker: Breaker, failure: Failure | null, at: Instant, rules: QueueRules): Breaker {
  if (failure === null) return afterSuccess(breaker);
  // A refused address says nothing about the mail server.
  return failure.class === 'mail_rejected' ? breaker : afterFailure(breaker, rules.breaker, at);
}

function nextLimit(
  limit: AdaptiveLimit,
  { attempt, failure }: AttemptReport,
  { full, at }: { readonly full: boolean; readonly at: Instant },
  rules: QueueRules,
): AdaptiveLimit {
  if (failure === null) return afterAnswer(limit, full, rules.limit);
  return isOverload(failure.class, attempt.status) ? afterOverload(limit, at - attempt.total, at) : limit;
}

function runAfterAttempt(queue: DeliveringQueue, before: QueuedDelivery, after: Delivery): DeliveringQueue {
  const { orderKey, sequence } = after;
  if (orderKey === null || !isInOrder(before.delivery.state)) return queue;
  if (!isInOrder(after.state)) return runContinues(queue, before);
  const run = queue.runs.get(orderKey);
  if (before.delivery.state.type === 'manual') return runAfterRedelivery(queue, after, run !== undefined);
  if (run === undefined) return queue;
  const storedHeads = new Map(queue.storedHeads).set(orderKey, sequence);
  return withRowsBehind({ ...queue, runs: queue.runs.without(orderKey), storedHeads }, run.waiting);
}

/** A failed redelivery waits behind its run again. If the notification before it has finished since, nothing else would release it. */
function runAfterRedelivery(
  queue: DeliveringQueue,
  { orderKey, state }: Delivery,
  isHeadUnderWay: boolean,
): DeliveringQueue {
  if (orderKey === null || state.type !== 'behind' || isHeadUnderWay) return queue;
  return { ...queue, releases: new Set(queue.releases).add(orderKey) };
}

function notSent(queue: HeldQueue, { sequence, at, reason }: QueueEvent & { readonly type: 'not_sent' }): HeldQueue {
  const before = queue.running.get(sequence);
  if (before === undefined) return queue;
  const ended = withOutcome(withoutRunning(queue, sequence), outcomeOf(before, { type: 'cancelled', at, reason }));
  return ended.type === 'delivering' ? runContinues(ended, before) : ended;
}

function recorded(queue: HeldQueue, { count, position, released }: Recorded): HeldQueue {
  const written = queue.outcomes.slice(0, count);
  const outcomes = queue.outcomes.slice(count);
  const unconfirmed = new Set(queue.unconfirmed);
  for (const { before } of written) unconfirmed.delete(before.delivery.sequence);
  if (queue.type === 'lost') return { ...queue, outcomes, unconfirmed };
  if (queue.type === 'cancelling') return { ...queue, outcomes, unconfirmed, position };
  const noted = { ...queue, outcomes, unconfirmed, position, nextDue: nextDueAfter(queue, written) };
  return released.size === 0 ? noted : withReleased(noted, released);
}

/** The due time of stored deliveries after a write; changes of other writers are only in the store. */
function nextDueAfter({ nextDue, unconfirmed }: DeliveringQueue, written: readonly Outcome[]): Instant | null {
  let next = nextDue;
  for (const { before, event, after } of written) {
    if (event === null) continue;
    const dueAt = unconfirmed.has(before.delivery.sequence) ? 0 : 'dueAt' in after.state ? after.state.dueAt : null;
    if (dueAt !== null) next = Math.min(next ?? dueAt, dueAt);
  }
  return next;
}

function withReleased(queue: DeliveringQueue, released: Recorded['released']): DeliveringQueue {
  let { runs } = queue;
  const storedHeads = new Map(queue.storedHeads);
  const releases = new Set(queue.releases);
  let { nextDue } = queue;
  for (const [key, head] of released) {
    // Unwritten rows cannot be released; the next write does it.
    if (head === null && queue.outcomes.some((outcome) => isPutBehind(outcome, key))) continue;
    releases.delete(key);
    runs = runs.without(key);
    storedHeads.delete(key);
    if (head === null) continue;
    storedHeads.set(key, head.sequence);
    nextDue = Math.min(nextDue ?? head.dueAt, head.dueAt);
  }
  return { ...queue, runs, storedHeads, releases, nextDue };
}

function isPutBehind({ event, after }: Outcome, key: string): boolean {
  return event?.type === 'put_behind' && after.orderKey === key;
}

function withOutcome<Q extends HeldQueue>(queue: Q, outcome: Outcome): Q {
  return { ...queue, outcomes: [...queue.outcomes, outcome] };
}

function withoutRunning<Q extends HeldQueue>(queue: Q, sequence: number): Q {
  return { ...queue, running: queue.running.without(sequence) };
}
