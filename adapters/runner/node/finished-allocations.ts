import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import type { DiskHandover } from '../disk/disk-handover.js';
import type { AllocationEnd, TaskMemory } from '../disk/task-memory.js';
import type { Background } from '../waiting.js';

interface FinishedOptions {
  readonly memory: TaskMemory;
  readonly disks: DiskHandover | null;
  readonly background: Background;
  readonly clock: Pick<Clock, 'now'>;
  readonly keep: KeptFinished;
}

/** Which ended allocations keep their folders, for their logs. */
export interface KeptFinished {
  /** The number of newest allocations to keep, successful or not. */
  readonly newest: number;
  /** Failed allocations are kept for this many milliseconds in addition, … */
  readonly failedFor: Milliseconds;
  /** … while their job has had fewer later runs than this. */
  readonly failedRuns: number;
}

interface KnownEnd extends AllocationEnd {
  /** Sequence number among the ended runs of its job on this node. */
  readonly run: number;
}

/** The most allocations kept in addition because a replacement may take over their data. */
const keptForData = 50;

/** The allocations that ended on this node and whose folders still exist. */
export class FinishedAllocations {
  readonly #options: FinishedOptions;
  /** The oldest first. */
  #ids: readonly string[] = [];
  readonly #ends = new Map<string, KnownEnd>();
  /** Number of ended runs on this node, by job. */
  readonly #runs = new Map<string, number>();
  readonly #beingRemoved = new Set<string>();
  /** Allocations that are to be removed. */
  readonly #unwanted = new Set<string>();

  constructor(options: FinishedOptions) {
    this.#options = options;
  }

  /** `end`: absent for an allocation that ended under an earlier agent, which has recorded it. */
  add(id: string, end?: AllocationEnd): void {
    this.#learn(id, end);
    this.#ids = [...this.#ids.filter((each) => each !== id), id];
    this.trim();
  }

  /** Removes allocations that the server no longer knows. */
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

  /** Whether the folder is being removed and must not be used. */
  isBeingRemoved(id: string): boolean {
    return this.#beingRemoved.has(id);
  }

  /** Removes excess folders. A folder whose data a replacement is about to take over stays until then. */
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

  /** If this one was to take over another allocation's disk, that other one may have become removable. */
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
    const tooMany = beyondNewest(others, keep.newest).filter((each) => !this.#isKeptAsFailed(each));
    return [...unwanted, ...beyondNewest(withData, keptForData), ...tooMany];
  }

  #learn(id: string, given: AllocationEnd | undefined): void {
    if (given !== undefined) this.#options.memory.saveEnd(id, given);
    const end = given ?? this.#options.memory.loadEnd(id);
    if (end === undefined || this.#ends.has(id)) return;
    const run = (this.#runs.get(end.job) ?? 0) + 1;
    this.#runs.set(end.job, run);
    this.#ends.set(id, { ...end, run });
  }

  #isKeptAsFailed(id: string): boolean {
    const end = this.#ends.get(id);
    if (end === undefined || !end.failed) return false;
    const { keep, clock } = this.#options;
    const later = (this.#runs.get(end.job) ?? 0) - end.run;
    return clock.now() - end.at < keep.failedFor && later < keep.failedRuns;
  }

  #forgetEnd(id: string): void {
    const end = this.#ends.get(id);
    this.#ends.delete(id);
    if (end === undefined) return;
    const others = [...this.#ends.values()].some(({ job }) => job === end.job);
    if (!others) this.#runs.delete(end.job);
  }

  /** Removes its notes at once, and its folder when nothing uses it any more. */
  async #remove(id: string): Promise<void> {
    this.#ids = this.#ids.filter((each) => each !== id);
    this.#unwanted.delete(id);
    this.#forgetEnd(id);
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
