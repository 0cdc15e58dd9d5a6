import type { Background } from '../background.js';
import type { DiskSuccession } from '../disk/disk-succession.js';
import type { TaskMemory } from '../disk/task-memory.js';

interface FinishedOptions {
  readonly memory: TaskMemory;
  readonly disks: DiskSuccession | null;
  readonly background: Background;
  /** How many are kept for their logs. */
  readonly keep: number;
}

/** Of allocations with data that a replacement may want, this many are kept besides. */
const keptForData = 50;

/** The allocations that ended on this node and whose folders are still there. */
export class FinishedAllocations {
  readonly #options: FinishedOptions;
  /** The oldest first. */
  #ids: readonly string[] = [];
  readonly #beingRemoved = new Set<string>();

  constructor(options: FinishedOptions) {
    this.#options = options;
  }

  add(id: string): void {
    this.#ids = [...this.#ids, id];
    this.trim();
  }

  /** The oldest first. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  has(id: string): boolean {
    return this.#ids.includes(id);
  }

  /** The folder must not be used any more. */
  isBeingRemoved(id: string): boolean {
    return this.#beingRemoved.has(id);
  }

  /** Removes what is more than is kept. A folder whose data a replacement is about to take stays until then. */
  trim(): void {
    const { keep, background } = this.#options;
    const removable = this.#ids.filter((id) => !this.#isClaimed(id));
    const withData = removable.filter((id) => this.#holdsData(id));
    const others = removable.filter((id) => !this.#holdsData(id));
    const removed = [...beyondNewest(withData, keptForData), ...beyondNewest(others, keep)];
    for (const id of removed) background.run('removing an allocation', this.#remove(id));
  }

  /** Removes one, or all; false if there is none. */
  async collect(id: string | null): Promise<boolean> {
    const collected = this.#ids.filter((each) => (id === null || each === id) && !this.#isClaimed(each));
    await Promise.all(collected.map((each) => this.#remove(each)));
    return collected.length > 0;
  }

  async #remove(id: string): Promise<void> {
    this.#ids = this.#ids.filter((each) => each !== id);
    this.#beingRemoved.add(id);
    try {
      this.#options.disks?.forget(id);
      await this.#options.memory.forget(id);
    } finally {
      this.#beingRemoved.delete(id);
    }
  }

  #isClaimed(id: string): boolean {
    return this.#options.disks?.isClaimed(id) === true;
  }

  #holdsData(id: string): boolean {
    return this.#options.disks?.holdsData(id) === true;
  }
}

/** All but the newest `keep`. */
function beyondNewest(ids: readonly string[], keep: number): readonly string[] {
  return ids.slice(0, Math.max(0, ids.length - keep));
}
