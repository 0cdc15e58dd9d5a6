import type { Clock } from '../../ports/clock.js';
import type { Storage } from '../../ports/storage.js';
import type { Timeline } from '../../queue/process.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { ClockReadings } from '../../variables/variable.js';
import type { EngineContext } from './engine-context.js';

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

/** The minimum number that is remembered. */
const remembered = 20_000;

/**
 * When something was first seen by this process, by its own monotonic clock. What another host has promised for a length of time is over
 * when it has been seen unchanged for that length: no clocks are compared.
 */
export class Sightings {
  /** Entries in use are moved from the old map to the young one. */
  #young = new Map<string, Milliseconds>();
  #old = new Map<string, Milliseconds>();

  first(key: string, now: Milliseconds): Milliseconds {
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const first = this.#old.get(key) ?? now;
    if (this.#young.size >= remembered) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, first);
    return first;
  }
}
