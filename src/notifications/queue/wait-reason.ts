import type { Instant } from '../../shared/instant.js';
import type { Delivery } from '../delivery/delivery.js';
import type { QueueRecord } from './queue-record.js';

/** Why a delivery is pending. */
export const waitReasons = ['paused', 'retry', 'breaker', 'order', 'rate', 'queue', 'engine'] as const;
/** One of `waitReasons`. */
export type WaitReason = (typeof waitReasons)[number];

/** The rate limit of a destination, and who works on deliveries. */
export interface Pace {
  /** Attempts per second; 0 means unlimited. */
  readonly rate: number;
  /** The end of the pause that its hook asked for, in queue time; null without one. */
  readonly heldUntil: Instant | null;
  /** Until when an engine is known to work on deliveries, in queue time; null when none is. */
  readonly servedUntil: Instant | null;
}

/**
 * Why a pending delivery has not been sent yet, according to the store:
 *
 * * `paused`: a user has paused its configuration.
 * * `retry`: its last attempt failed; the next one is due at `until`.
 * * `breaker`: its destination failed repeatedly, and there are no attempts until then.
 * * `order`: an earlier notification of its run is not finished.
 * * `rate`: the destination's rate limit, with others before it; with `until`, its hook asked for a pause until then.
 * * `queue`: others are before it, and an engine is working on them.
 * * `engine`: no engine works on deliveries; with `until`, one may when the lease of the last one ends.
 *
 * Null for a delivery that has ended or is being cancelled.
 */
export function waitOf(
  delivery: Delivery,
  queue: QueueRecord,
  pace: Pace,
  now: Instant,
): { readonly reason: WaitReason; readonly until: Instant | null } | null {
  const { state, sequence } = delivery;
  if (state.type !== 'waiting' && state.type !== 'behind' && state.type !== 'manual') return null;
  if (queue.cancellation !== null && sequence <= queue.cancellation.through) return null;
  if (queue.pausedAt !== undefined && state.type !== 'manual') return { reason: 'paused', until: null };
  if (state.type === 'behind') return { reason: 'order', until: null };
  return timedWait(state, queue, pace, now) ?? queuedWait(pace, now);
}

type Wait = NonNullable<ReturnType<typeof waitOf>>;

/** The reason that ends last: the hook's pause, the breaker, or the wait for a retry. */
function timedWait(
  state: Extract<Delivery['state'], { type: 'waiting' | 'manual' }>,
  queue: QueueRecord,
  { heldUntil }: Pace,
  now: Instant,
): Wait | null {
  const scheduled = state.type === 'waiting' ? scheduledWait(state, queue, now) : null;
  const others = Math.max(now, scheduled?.until ?? now);
  return heldUntil !== null && heldUntil > others ? { reason: 'rate', until: heldUntil } : scheduled;
}

/** The reason that blocks a scheduled attempt; a requested redelivery ignores it. */
function scheduledWait(
  { attempted, dueAt }: Extract<Delivery['state'], { type: 'waiting' }>,
  { breaker }: QueueRecord,
  now: Instant,
): Wait | null {
  if (breaker.type === 'open') return { reason: 'breaker', until: Math.max(breaker.until, dueAt) };
  return attempted > 0 && dueAt > now ? { reason: 'retry', until: dueAt } : null;
}

function queuedWait({ rate, servedUntil }: Pace, now: Instant): Wait {
  if (servedUntil === null || servedUntil <= now) return { reason: 'engine', until: servedUntil };
  return { reason: rate > 0 ? 'rate' : 'queue', until: null };
}
