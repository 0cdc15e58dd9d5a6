import type { Milliseconds } from '../../shared/duration.js';

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
