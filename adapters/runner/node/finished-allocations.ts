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
  /** Those that the server does not know any more, and that stay only until a replacement has taken their data. */
  readonly #collected = new Set<string>();
  readonly #beingRemoved = new Set<string>();

  constructor(options: FinishedOptions) {
    this.#options = options;
  }

  add(id: string): void {
    this.#ids = [...this.#ids.filter((each) => each !== id), id];
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
    const collected = removable.filter((id) => this.#collected.has(id));
    const removed = new Set([...collected, ...beyondNewest(withData, keptForData), ...beyondNewest(others, keep)]);
    for (const id of removed) background.run('removing an allocation', this.#remove(id));
  }

  /** Removes one, or all; false if there is none. */
  async collect(id: string | null): Promise<boolean> {
    const collected = this.#ids.filter((each) => (id === null || each === id) && !this.#isClaimed(each));
    await Promise.all(collected.map((each) => this.#remove(each)));
    return collected.length > 0;
  }

  /** The server does not know this one any more: it is removed now, or when a replacement has taken its data. */
  async collected(id: string): Promise<void> {
    this.#collected.add(id);
    await this.collect(id);
  }

  async #remove(id: string): Promise<void> {
    this.#ids = this.#ids.filter((each) => each !== id);
    this.#collected.delete(id);
    this.#beingRemoved.add(id);
    try {
      await this.#options.disks?.forget(id);
      await this.#options.memory.forget(id);
    } finally {
      this.#beingRemoved.delete(id);
    }
    // What it was to take over may be free now.
    this.trim();
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
