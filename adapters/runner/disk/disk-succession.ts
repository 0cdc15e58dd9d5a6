import { type DiskNote, diskSources, firstDiskNote, takeoverText } from '../../../src/agent/disk/disk-note.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import { carryFolders } from './carry-folders.js';
import type { DiskNotes } from './disk-notes.js';
import type { TaskMemory } from './task-memory.js';

/** What a runner knows of an allocation: `over` means that none of its tasks runs or will run, and that its folder is there. */
type PredecessorStanding = 'runs' | 'over' | 'absent';

/** The allocations of the node, as far as the successors of their disks have to know them. */
export interface Predecessors {
  standing(allocation: string): PredecessorStanding;
  /** Ends what is left of an allocation that is over. */
  clear(allocation: string, signal: AbortSignal): Promise<void>;
  /** The folder of an allocation has no data any more that a replacement could want. */
  passedOn(): void;
}

/**
 * Gives the disks of allocations that ended to those that replace them. What is under way is noted on disk before it is done, so that a
 * runner that was killed continues where it was:
 *
 *   1. the replacement is taken: a note says which disk it is to get
 *   2. the allocation before it has ended
 *   3. each folder is moved by one rename; those that are moved already are not at the source any more
 *   4. the note says that the disk is settled; the task starts only after this
 *   5. the note of the allocation before is removed: its folder may be removed too
 */
export class DiskSuccession {
  readonly #notes: DiskNotes;
  readonly #memory: TaskMemory;
  readonly #waiting = new Set<() => void>();
  #predecessors: Predecessors | undefined;
  /** The takeover under way; there is one at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(notes: DiskNotes, memory: TaskMemory) {
    this.#notes = notes;
    this.#memory = memory;
  }

  /** Who knows the allocations; said once, before anything else is asked. */
  set predecessors(predecessors: Predecessors) {
    this.#predecessors = predecessors;
  }

  /** Step 1. `hasBegun`: a task has started before, so that the disk is what it is. Throws when the disk is full. */
  claim({ allocation, group }: AllocationWork, hasBegun: boolean): DiskNote | undefined {
    const known = this.#notes.get(allocation.ID);
    const note = known ?? firstDiskNote(allocation, group);
    // What it replaces will have no other replacement.
    if (note === undefined) this.#notes.remove(allocation.PreviousAllocation ?? '');
    if (note === undefined || this.#isPassedOn(allocation.ID)) return undefined;
    const claimed = { ...note, settled: note.settled || hasBegun };
    if (claimed.settled !== known?.settled) this.#notes.set(claimed);
    return claimed;
  }

  /** The allocation whose end is waited for. */
  awaited(note: DiskNote): string | undefined {
    return this.#sources(note).find((source) => this.#standing(source) === 'runs');
  }

  /** Steps 2 to 5. Gives the settled note, or the present one when the signal ends the wait. Throws what the disk says. */
  async settle(work: AllocationWork, signal: AbortSignal): Promise<DiskNote | undefined> {
    for (;;) {
      const note = this.#notes.get(work.allocation.ID);
      if (note === undefined || note.settled || signal.aborted) return note;
      if (this.awaited(note) === undefined) await this.#inTurn(() => this.#takeOver(work, note, signal));
      else await this.#change(signal);
    }
  }

  /** Something about an allocation of the node has changed. */
  changed(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when no folder is being moved. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  /** The folder of the allocation holds data that a replacement may want. */
  holdsData(allocation: string): boolean {
    return this.#notes.get(allocation) !== undefined;
  }

  /** An allocation that is known is to get the disk of this one. */
  isClaimed(allocation: string): boolean {
    return this.#notes.all().some(({ from, settled }) => from === allocation && !settled);
  }

  /** The folder is to be removed. Resolves when no takeover under way works in it; none begins to. */
  async forget(allocation: string): Promise<void> {
    this.#notes.remove(allocation);
    await this.#turn;
  }

  /** Only these allocations are known at the start of the runner. */
  keepOnly(known: ReadonlySet<string>): void {
    for (const { allocation } of this.#notes.all()) if (!known.has(allocation)) this.#notes.remove(allocation);
  }

  /** It ended, and its replacement has its disk. */
  #isPassedOn(allocation: string): boolean {
    return this.#notes.all().some(({ from, settled }) => from === allocation && settled);
  }

  #sources(note: DiskNote): readonly string[] {
    return diskSources(note, (allocation) => this.#notes.get(allocation));
  }

  #standing(source: string): PredecessorStanding {
    return this.#predecessors?.standing(source) ?? 'absent';
  }

  async #takeOver(work: AllocationWork, note: DiskNote, signal: AbortSignal): Promise<void> {
    // Both may have changed while another takeover had its turn.
    if (signal.aborted || this.awaited(note) !== undefined) return;
    const sources = this.#sources(note).filter((source) => this.#standing(source) === 'over');
    for (const source of sources) await this.#predecessors?.clear(source, signal);
    if (signal.aborted) return;
    const folders = sources.map((source) => this.#memory.folder(source) ?? '');
    const takeover = await carryFolders(this.#memory, work, folders, signal);
    // It has ended meanwhile, and its folder is to be removed.
    if (this.#notes.get(note.allocation) === undefined) return;
    this.#notes.set({ ...note, settled: true, said: takeoverText(note.from ?? '', takeover) });
    for (const source of this.#sources(note)) this.#notes.remove(source);
    this.#predecessors?.passedOn();
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(act);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
