import type { ReadView } from '../../../ports/storage.js';
import { queueTime, timelines, wallTimeOf } from '../../../queue/timeline.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { StoreClock } from '../../context/store-clock.js';

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
  const shared = clock instanceof StoreClock ? clock.queues : view.get(timelines, [timeline])?.record;
  const queue = queueTime(shared ?? { timeline, offset: wall - monotonic }, monotonic);
  return { wall, queue, shown: (moment) => wallTimeOf(moment, { wall, queue }) };
}
