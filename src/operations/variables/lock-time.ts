import type { Moment } from '../../variables/lock.js';
import type { EngineContext } from '../context/engine-context.js';

/** The current wall and monotonic time. */
export function lockTimeOf({ clock }: EngineContext): Moment {
  return { now: clock.now(), monotonic: clock.monotonic(), timeline: clock.timeline };
}
