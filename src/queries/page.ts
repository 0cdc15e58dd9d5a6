import { ok, type Result } from 'neverthrow';

/**
 * A page of a list (job interface, pagination). The token names the first item of the next page, so that a page begins where
 * the one before ended even if that item has been removed meanwhile.
 */
export interface Page<T> {
  readonly items: readonly T[];
  /** Empty when nothing follows. */
  readonly nextToken: string;
}

/** Which page of a list of the job interface is read. */
export interface PageByToken {
  /** The most items of the page; 0, negative and absent mean everything. */
  readonly perPage?: number;
  /** The token that the page before gave; absent for the first page. */
  readonly nextToken?: string;
  /** Last first. */
  readonly reverse?: boolean;
}

/** How a list is read in slices: the rows from a position on, in order. */
export interface Source<T> {
  /** At most `limit` rows, beginning after `last`, or at the start of the page when there is none. */
  slice(last: T | undefined, limit: number | undefined): readonly T[];
  /** What the list holds, and what the caller may see; a row that is not accepted does not count. */
  accept(row: T): boolean;
  token(row: T): string;
  /** All rows are in memory, and stay what they are: it need not be read again. */
  readonly isHeld?: true;
}

/** What the caller wants of the rows that are accepted. It is asked of no other, and the first error ends the page. */
export type RowFilter<T, E> = (row: T) => Result<boolean, E>;

const longestSlice = 512;
/** Rows that are checked in one step. */
const rowsInStep = 32;

/** What is wanted of a list. */
interface PageWanted<T, S, E> {
  readonly perPage: number | undefined;
  readonly filter: RowFilter<T, E>;
  /** How a row of the page is shown; called in the step that has found it. */
  readonly show: (row: T) => S;
}

/**
 * Reads one page. A page is never shorter than requested while more rows match, however many the filter rejects; rows are read
 * in slices, longer ones while few match, so that a small page of a big list stays cheap.
 */
export function readPage<T, E = never>(
  source: Source<T>,
  perPage: number | undefined,
  filter: RowFilter<T, E> = takesAll,
): Result<Page<T>, E> {
  const steps = pageInSteps(() => source, { perPage, filter, show: (row) => row });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** `readPage` in steps of a slice or some rows each, between which the caller can do other work. Each step uses the source of its time. */
export function* pageInSteps<T, S, E>(
  sourceNow: () => Source<T>,
  { perPage, filter, show }: PageWanted<T, S, E>,
): Generator<void, Result<Page<S>, E>> {
  const wanted = limitOf(perPage);
  const items: S[] = [];
  let last: T | undefined;
  let limit = Math.min((wanted ?? longestSlice) + 1, longestSlice);
  for (;;) {
    const rows = sourceNow().slice(last, limit);
    for (const [at, row] of rows.entries()) {
      if (at % rowsInStep === rowsInStep - 1) yield;
      const source = sourceNow();
      if (!source.accept(row)) continue;
      const matches = filter(row);
      if (matches.isErr()) return matches.map(() => noPage);
      if (!matches.value) continue;
      if (items.length === wanted) return ok({ items, nextToken: source.token(row) });
      items.push(show(row));
    }
    last = rows[rows.length - 1];
    if (last === undefined || rows.length < limit) return ok({ items, nextToken: '' });
    limit = Math.min(limit * 2, longestSlice);
    yield;
  }
}

const matched = ok(true);

export function takesAll(): Result<boolean, never> {
  return matched;
}

const noPage: Page<never> = { items: [], nextToken: '' };

/** A page of no rows means all of them. */
function limitOf(perPage: number | undefined): number | undefined {
  return perPage !== undefined && perPage > 0 ? perPage : undefined;
}
