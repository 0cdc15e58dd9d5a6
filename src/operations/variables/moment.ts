import type { Moment } from '../../variables/lock.js';
import type { EngineContext } from '../context/engine-context.js';

/** Now, by both kinds of time. */
export function momentOf({ clock }: EngineContext): Moment {
  return { now: clock.now(), monotonic: clock.monotonic(), timeline: clock.timeline };
}
