import { minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { acceptedOf } from '../delivery/delivery.js';
import { type DeliveryEvent, transitionDelivery } from '../delivery/transition-delivery.js';
import { breakerAllows } from './circuit-breaker.js';
import type { DeliveringQueue, HeldQueue, Outcome, QueuedDelivery, QueueRules } from './held-queue.js';

/** The two readings of time that a queue is checked by. */
export interface QueueTime {
  /** The queues' own time, which never steps: what waits and pauses are measured by. */
  readonly now: Instant;
  /** Wall time: when something was over, for people and for the log. */
  readonly wall: Instant;
}

/** What ages are measured by: behind `now` while the wall clock is, so that a clock that was set makes nothing old. */
export function timeForAge({ now, wall }: QueueTime): Instant {
  return Math.min(now, wall);
}

/** The next delivery of a queue, and the queue after it was determined. */
interface NextDelivery {
  /** The queue without what was found in front and may not be sent: put behind its run, or over by its age. */
  readonly queue: DeliveringQueue;
  /** Null when nothing may start now. */
  readonly candidate: QueuedDelivery | null;
  /** When time alone changes that; null when it does not. */
  readonly until: Instant | null;
}

/**
 * The next delivery of the queue. Redeliveries come first and ignore an open breaker. Then the one that has been due for
 * longest. A pause and an open breaker allow none, a half open one a single attempt at a time. A notification waits behind an
 * unfinished earlier one of its run: in memory while that is being attempted, in the store while that waits for another
 * attempt.
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

/** The queue with the candidate of `takeNext` under way. */
export function started(queue: DeliveringQueue, candidate: QueuedDelivery): DeliveringQueue {
  const { delivery } = candidate;
  const without = withoutFirst(queue, candidate);
  const running = queue.running.with(delivery.sequence, candidate);
  if (delivery.orderKey === null || delivery.state.type === 'manual') return { ...without, running };
  const key = delivery.orderKey;
  const wasStalled = queue.stalled.has(key);
  const run = queue.runs.get(key) ?? { head: delivery.sequence, waiting: [], storedBehind: wasStalled };
  const stalled = wasStalled ? withoutKey(queue.stalled, key) : queue.stalled;
  return { ...without, running, stalled, runs: queue.runs.with(key, run) };
}

/** When a delivery that was accepted then is over by its age, in the queues' time. */
export function endByAge(createdAt: Instant, time: QueueTime, { maximumAge }: Pick<QueueRules, 'maximumAge'>): Instant {
  return time.now + createdAt + maximumAge - timeForAge(time);
}

/** When a delivery is over whatever else happens, by the time for ages. */
export function expiresAt({ delivery }: QueuedDelivery, { maximumAge }: Pick<QueueRules, 'maximumAge'>): Instant {
  return delivery.createdAt + maximumAge;
}

/** With equal times the one that was accepted first. */
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

function isFirstOfRun({ runs, stalled }: DeliveringQueue, { delivery }: QueuedDelivery): boolean {
  if (delivery.orderKey === null) return true;
  const head = runs.get(delivery.orderKey)?.head ?? stalled.get(delivery.orderKey);
  return head === undefined || delivery.sequence <= head;
}

/** The end of the breaker's pause, or the first end of a delivery's time before that. */
function pauseEnd(queue: DeliveringQueue, time: QueueTime, rules: QueueRules): Instant {
  const [first] = queue.fresh;
  const inFront = first === undefined ? queue.retries : [...queue.retries, first];
  const ends = inFront.map((item) => Math.max(endByAge(item.delivery.createdAt, time, rules), time.now + leastPause));
  const probe = queue.breaker.type === 'open' && !queue.paused ? queue.breaker.until : Number.POSITIVE_INFINITY;
  return Math.min(probe, ...ends);
}

/** Ages are considered no more often than this while nothing may be sent. */
const leastPause = minute;

function withoutFirst(queue: DeliveringQueue, item: QueuedDelivery): DeliveringQueue {
  if (queue.fresh[0] === item) return { ...queue, fresh: queue.fresh.slice(1) };
  if (queue.retries[0] === item) return { ...queue, retries: queue.retries.slice(1) };
  return { ...queue, urgent: queue.urgent.filter((each) => each !== item) };
}

/** Notifications of one run in memory behind one that is under way; more of them wait in the store. */
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

/** The items as rows behind the heads of their runs. */
export function withRowsBehind(queue: DeliveringQueue, items: readonly QueuedDelivery[]): DeliveringQueue {
  const outcomes = items.map((item) => outcomeOf(item, { type: 'put_behind' }));
  return { ...queue, outcomes: [...queue.outcomes, ...outcomes] };
}

/** Rows of attempts that are under way, so that others can refer to them and the position can pass them. */
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

/** What an event without an attempt makes of a delivery. */
export function outcomeOf(before: QueuedDelivery, event: DeliveryEvent): Outcome {
  const { delivery } = before;
  const state = transitionDelivery(delivery.state, event).unwrapOr(delivery.state);
  return { before, event, attempt: null, after: { ...delivery, state } };
}

function expired(given: DeliveringQueue, item: QueuedDelivery, wall: Instant): DeliveringQueue {
  const queue = withoutFirst(given, item);
  const outcome = outcomeOf(item, { type: 'expired', at: wall, partly: acceptedOf(item.delivery.recipients) > 0 });
  return runGoesOn({ ...queue, outcomes: [...queue.outcomes, outcome] }, item);
}

/** What follows for the run when a delivery is over: its next notification becomes the head. */
export function runGoesOn(queue: DeliveringQueue, { delivery }: QueuedDelivery): DeliveringQueue {
  const { orderKey: key, sequence } = delivery;
  if (key === null) return queue;
  const run = queue.runs.get(key);
  const released = (): DeliveringQueue => ({ ...queue, releases: new Set(queue.releases).add(key) });
  if (run === undefined) return queue.stalled.get(key) === sequence ? released() : queue;
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

/** Puts a delivery where its turn is. */
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
