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
  /** Those of which nothing is to be kept. */
  readonly #unwanted = new Set<string>();

  constructor(options: FinishedOptions) {
    this.#options = options;
  }

  add(id: string): void {
    this.#ids = [...this.#ids.filter((each) => each !== id), id];
    this.trim();
  }

  /** The server does not know these any more: nothing of them is kept. */
  forget(ids: readonly string[]): void {
    for (const id of ids) if (this.has(id)) this.#unwanted.add(id);
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

  /** Removes what is not to be kept. A folder whose data a replacement is about to take stays until then. */
  trim(): void {
    this.#removeAll(
      () => this.#surplus(),
      (id) => this.#options.background.run('removing an allocation', this.#remove(id)),
    );
  }

  /** Removes one, or all; false if there is none. */
  async collect(id: string | null): Promise<boolean> {
    const removals: Promise<void>[] = [];
    this.#removeAll(
      () => this.#ids.filter((each) => (id === null || each === id) && !this.#isClaimed(each)),
      (each) => removals.push(this.#remove(each)),
    );
    await Promise.all(removals);
    return removals.length > 0;
  }

  /** With one that was to get the disk of another and never will, that other one may have become removable. */
  #removeAll(removable: () => readonly string[], remove: (id: string) => void): void {
    for (let ids = removable(); ids.length > 0; ids = removable()) for (const id of ids) remove(id);
  }

  #surplus(): readonly string[] {
    const { keep } = this.#options;
    const removable = this.#ids.filter((id) => !this.#isClaimed(id));
    const unwanted = removable.filter((id) => this.#unwanted.has(id));
    const wanted = removable.filter((id) => !this.#unwanted.has(id));
    const withData = wanted.filter((id) => this.#holdsData(id));
    const others = wanted.filter((id) => !this.#holdsData(id));
    return [...unwanted, ...beyondNewest(withData, keptForData), ...beyondNewest(others, keep)];
  }

  /** What is noted of it goes at once, its folder when nothing works in it any more. */
  async #remove(id: string): Promise<void> {
    this.#ids = this.#ids.filter((each) => each !== id);
    this.#unwanted.delete(id);
    this.#beingRemoved.add(id);
    try {
      await this.#options.disks?.forget(id);
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
