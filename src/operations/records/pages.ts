import type { ListQuery, ReadView } from '../../ports/storage.js';
import type { Key, Table } from '../../shared/table.js';

interface PagesQuery<T> extends Pick<ListQuery, 'index' | 'prefix' | 'textPrefix'> {
  /** Number of records in a page. */
  readonly size: number;
  /** The key of a record in the index, or in the table without one. Its last part is a string. */
  readonly keyOf: (record: T) => readonly [...Key, string];
}

/**
 * The records of a table in the order of an index, or of their keys, in pages; each page reads the then current view. There is at least
 * one page, which may be empty.
 */
export function* pagesOf<T>(
  view: () => ReadView,
  table: Table<T>,
  { size, keyOf, ...query }: PagesQuery<T>,
): Generator<readonly T[], void> {
  for (let from: Key = query.prefix ?? []; ; ) {
    const page = view()
      .list(table, { ...query, from, limit: size })
      .map(({ record }) => record);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < size) return;
    const key = keyOf(last);
    // The first key after the last record.
    from = [...key.slice(0, -1), `${key.at(-1)}\u0000`];
  }
}
