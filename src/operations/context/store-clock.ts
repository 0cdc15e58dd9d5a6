import type { Clock } from '../../ports/clock.js';
import type { Storage } from '../../ports/storage.js';
import type { Timeline } from '../../queue/timeline.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { ClockReadings } from '../../variables/lock.js';
import type { EngineContext } from './engine-context.js';
import { Sightings } from './sightings.js';

/** Whoever waits for an instant notices within this time that the store's clock was set. */
const lookEvery = second / 2;

/** Wall time of a store that several hosts share, and monotonic time of this host. */
export class StoreClock implements Clock {
  /** What other hosts have written and this process has seen: their readings of monotonic time cannot be compared with its own. */
  readonly sightings = new Sightings();
  readonly timeline: string;
  /** Queue time is wall time: all hosts read it alike, and when it is set, it is for all of them. */
  readonly queues: Timeline;
  readonly #host: Clock;
  readonly #read: () => Instant;

  constructor(host: Clock, read: () => Instant) {
    this.#host = host;
    this.#read = read;
    const { timeline } = host;
    this.timeline = timeline;
    this.queues = {
      timeline,
      get offset() {
        return read() - host.monotonic();
      },
    };
  }

  now(): Instant {
    return Math.floor(this.#read());
  }

  monotonic(): Milliseconds {
    return this.#host.monotonic();
  }

  sleep(duration: Milliseconds, signal: AbortSignal): Promise<void> {
    return this.#host.sleep(duration, signal);
  }

  async sleepUntil(instant: Instant, signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = instant - this.now();
      // Negated so that NaN, like a past instant, does not sleep at all.
      if (signal.aborted || !(left > 0)) return;
      await this.#host.sleep(Math.min(left, lookEvery), signal);
    }
  }
}

/** What other hosts have written and this process has seen, over a store that several hosts share. */
export const sightingsOf = (clock: Clock): Sightings | undefined =>
  clock instanceof StoreClock ? clock.sightings : undefined;

/** The current readings of both clocks. */
export function clockReadings({ clock }: Pick<EngineContext, 'clock'>): ClockReadings {
  return { now: clock.now(), monotonic: clock.monotonic(), timeline: clock.timeline, sightings: sightingsOf(clock) };
}

/** The clock of an engine: its wall time is that of the store if the store has one. Clocks that tests move stay as they are. */
export function clockOver(host: Clock, storage: Storage): Clock {
  const { now } = storage;
  return now === undefined || host.hold !== undefined ? host : new StoreClock(host, () => now.call(storage));
}
