import type { ResultAsync } from 'neverthrow';
import type { ReadView, Row, StorageError } from '../../../ports/storage.js';
import { isoFromInstant } from '../../../shared/instant.js';
import type { Key, Table } from '../../../shared/table.js';
import { type DescribedTable, exportedTables } from '../../../tables.js';
import type { EngineContext } from '../../context/engine-context.js';

/*
 * An export is JSON lines: a header, for each table a line and then a line for each of its rows, and a last line, without
 * which it is incomplete.
 */

/** The version of the format; incremented when readers of the old format would misread the new one. */
export const exportFormat = 1;

interface ExportHeader {
  readonly signalboxExport: number;
  /** When it was made, in ISO 8601. */
  readonly at: string;
  /** Index of the last write that it contains. */
  readonly index: number;
}

interface ExportedTableLine {
  readonly table: string;
  /** Index of the last write to the table. */
  readonly index: number;
}

interface ExportEnd {
  /** Rows of all tables. */
  readonly rows: number;
}

/** Receives an export, chunk by chunk. */
export type ExportSink = (text: string) => void;

/**
 * Writes one snapshot of the store in the form that `readStoreExport` and `testEngine({ from })` of `signalbox/testing` accept.
 * Returns the number of rows. Secrets are left out: tokens, variables, sources of jobs, URLs and signing secrets of destinations, and
 * addresses of users. Jobs are included with their environment and payloads, runs of functions with their inputs and results.
 *
 * `open` is called when reading begins, and again at each restart; discard the output of earlier sinks then. The store is read
 * in one turn of the event loop: for a server with many records, run it in another process, as `signalbox export` does.
 */
export function exportStore(
  context: Pick<EngineContext, 'storage' | 'clock'>,
  open: () => ExportSink,
): ResultAsync<number, StorageError> {
  const at = isoFromInstant(context.clock.now());
  return context.storage.read((view) => {
    // A store that must prepare a table first restarts the read: prepare all tables before the output begins.
    for (const { table } of exportedTables) view.list(table, { limit: 1 });
    const sink = open();
    const line = (value: ExportHeader | ExportedTableLine | ExportEnd): void => sink(`${JSON.stringify(value)}\n`);
    line({ signalboxExport: exportFormat, at, index: view.index });
    let rows = 0;
    for (const { table, exported } of exportedTables) {
      line({ table: table.name, index: view.tableIndex(table) });
      for (const row of rowsOf(view, table)) {
        sink(rowLine(row, exported));
        rows += 1;
      }
    }
    line({ rows });
    return rows;
  });
}

function rowLine(row: Row<unknown>, exported: DescribedTable['exported']): string {
  const changed = typeof exported === 'function' ? exported(row.record) : row.record;
  const record = changed === row.record ? row.text : JSON.stringify(changed);
  return `{"createIndex":${row.createIndex},"modifyIndex":${row.modifyIndex},"record":${record}}\n`;
}

/** Rows read at once. */
const chunk = 500;

/** All rows in the order of their keys. */
function* rowsOf(view: ReadView, table: Table<unknown>): Generator<Row<unknown>> {
  let from: Key | undefined;
  for (;;) {
    const rows =
      from === undefined ? view.list(table, { limit: chunk }) : view.list(table, { from, limit: chunk + 1 }).slice(1);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < chunk) return;
    from = table.key(last.record);
  }
}
