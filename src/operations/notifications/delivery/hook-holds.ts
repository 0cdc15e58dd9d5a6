import type { HookHold } from '../../../notifications/queue/hook-hold.js';
import type { Instant } from '../../../shared/instant.js';

/** Hooks that are paused because they requested it with `Retry-After`, from this engine or another one on the store. */
export class HookHolds {
  /** End of the pause, by hook. Expired pauses are removed when the next one begins. */
  readonly #ends = new Map<string, Instant>();
  /** Hooks whose pause is not stored yet. */
  readonly #unwritten = new Set<string>();
  /** Index of the last change of the stored holds that this engine has read. */
  #index = 0;

  get ends(): ReadonlyMap<string, Instant> {
    return this.#ends;
  }

  get index(): number {
    return this.#index;
  }

  /** Records a pause that a hook requested from this engine. */
  ask(hold: HookHold, now: Instant): void {
    if (this.#prolong(hold, now)) this.#unwritten.add(hold.hook);
  }

  /** Applies the stored pauses. */
  learn(stored: readonly HookHold[], index: number, now: Instant): void {
    for (const hold of stored) this.#prolong(hold, now);
    this.#index = index;
  }

  /** The pauses to store. */
  toWrite(): readonly HookHold[] {
    return [...this.#unwritten].flatMap((hook) => {
      const until = this.#ends.get(hook);
      return until === undefined ? [] : [{ hook, until }];
    });
  }

  /** Marks pauses as stored, except those that were extended meanwhile. */
  noteWritten(written: readonly HookHold[]): void {
    for (const { hook, until } of written) if (this.#ends.get(hook) === until) this.#unwritten.delete(hook);
  }

  /** Pauses the hook until then, unless it is already paused for longer. Returns whether this was a change. */
  #prolong({ hook, until }: HookHold, now: Instant): boolean {
    for (const [each, end] of this.#ends) {
      if (end > now) continue;
      this.#ends.delete(each);
      this.#unwritten.delete(each);
    }
    if (until <= now || until <= (this.#ends.get(hook) ?? 0)) return false;
    this.#ends.set(hook, until);
    return true;
  }
}
