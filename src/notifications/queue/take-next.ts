import { minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { acceptedOf } from '../delivery/delivery.js';
import { type DeliveryEvent, transitionDelivery } from '../delivery/transition-delivery.js';
import { breakerAllows } from './circuit-breaker.js';
import type { DeliveringQueue, HeldQueue, Outcome, QueuedDelivery, QueueRules } from './held-queue.js';

/** One point in time, by both clocks of a queue. */
export interface QueueTime {
  /** Queue time, which never steps, for waits and pauses. */
  readonly now: Instant;
  /** Wall time, for displayed end times. */
  readonly wall: Instant;
}

/** The time for ages: the earlier of both, so that setting the clock forward expires nothing. */
export function timeForAge({ now, wall }: QueueTime): Instant {
  return Math.min(now, wall);
}

/** The next delivery of a queue, and the queue after the choice. */
interface NextDelivery {
  /** The queue without the deliveries at its front that cannot be sent: expired, or moved behind their run. */
  readonly queue: DeliveringQueue;
  /** Null when nothing can start now. */
  readonly candidate: QueuedDelivery | null;
  /** When the next can start without another event; null when none can. */
  readonly until: Instant | null;
}

/**
 * The next delivery of the queue. Redeliveries come first and ignore an open breaker. Then the one that was due
 * first. A pause and an open breaker allow none, a half-open breaker a single attempt at a time. A notification waits behind an
 * unfinished earlier one of its run: in memory during an attempt at that one, in the store while that one waits for a
 * retry.
 */
export function takeNext(given: DeliveringQueue, time: QueueTime, rules: QueueRules): NextDelivery {
  const { now } = time;
  let queue = given;
  for (;;) {
    const [urgent] = queue.urgent;
    if (urgent !== undefined) return { queue, candidate: urgent, until: null };
    const candidate = earliest(queue);
    if (candidate === undefined) return { queue, candidate: null, until: null };
    if (expiresAt(candidate, rules) <= timeForAge(time)) {
      queue = expired(queue, candidate, time.wall);
      continue;
    }
    const allowed = queue.paused ? 'none' : breakerAllows(queue.breaker, now);
    if (allowed === 'none') return { queue, candidate: null, until: pauseEnd(queue, time, rules) };
    if (allowed === 'one' && queue.running.size > 0) return { queue, candidate: null, until: null };
    if (isFirstOfRun(queue, candidate)) return { queue, candidate, until: null };
    queue = putBehind(withoutFirst(queue, candidate), candidate);
  }
}

/** The queue after the attempt at `takeNext`'s candidate has started. */
export function started(queue: DeliveringQueue, candidate: QueuedDelivery): DeliveringQueue {
  const { delivery } = candidate;
  const without = withoutFirst(queue, candidate);
  const running = queue.running.with(delivery.sequence, candidate);
  if (delivery.orderKey === null || delivery.state.type === 'manual') return { ...without, running };
  const key = delivery.orderKey;
  const wasStored = queue.storedHeads.has(key);
  const run = queue.runs.get(key) ?? { head: delivery.sequence, waiting: [], storedBehind: wasStored };
  const storedHeads = wasStored ? withoutKey(queue.storedHeads, key) : queue.storedHeads;
  return { ...without, running, storedHeads, runs: queue.runs.with(key, run) };
}

/** When a delivery accepted at `createdAt` expires, in queue time. */
export function endByAge(createdAt: Instant, time: QueueTime, { maximumAge }: Pick<QueueRules, 'maximumAge'>): Instant {
  return time.now + createdAt + maximumAge - timeForAge(time);
}

/** When a delivery expires, in the time of `timeForAge`. */
export function expiresAt({ delivery }: QueuedDelivery, { maximumAge }: Pick<QueueRules, 'maximumAge'>): Instant {
  return delivery.createdAt + maximumAge;
}

/** The first by due time, then by acceptance. */
function earliest({ retries, fresh }: DeliveringQueue): QueuedDelivery | undefined {
  const [retry] = retries;
  const [first] = fresh;
  if (retry === undefined || first === undefined) return retry ?? first;
  const [due, accepted] = [dueAt(retry), first.delivery.createdAt];
  return due < accepted || (due === accepted && retry.delivery.sequence < first.delivery.sequence) ? retry : first;
}

function dueAt({ delivery }: QueuedDelivery): Instant {
  return delivery.state.type === 'waiting' ? delivery.state.dueAt : delivery.createdAt;
}

function isFirstOfRun({ runs, storedHeads }: DeliveringQueue, { delivery }: QueuedDelivery): boolean {
  if (delivery.orderKey === null) return true;
  const head = runs.get(delivery.orderKey)?.head ?? storedHeads.get(delivery.orderKey);
  return head === undefined || delivery.sequence <= head;
}

/** The end of the breaker's pause, or the first expiry of a delivery before that. */
function pauseEnd(queue: DeliveringQueue, time: QueueTime, rules: QueueRules): Instant {
  const [first] = queue.fresh;
  const inFront = first === undefined ? queue.retries : [...queue.retries, first];
  const ends = inFront.map((item) => Math.max(endByAge(item.delivery.createdAt, time, rules), time.now + leastPause));
  const probe = queue.breaker.type === 'open' && !queue.paused ? queue.breaker.until : Number.POSITIVE_INFINITY;
  return Math.min(probe, ...ends);
}

/** The shortest time between two checks of ages while nothing can be sent. */
const leastPause = minute;

function withoutFirst(queue: DeliveringQueue, item: QueuedDelivery): DeliveringQueue {
  if (queue.fresh[0] === item) return { ...queue, fresh: queue.fresh.slice(1) };
  if (queue.retries[0] === item) return { ...queue, retries: queue.retries.slice(1) };
  return { ...queue, urgent: queue.urgent.filter((each) => each !== item) };
}

/** The most notifications of one run that wait in memory behind an attempt; others wait in the store. */
const mostWaiting = 64;

function putBehind(queue: DeliveringQueue, item: QueuedDelivery): DeliveringQueue {
  const key = item.delivery.orderKey as string;
  const run = queue.runs.get(key);
  if (run === undefined || run.storedBehind) return withRowsBehind(queue, [item]);
  const waiting = [...run.waiting, item];
  if (waiting.length <= mostWaiting) return { ...queue, runs: queue.runs.with(key, { ...run, waiting }) };
  const runs = queue.runs.with(key, { ...run, waiting: [], storedBehind: true });
  // The head gets its row first: a stored delivery must not wait behind one that is not stored.
  return withRowsBehind(withRowsUnderWay({ ...queue, runs }, [run.head]), waiting);
}

/** The queue with rows to write for items behind the heads of their runs. */
export function withRowsBehind(queue: DeliveringQueue, items: readonly QueuedDelivery[]): DeliveringQueue {
  const outcomes = items.map((item) => outcomeOf(item, { type: 'put_behind' }));
  return { ...queue, outcomes: [...queue.outcomes, ...outcomes] };
}

/** The queue with rows to write for attempts in progress, so that others can refer to them and the position can pass them. */
export function withRowsUnderWay<Q extends HeldQueue>(queue: Q, sequences: readonly number[]): Q {
  let { running } = queue;
  const outcomes: Outcome[] = [];
  for (const sequence of sequences) {
    const before = running.get(sequence);
    if (before === undefined || before.stored) continue;
    running = running.with(sequence, { ...before, stored: true });
    outcomes.push({ before, event: null, attempt: null, after: before.delivery });
  }
  return outcomes.length === 0 ? queue : { ...queue, running, outcomes: [...queue.outcomes, ...outcomes] };
}

/** The outcome of an event other than an attempt. */
export function outcomeOf(before: QueuedDelivery, event: DeliveryEvent): Outcome {
  const { delivery } = before;
  const state = transitionDelivery(delivery.state, event).unwrapOr(delivery.state);
  return { before, event, attempt: null, after: { ...delivery, state } };
}

function expired(given: DeliveringQueue, item: QueuedDelivery, wall: Instant): DeliveringQueue {
  const queue = withoutFirst(given, item);
  const outcome = outcomeOf(item, { type: 'expired', at: wall, partly: acceptedOf(item.delivery.recipients) > 0 });
  return runContinues({ ...queue, outcomes: [...queue.outcomes, outcome] }, item);
}

/** The queue after a delivery is finished: the next notification of its run becomes the head. */
export function runContinues(queue: DeliveringQueue, { delivery }: QueuedDelivery): DeliveringQueue {
  const { orderKey: key, sequence } = delivery;
  if (key === null) return queue;
  const run = queue.runs.get(key);
  const released = (): DeliveringQueue => ({ ...queue, releases: new Set(queue.releases).add(key) });
  if (run === undefined) return queue.storedHeads.get(key) === sequence ? released() : queue;
  if (run.head !== sequence) return queue;
  if (run.storedBehind) return released();
  const [next, ...waiting] = run.waiting;
  if (next === undefined) return { ...queue, runs: queue.runs.without(key) };
  const runs = queue.runs.with(key, { head: next.delivery.sequence, waiting, storedBehind: false });
  return { ...withReady(queue, next), runs };
}

function withoutKey<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

/** Inserts a delivery at its place in the order. */
export function withReady(queue: DeliveringQueue, item: QueuedDelivery): DeliveringQueue {
  if (item.delivery.state.type === 'manual') return { ...queue, urgent: [...queue.urgent, item] };
  const order = item.stored
    ? (a: QueuedDelivery, b: QueuedDelivery) => dueAt(a) - dueAt(b) || a.delivery.sequence - b.delivery.sequence
    : (a: QueuedDelivery, b: QueuedDelivery) => a.delivery.sequence - b.delivery.sequence;
  const list = item.stored ? queue.retries : queue.fresh;
  const index = list.findIndex((each) => order(item, each) < 0);
  const sorted = index < 0 ? [...list, item] : list.toSpliced(index, 0, item);
  return item.stored ? { ...queue, retries: sorted } : { ...queue, fresh: sorted };
}
