/** The right of a task to run its function. */
export interface FunctionSlot {
  release(): void;
}

interface Waiting {
  readonly allocationId: string;
  readonly begin: () => void;
}

/**
 * How many allocations of a runner run functions at once. Those beyond the limit wait, the first one first. An allocation counts once,
 * however many of its tasks run: they may need each other.
 */
export class FunctionSlots {
  /** The number of running tasks of each allocation. */
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  constructor(readonly limit: number) {}

  /** Undefined when the signal aborts first. `onWait` is called if there is no slot. */
  async take(allocationId: string, signal: AbortSignal, onWait: () => void): Promise<FunctionSlot | undefined> {
    if (!this.#hasRoom(allocationId)) {
      onWait();
      await this.#turn(allocationId, signal);
    } else this.#hold(allocationId);
    let isHeld = true;
    const slot = {
      release: () => {
        if (isHeld) this.#release(allocationId);
        isHeld = false;
      },
    };
    if (!signal.aborted) return slot;
    slot.release();
    return undefined;
  }

  #hasRoom(allocationId: string): boolean {
    return this.#held.has(allocationId) || this.#held.size < this.limit;
  }

  #hold(allocationId: string): void {
    this.#held.set(allocationId, (this.#held.get(allocationId) ?? 0) + 1);
  }

  /** Resolves when the slot is held, or, so that it is released at once, when the signal aborts. */
  #turn(allocationId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        allocationId,
        begin: () => {
          if (!this.#waiting.delete(waiting)) return;
          signal.removeEventListener('abort', waiting.begin);
          this.#hold(allocationId);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', waiting.begin);
    });
  }

  #release(allocationId: string): void {
    const left = (this.#held.get(allocationId) ?? 1) - 1;
    if (left > 0) this.#held.set(allocationId, left);
    else this.#held.delete(allocationId);
    for (const waiting of [...this.#waiting]) if (this.#hasRoom(waiting.allocationId)) waiting.begin();
  }
}
