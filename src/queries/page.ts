/**
 * A page of a list (job interface, pagination). The token names the first item of the next page, so that a page begins
 * where the one before ended even when that very item has gone meanwhile.
 */
export interface Page<T> {
  readonly items: readonly T[];
  /** Empty when nothing follows. */
  readonly nextToken: string;
}

export interface PageRequest {
  /** 0, negative and absent mean everything. */
  readonly perPage?: number;
  readonly nextToken?: string;
  readonly reverse?: boolean;
}

/** How a list is read in slices: the rows from a place on, in order. */
export interface Source<T> {
  /** At most `limit` rows, beginning after `last`, or at the start of the page when there is none. */
  slice(last: T | undefined, limit: number | undefined): readonly T[];
  /** Filters and access; a row that is not accepted does not count. */
  accept(row: T): boolean;
  token(row: T): string;
}

const sliceLength = 512;

/**
 * Reads one page. A page is never shorter than asked for while more rows match, whatever the filter refuses; rows are
 * read in slices, so that a small page of a big list stays cheap.
 */
export function readPage<T>(source: Source<T>, perPage: number | undefined): Page<T> {
  const wanted = perPage !== undefined && perPage > 0 ? perPage : undefined;
  if (wanted === undefined) {
    return { items: source.slice(undefined, undefined).filter((row) => source.accept(row)), nextToken: '' };
  }
  const items: T[] = [];
  let last: T | undefined;
  for (;;) {
    const limit = Math.min(wanted + 1 - items.length, sliceLength);
    const rows = source.slice(last, limit);
    for (const row of rows) {
      if (!source.accept(row)) continue;
      if (items.length === wanted) return { items, nextToken: source.token(row) };
      items.push(row);
    }
    last = rows[rows.length - 1];
    if (last === undefined || rows.length < limit) return { items, nextToken: '' };
  }
}
