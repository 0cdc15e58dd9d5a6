import { type ManualClock, manualClock, memoryStorage } from '../../adapters/memory/index.js';
import { loadOperations } from '../../src/local-transport.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Storage } from '../../src/ports/storage.js';

/** A clock of one host: its wall time may be wrong, and its monotonic time counts from its own start. */
export interface HostClock extends Clock {
  /** Sets its wall clock. */
  step(by: number): void;
}

/** Hosts with clocks of their own over one store, whose clock is `clock`: advancing it lets time pass on all of them. */
export interface Hosts {
  readonly clock: ManualClock;
  readonly storage: Storage;
  host(wrongBy: number): HostClock;
}

export async function hostsOverOneStore(): Promise<Hosts> {
  await loadOperations();
  const clock = manualClock();
  const start = clock.now();
  let hosts = 0;
  return {
    clock,
    storage: { ...memoryStorage(), now: () => clock.now() },
    host: (wrongBy) => {
      hosts += 1;
      const begun = hosts * 1_000_003;
      let wrong = wrongBy;
      return {
        now: () => start + clock.monotonic() + wrong,
        monotonic: () => clock.monotonic() + begun,
        timeline: `host-${hosts}`,
        sleep: (duration, signal) => clock.sleep(duration, signal),
        sleepUntil: (instant, signal) => clock.sleepUntil(instant, signal),
        step: (by) => {
          wrong += by;
        },
      };
    },
  };
}
