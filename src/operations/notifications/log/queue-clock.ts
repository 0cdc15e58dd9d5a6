import type { ReadView } from '../../../ports/storage.js';
import { queueTime, timelines, wallTimeOf } from '../../../queue/timeline.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';

/** One point in time by both clocks: wall time for display, and queue time for waits. */
export interface QueueClock {
  readonly wall: Instant;
  readonly queue: Instant;
  /** Queue time as wall time, for display. */
  shown(moment: Instant): Instant;
}

export function queueClock({ clock }: EngineContext, view: ReadView): QueueClock {
  const wall = clock.now();
  const monotonic = clock.monotonic();
  const { timeline } = clock;
  const known = view.get(timelines, [timeline])?.record ?? { timeline, offset: wall - monotonic };
  const queue = queueTime(known, monotonic);
  return { wall, queue, shown: (moment) => wallTimeOf(moment, { wall, queue }) };
}
