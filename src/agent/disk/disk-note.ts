import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../../scheduler/allocation.js';

/** What a runner notes of an allocation whose disk a replacement may take over, for as long as its folder holds that data. */
export interface DiskNote {
  readonly allocation: string;
  /** The allocation that it replaces; null when it replaces none. */
  readonly from: string | null;
  /** Nothing is to be taken over any more: everything is in its own folder. */
  readonly settled: boolean;
  /** The text of the task event about the takeover; empty for none. */
  readonly said: string;
}

/** The note of an allocation that is taken for the first time; undefined when its group does not keep its data. */
export function firstDiskNote(
  { ID, PreviousAllocation = '' }: Pick<Allocation, 'ID' | 'PreviousAllocation'>,
  group: Pick<TaskGroup, 'EphemeralDisk'>,
): DiskNote | undefined {
  const { Sticky, Migrate } = group.EphemeralDisk;
  if (!Sticky && !Migrate) return undefined;
  const from = PreviousAllocation === '' ? null : PreviousAllocation;
  return { allocation: ID, from, settled: from === null, said: '' };
}

/**
 * Where the data of an allocation may be, the newest place first: with the allocation that it replaces, and, if that one ended before
 * it had taken over anything, with those before it.
 */
export function diskSources(note: DiskNote, noteOf: (allocation: string) => DiskNote | undefined): readonly string[] {
  const sources = new Set<string>();
  for (let next: DiskNote | undefined = note; next !== undefined && !next.settled && next.from !== null; ) {
    if (sources.has(next.from)) break;
    sources.add(next.from);
    next = noteOf(next.from);
  }
  return [...sources];
}

/** The folders that are carried over, as paths below the folder of an allocation. */
export function carriedFolders(group: Pick<TaskGroup, 'Tasks'>): readonly (readonly [string, string])[] {
  return [['alloc', 'data'], ...group.Tasks.map(({ Name }) => [Name, 'local'] as const)];
}

export function waitingText(source: string): string {
  return `Waiting for the end of allocation ${source}, whose ephemeral disk is taken over`;
}

/** The result of a takeover. */
export interface Takeover {
  /** At least one folder was there to be taken. */
  readonly hasData: boolean;
  /** Folders that were not taken, with the reason. */
  readonly left: readonly string[];
}

export function takeoverText(from: string, { hasData, left }: Takeover): string {
  const text = hasData
    ? `The ephemeral disk of allocation ${from} was taken over`
    : `The ephemeral disk is empty: allocation ${from} has left no data on this node`;
  return [text, ...left].join('; ');
}
