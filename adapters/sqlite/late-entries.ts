import { asLists, type SqliteHandle, type SqliteQuery, select } from './sqlite-handle.js';
import type { Found } from './sqlite-rows.js';
import { type Scans, scansBy } from './sqlite-statements.js';

/*
 * An index may lack the entries of the newest rows for a while (`lazy` in its definition), so that adding a row changes none of its pages.
 * `signalbox_indexes.entered_to` is the row number up to which such an index is complete; it is null for the other indexes. Rows keep their
 * own entries: scans read those of the late rows from there, and a commit enters all of them once there are enough.
 */

/** The late rows of one index. */
export interface LateRows {
  readonly tableId: number;
  /** Rows with a higher number have no entry in the index. */
  enteredTo: number;
  /** An upper bound of the number of late rows. */
  waiting: number;
}

/** Reads the late rows of all indexes that may have some, by index ID. */
export function lateRows(handle: SqliteHandle): () => Map<number, LateRows> {
  const indexes = select<{ id: number; tableId: number; enteredTo: number }>(
    handle,
    'SELECT id, table_id AS tableId, entered_to AS enteredTo FROM signalbox_indexes WHERE entered_to IS NOT NULL',
  );
  const counts = new Map<number, SqliteQuery<{ n: number }>>();
  const countAfter = (tableId: number, rid: number): number => {
    const count =
      counts.get(tableId) ?? select(handle, `SELECT count(*) AS n FROM signalbox_rows_${tableId} WHERE rid > ?`);
    counts.set(tableId, count);
    return count.get(rid).n;
  };
  return () => {
    const late = indexes.all().map((row) => ({ ...row, waiting: countAfter(row.tableId, row.enteredTo) }));
    return new Map(late.map((rows) => [rows.id, rows]));
  };
}

/** Allows late rows in an index from now on; existing rows have their entries or are recorded as behind. */
export function allowLateRows(handle: SqliteHandle, tableId: number, index: number): void {
  handle.prepare(`UPDATE signalbox_indexes SET entered_to = ${newestOf(tableId)} WHERE id = ?`).run(index);
}

/** Prepares to enter the late rows of one index. */
export function lateEntering(handle: SqliteHandle, index: number, tableId: number): (late: LateRows) => void {
  const enter = handle.prepare(
    `INSERT INTO signalbox_entries_${index} (entry, rid)
     SELECT ${entryIn(index)}, r.rid FROM signalbox_rows_${tableId} AS r WHERE r.rid > ? AND ${keyIn(index)} IS NOT NULL`,
  );
  const note = select<{ entered_to: number }>(
    handle,
    `UPDATE signalbox_indexes SET entered_to = max(entered_to, ${newestOf(tableId)}) WHERE id = ? RETURNING entered_to`,
  );
  return (late) => {
    enter.run(late.enteredTo);
    late.enteredTo = note.get(index).entered_to;
    late.waiting = 0;
  };
}

/** The entries `e` of an index with their rows `r`. CROSS JOIN keeps SQLite's planner from reading the rows first. */
export function entriesWithRows(index: number, tableId: number): string {
  return `signalbox_entries_${index} AS e CROSS JOIN signalbox_rows_${tableId} AS r ON r.rid = e.rid`;
}

/** Scans over the entries of an index and those of its late rows. */
export function scansWithLateRows(handle: SqliteHandle, index: number, tableId: number): Scans {
  const rows = `signalbox_rows_${tableId}`;
  const enteredTo = `(SELECT entered_to FROM signalbox_indexes WHERE id = ${index})`;
  const newest = `SELECT *, ${entryIn(index)} AS entry FROM ${rows} AS r WHERE rid > ${enteredTo}`;
  return scansBy((columns, order) => {
    const scan = asLists(
      select<Found>(
        handle,
        `SELECT ${columns}, e.entry AS entry FROM ${entriesWithRows(index, tableId)} WHERE e.entry >= ? AND e.entry < ?
       UNION ALL
       SELECT ${columns}, r.entry FROM (${newest}) AS r WHERE r.entry >= ? AND r.entry < ?
       ORDER BY entry${order}`,
      ),
    );
    return { all: (lower, upper, limit) => scan.all(lower, upper, lower, upper, limit) };
  });
}

/** The encoded index key in a row `r`; null if the index leaves the row out. */
export function keyIn(index: number): string {
  return `json_extract(r.entries, '$."${index}"')`;
}

/** See `encodeEntry`. */
export function entryIn(index: number): string {
  return `${keyIn(index)} || ' ' || r.place`;
}

function newestOf(tableId: number): string {
  return `(SELECT coalesce(max(rid), -1) FROM signalbox_rows_${tableId})`;
}
