import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Allocation } from '../../scheduler/allocation.js';

/** What a runner stores about an allocation whose disk a replacement may take over, for as long as its folder holds that data. */
export interface DiskNote {
  readonly allocation: string;
  /** The allocation that it replaces; null for none. */
  readonly from: string | null;
  /** Whether the takeover is complete, or there is nothing to take over. */
  readonly settled: boolean;
  /** Message of the task event about the takeover; empty before there is one. */
  readonly said: string;
}

/** The initial note of a new allocation; undefined when its group does not keep its data. */
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
 * Where an allocation's data may be, newest place first: with the allocation that it replaces, and, if that one ended before
 * it had taken over any data, with earlier ones.
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

/** The folders that are taken over, as paths relative to an allocation's folder. */
export function carriedFolders(group: Pick<TaskGroup, 'Tasks'>): readonly (readonly [string, string])[] {
  return [['alloc', 'data'], ...group.Tasks.map(({ Name }) => [Name, 'local'] as const)];
}

export function waitingText(source: string): string {
  return `Waiting for allocation ${source} to end before taking over its ephemeral disk`;
}

/** The result of a takeover. */
export interface Takeover {
  /** At least one folder was found. */
  readonly hasData: boolean;
  /** Folders that were not taken over, with the reason. */
  readonly left: readonly string[];
}

export function takeoverText(from: string, { hasData, left }: Takeover): string {
  const text = hasData
    ? `The ephemeral disk of allocation ${from} was taken over`
    : `The ephemeral disk is empty: allocation ${from} has left no data on this node`;
  return [text, ...left].join('; ');
}
