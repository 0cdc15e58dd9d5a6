import type { HookHold } from '../../../notifications/queue/hook-hold.js';
import type { Instant } from '../../../shared/instant.js';

/** The hooks that this engine leaves alone, because they have asked it, or another engine on the store, for that. */
export class HookHolds {
  /** Until when, by hook. Those that are over are removed with the next one that begins. */
  readonly #ends = new Map<string, Instant>();
  /** The hooks of which the store does not know that yet. */
  readonly #unwritten = new Set<string>();
  /** Index of the last change of the stored holds that this engine has read. */
  #index = 0;

  get ends(): ReadonlyMap<string, Instant> {
    return this.#ends;
  }

  get index(): number {
    return this.#index;
  }

  /** A hook has asked this engine for it. */
  ask(hold: HookHold, now: Instant): void {
    if (this.#prolong(hold, now)) this.#unwritten.add(hold.hook);
  }

  /** Takes over what the store knows. */
  learn(stored: readonly HookHold[], index: number, now: Instant): void {
    for (const hold of stored) this.#prolong(hold, now);
    this.#index = index;
  }

  /** What the store is to know. */
  toWrite(): readonly HookHold[] {
    return [...this.#unwritten].flatMap((hook) => {
      const until = this.#ends.get(hook);
      return until === undefined ? [] : [{ hook, until }];
    });
  }

  /** The store knows these. One that was prolonged meanwhile is still to be written. */
  noteWritten(written: readonly HookHold[]): void {
    for (const { hook, until } of written) if (this.#ends.get(hook) === until) this.#unwritten.delete(hook);
  }

  /** Leaves the hook alone until then, unless it is for longer already. Gives whether that is news. */
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
