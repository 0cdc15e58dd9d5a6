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
}

/** What the caller wants of the rows that are accepted. It is asked of no other, and the first error ends the page. */
export type RowFilter<T, E> = (row: T) => Result<boolean, E>;

const longestSlice = 512;

/**
 * Reads one page. A page is never shorter than requested while more rows match, however many the filter rejects; rows are read
 * in slices, longer ones while few match, so that a small page of a big list stays cheap.
 */
export function readPage<T, E = never>(
  source: Source<T>,
  perPage: number | undefined,
  filter: RowFilter<T, E> = takesAll,
): Result<Page<T>, E> {
  const wanted = limitOf(perPage);
  const items: T[] = [];
  let last: T | undefined;
  let limit = wanted === undefined ? undefined : Math.min(wanted + 1, longestSlice);
  for (;;) {
    const rows = source.slice(last, limit);
    for (const row of rows) {
      if (!source.accept(row)) continue;
      const matches = filter(row);
      if (matches.isErr()) return matches.map(() => noPage);
      if (!matches.value) continue;
      if (items.length === wanted) return ok({ items, nextToken: source.token(row) });
      items.push(row);
    }
    last = rows[rows.length - 1];
    if (last === undefined || limit === undefined || rows.length < limit) return ok({ items, nextToken: '' });
    limit = Math.min(limit * 2, longestSlice);
  }
}

const matched = ok(true);

function takesAll(): Result<boolean, never> {
  return matched;
}

const noPage: Page<never> = { items: [], nextToken: '' };

/** A page of no rows means all of them. */
function limitOf(perPage: number | undefined): number | undefined {
  return perPage !== undefined && perPage > 0 ? perPage : undefined;
}
