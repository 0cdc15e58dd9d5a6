import type { HookHold } from '../../../notifications/queue/hook-hold.js';
import { queueTime, type Timeline } from '../../../notifications/queue/timeline.js';
import type { StorageError } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { DeliveryWork, rulesFrom } from './delivery-work.js';
import type { TurnResult } from './record-turn.js';
import type { TurnQueue } from './renew-or-release.js';
import { type Waker, waker } from './waker.js';

/** The state of the delivery loop. */
export interface Loop {
  readonly context: EngineContext;
  readonly work: DeliveryWork;
  readonly waker: Waker;
  /** Aborted when the engine stops. */
  readonly stopping: AbortSignal;
  /** Queue time. */
  readonly now: () => Instant;
  /** The turn being written, and its result. */
  turn: { end: TurnEnd | null } | null;
  /** No turn before this time, after a store failure. */
  pausedUntil: Instant;
}

export type TurnEnd =
  | {
      readonly type: 'written';
      readonly turns: readonly TurnQueue[];
      readonly holds: readonly HookHold[];
      readonly result: TurnResult;
    }
  | { readonly type: 'failed'; readonly error: StorageError }
  | { readonly type: 'thrown'; readonly thrown: unknown };

export function newLoop(context: EngineContext, timeline: Timeline, stopping: AbortSignal): Loop {
  const { clock, settings } = context;
  const now = (): Instant => queueTime(timeline, clock.monotonic());
  return {
    context,
    work: new DeliveryWork(rulesFrom(settings), settings.notifications.delivery),
    waker: waker(clock, now),
    stopping,
    now,
    turn: null,
    pausedUntil: Number.NEGATIVE_INFINITY,
  };
}
