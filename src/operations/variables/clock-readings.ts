import type { ClockReadings } from '../../variables/lock.js';
import type { EngineContext } from '../context/engine-context.js';

/** The current readings of both clocks. */
export function clockReadings({ clock }: EngineContext): ClockReadings {
  return { now: clock.now(), monotonic: clock.monotonic(), timeline: clock.timeline };
}
