/*
 * Who works on a row. An outcome counts for the start that is stored, so that a process that was paused for longer than its lease
 * decides nothing about a row that another one has taken meanwhile.
 */

/** The part of a row that says who works on it. */
export interface Hold {
  /** The process that works on it; absent or null when none does. */
  readonly holder?: string | null;
  /** How often it was taken; absent before the first time. */
  readonly starts?: number;
}

/** The row as taken by a process. */
export function claimed<R extends Hold>(row: R, holder: string): R {
  return { ...row, holder, starts: (row.starts ?? 0) + 1 };
}

/** The row that nobody works on: handed back, taken from a dead process, or after its outcome. */
export function freed<R extends Hold>(row: R): R {
  const { holder: _, ...rest } = row;
  return rest as R;
}

/** Whether the stored row is still in the start that this one began. */
export function isSameStart(stored: Hold | undefined, begun: Hold): boolean {
  return typeof stored?.holder === 'string' && stored.holder === begun.holder && stored.starts === begun.starts;
}
