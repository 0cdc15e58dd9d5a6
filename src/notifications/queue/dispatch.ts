import type { Instant } from '../../shared/instant.js';
import type { DeliveringQueue, QueuedDelivery, QueueRules } from './held-queue.js';
import { hasSlot, type SlotRules } from './slots.js';
import { type QueueTime, started, takeNext } from './take-next.js';
import { fullBucket, type TokenBucket, takeToken } from './token-bucket.js';

/** The limits that apply to the attempts of a queue. */
export interface Route {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The key of its rate: the configuration, or the hook that several configurations share. */
  readonly rateKey: string;
  /** Attempts per second; 0 means unlimited. */
  readonly rate: number;
  /** Concurrent attempts; null uses the queue's adaptive limit. */
  readonly concurrency: number | null;
}

/** Attempts in progress, and the state of the rates. */
export interface Traffic {
  readonly inFlight: number;
  readonly perOrigin: ReadonlyMap<string, number>;
  readonly buckets: ReadonlyMap<string, TokenBucket>;
  /** When the pauses that hooks asked for end, by rate key. */
  readonly holds: ReadonlyMap<string, Instant>;
}

export interface Candidate {
  readonly queue: DeliveringQueue;
  readonly route: Route;
}

/** The attempts to start now. */
export interface Dispatch {
  readonly starts: readonly { readonly configurationId: string; readonly item: QueuedDelivery }[];
  /** The new state of every candidate's queue. */
  readonly queues: ReadonlyMap<string, DeliveringQueue>;
  /** Rates that changed. */
  readonly buckets: ReadonlyMap<string, TokenBucket>;
  /** Queues that wait only for a slot. */
  readonly wantSlots: ReadonlySet<string>;
  /** When the next attempt can start without another event; null when none can. */
  readonly nextAt: Instant | null;
}

/**
 * Chooses the attempts to start, round robin over the queues, so that no queue waits for another one's backlog. `takeNext`
 * handles order, breaker and age of each queue; this function divides slots and rates.
 */
export function dispatch(
  candidates: readonly Candidate[],
  traffic: Traffic,
  time: QueueTime,
  rules: QueueRules & { readonly slots: SlotRules },
): Dispatch {
  const starts: { configurationId: string; item: QueuedDelivery }[] = [];
  const queues = new Map<string, DeliveringQueue>();
  const buckets = new Map<string, TokenBucket>();
  const wantSlots = new Set<string>();
  const begun = new Map<string, number>();
  let nextAt: Instant | null = null;
  let turn = [...candidates];
  while (turn.length > 0) {
    const again: Candidate[] = [];
    for (const { queue, route } of turn) {
      const { configurationId } = queue;
      const next = takeNext(queue, time, rules);
      queues.set(configurationId, next.queue);
      if (next.candidate === null) {
        nextAt = earlier(nextAt, next.until);
        continue;
      }
      const heldUntil = traffic.holds.get(route.rateKey) ?? time.now;
      if (heldUntil > time.now) {
        nextAt = earlier(nextAt, heldUntil);
        continue;
      }
      const use = {
        queue: next.queue.running.size,
        origin: (traffic.perOrigin.get(route.origin) ?? 0) + (begun.get(route.origin) ?? 0),
        all: traffic.inFlight + starts.length,
      };
      if (!hasSlot(use, route.concurrency ?? next.queue.limit.limit, rules.slots)) {
        wantSlots.add(configurationId);
        continue;
      }
      const readyAt = takeRate(route, buckets, traffic, time.now);
      if (readyAt !== null) {
        nextAt = earlier(nextAt, readyAt);
        continue;
      }
      begun.set(route.origin, (begun.get(route.origin) ?? 0) + 1);
      starts.push({ configurationId, item: next.candidate });
      const after = started(next.queue, next.candidate);
      queues.set(configurationId, after);
      again.push({ queue: after, route });
    }
    turn = again;
  }
  return { starts, queues, buckets, wantSlots, nextAt };
}

/** Takes a token of the rate; null on success, otherwise the time of the next token. */
function takeRate(
  { rate, rateKey }: Route,
  buckets: Map<string, TokenBucket>,
  traffic: Traffic,
  now: Instant,
): Instant | null {
  if (rate <= 0) return null;
  const bucket = buckets.get(rateKey) ?? traffic.buckets.get(rateKey) ?? fullBucket(rate, now);
  const { taken, readyAt, bucket: left } = takeToken(bucket, rate, now);
  buckets.set(rateKey, left);
  return taken ? null : readyAt;
}

function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
