import { join } from 'node:path/posix';
import {
  carriedFolders,
  type DiskNote,
  diskSources,
  firstDiskNote,
  type Takeover,
  takeoverText,
} from '../../../src/agent/disk/disk-note.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import { isEmptyFolder, moveFolder } from './folders.js';
import type { DiskNotes } from './note-keeper.js';
import type { TaskMemory } from './task-memory.js';

/** The state of a previous allocation. `over`: no task is running or will run, and its folder still exists. */
type PreviousStanding = 'runs' | 'over' | 'absent';

/** The node's allocations, as needed to hand over their disks. */
export interface PreviousAllocations {
  standing(allocation: string): PreviousStanding;
  /** Ends the remaining processes of an ended allocation. */
  clear(allocation: string, signal: AbortSignal): Promise<void>;
  /** The data of an allocation has been handed over, so its folder may be removed. */
  passedOn(): void;
}

/**
 * Moves the disks of ended allocations to their replacements. Each step is recorded on disk before it is done, so that a
 * restarted runner continues it:
 *
 *   1. a note of the replacement says whose disk it will get
 *   2. the previous allocation ends
 *   3. each folder is moved by one rename; folders that were moved earlier no longer exist at the source
 *   4. the note is marked as settled; only then may the tasks start
 *   5. the note of the previous allocation is removed, which allows its folder to be removed
 */
export class DiskHandover {
  readonly #notes: DiskNotes;
  readonly #memory: TaskMemory;
  readonly #waiting = new Set<() => void>();
  #previous: PreviousAllocations | undefined;
  /** The current takeover; there is at most one. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(notes: DiskNotes, memory: TaskMemory) {
    this.#notes = notes;
    this.#memory = memory;
  }

  /** Sets the source of allocation states. Call once, before anything else. */
  set previousAllocations(previousAllocations: PreviousAllocations) {
    this.#previous = previousAllocations;
  }

  /** Step 1. `hasBegun`: a task has started before, so the disk is not changed any more. Throws if the disk is full. */
  claim({ allocation, group }: AllocationWork, hasBegun: boolean): DiskNote | undefined {
    const known = this.#notes.get(allocation.ID);
    const note = known ?? firstDiskNote(allocation, group);
    // A previous allocation has only one replacement.
    if (note === undefined) this.#notes.remove(allocation.PreviousAllocation ?? '');
    if (note === undefined || this.#isPassedOn(allocation.ID)) return undefined;
    const claimed = { ...note, settled: note.settled || hasBegun };
    if (claimed.settled !== known?.settled) this.#notes.set(claimed);
    return claimed;
  }

  /** The previous allocation, whose end the takeover waits for. */
  awaited(note: DiskNote): string | undefined {
    return this.#sources(note).find((source) => this.#standing(source) === 'runs');
  }

  /** Steps 2 to 5. Returns the settled note, or the current one if the signal aborts the wait. Throws disk errors. */
  async settle(work: AllocationWork, signal: AbortSignal): Promise<DiskNote | undefined> {
    for (;;) {
      const note = this.#notes.get(work.allocation.ID);
      if (note === undefined || note.settled || signal.aborted) return note;
      if (this.awaited(note) === undefined) await this.#inTurn(() => this.#takeOver(work, note, signal));
      else await this.#change(signal);
    }
  }

  /** Call when the state of an allocation has changed. */
  changed(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when no folder is being moved. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  /** Whether the allocation's folder contains data that a replacement may take over. */
  holdsData(allocation: string): boolean {
    return this.#notes.get(allocation) !== undefined;
  }

  /** Whether an existing allocation will get the disk of this one. */
  isClaimed(allocation: string): boolean {
    return this.#notes.all().some(({ from, settled }) => from === allocation && !settled);
  }

  /** Excludes a folder that is about to be removed from takeovers. Resolves when no current takeover uses it. */
  async forget(allocation: string): Promise<void> {
    this.#notes.remove(allocation);
    await this.#turn;
  }

  /** At the start of the runner: keeps only the notes of these allocations. */
  keepOnly(known: ReadonlySet<string>): void {
    for (const { allocation } of this.#notes.all()) if (!known.has(allocation)) this.#notes.remove(allocation);
  }

  /** The allocation has ended and its replacement has taken its disk. */
  #isPassedOn(allocation: string): boolean {
    return this.#notes.all().some(({ from, settled }) => from === allocation && settled);
  }

  #sources(note: DiskNote): readonly string[] {
    return diskSources(note, (allocation) => this.#notes.get(allocation));
  }

  #standing(source: string): PreviousStanding {
    return this.#previous?.standing(source) ?? 'absent';
  }

  async #takeOver(work: AllocationWork, note: DiskNote, signal: AbortSignal): Promise<void> {
    // Both may have changed during another takeover.
    if (signal.aborted || this.awaited(note) !== undefined) return;
    const sources = this.#sources(note).filter((source) => this.#standing(source) === 'over');
    for (const source of sources) await this.#previous?.clear(source, signal);
    if (signal.aborted) return;
    const folders = sources.map((source) => this.#memory.folder(source) ?? '');
    const takeover = await carryFolders(this.#memory, work, folders, signal);
    // It has ended meanwhile, and its folder is about to be removed.
    if (this.#notes.get(note.allocation) === undefined) return;
    this.#notes.set({ ...note, settled: true, said: takeoverText(note.from ?? '', takeover) });
    for (const source of this.#sources(note)) this.#notes.remove(source);
    this.#previous?.passedOn();
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

/** The most files, folders and links to copy if a folder cannot be renamed. */
const mostCopied = 100000;

/**
 * Moves the data of the sources into the folder of an allocation, each folder from the newest source in which it is not empty. May be
 * repeated after an interruption. `sources`: folders of allocations, the newest first.
 */
async function carryFolders(
  memory: TaskMemory,
  { allocation, group }: AllocationWork,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Takeover> {
  const terms = {
    limits: { maximumBytes: group.EphemeralDisk.SizeMB * 1024 ** 2, maximumEntries: mostCopied },
    signal,
  };
  for (const task of group.Tasks) await memory.prepare(allocation.ID, task.Name);
  const target = memory.folder(allocation.ID) ?? '';
  const left: string[] = [];
  let hasData = false;
  for (const path of carriedFolders(group)) {
    for (const source of sources) {
      const moved = await moveFolder(source, target, path, terms);
      if (moved === 'absent') continue;
      if (moved === 'refused') left.push(`${path.join('/')} was not moved, because it is not a folder`);
      else if (moved !== 'kept' && moved.omitted > 0)
        left.push(`${path.join('/')} was copied without sockets, pipes and devices`);
      break;
    }
    hasData ||= !(await isEmptyFolder(join(target, ...path)));
  }
  return { hasData, left };
}
