import { type FSWatcher, watch } from 'node:fs';
import type { Change, Overlay, PendingRow } from '../../src/storage/overlay.js';
import { encodeEntry } from '../../src/storage/records.js';
import type { Waiters } from '../storage-kit/index.js';
import type { BoundTable, Tables } from './sqlite-catalog.js';
import type { EntryStatements } from './sqlite-indexes.js';
import {
  type EntryTexts,
  keyedRowFrom,
  printEntries,
  SqliteKeyedRow,
  sumOfDocument,
  sumOfKeys,
} from './sqlite-rows.js';

export interface Changes {
  /** Watches for commits of other processes while there are waiters; `begun` if it was not watching before. */
  observe(waiting: Waiters): 'begun' | 'continued';
  close(): void;
}

/** Interval of the checks for foreign commits when the file system reports nothing: network volumes, exhausted watches. */
const safetyMs = 100;
/** Ticks without a waiter after which observation ends, so that consecutive waits do not set it up each time. */
const lingerTicks = 20;

/**
 * Commits of other processes. One shows as a change of the file's data version, which costs less than a microsecond to
 * ask; it is asked when the write-ahead log changes on disk, and by a safety timer. Neither keeps the process alive.
 * `changedElsewhere` names the tables that changed since it was last called.
 */
export function sqliteChanges(walPath: string | undefined, changedElsewhere: () => readonly string[]): Changes {
  let observation: { readonly timer: NodeJS.Timeout; readonly watcher: FSWatcher | undefined } | undefined;
  let idleTicks = 0;
  let asked = false;

  function ask(waiting: Waiters): void {
    if (waiting.count() > 0) waiting.wake(changedElsewhere());
  }

  function askSoon(waiting: Waiters): void {
    if (asked) return;
    asked = true;
    // The log is written in pieces; by the end of the loop turn most of their reports have arrived.
    setImmediate(() => {
      asked = false;
      if (observation !== undefined) ask(waiting);
    });
  }

  function tick(waiting: Waiters): void {
    idleTicks = waiting.count() > 0 ? 0 : idleTicks + 1;
    if (idleTicks > lingerTicks) stop();
    else ask(waiting);
  }

  function stop(): void {
    if (observation === undefined) return;
    clearInterval(observation.timer);
    observation.watcher?.close();
    observation = undefined;
  }

  return {
    observe(waiting) {
      idleTicks = 0;
      if (observation !== undefined) return 'continued';
      if (walPath === undefined) return 'begun';
      const timer = setInterval(() => tick(waiting), safetyMs).unref();
      observation = { timer, watcher: watchFile(walPath, () => askSoon(waiting)) };
      return 'begun';
    },
    close: stop,
  };
}

function watchFile(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, changed);
    // For example when the file is removed: the safety timer continues to check.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/**
 * Stores the changed rows of an overlay, with their entries in all indexes. Returns the stored rows. `reread` means that
 * indexes have been prepared since the overlay was begun, so its rows may have more entries by now.
 */
export function storeChanges(tables: Tables, changes: Overlay, reread: boolean): readonly StoredChange[] {
  const stored: StoredChange[] = [];
  for (const name of changes.changedTables) {
    const behind = new Map<number, number[]>();
    const lazy = new Map<number, number>();
    for (const change of changes.changesOf(name)) {
      const bound = tables.bind(change.table);
      const row = storeChange(tables, bound, reread ? readAgain(tables, bound, change) : change);
      stored.push({ table: name, rowKey: change.rowKey, row });
      if (row === undefined) continue;
      for (const { id, lateAtMost } of bound.lazy) lazy.set(id, lateAtMost);
      for (const index of bound.foreign) behind.set(index, [...(behind.get(index) ?? []), row.rid]);
    }
    for (const [index, lateAtMost] of lazy) tables.entries.enterLate(index, lateAtMost);
    for (const [index, rows] of behind) tables.fallBehind(index, rows);
  }
  return stored;
}

function readAgain(tables: Tables, bound: BoundTable, change: Change): Change {
  const found = change.before && bound.find.get(change.rowKey);
  return found ? { ...change, before: keyedRowFrom(found, tables) } : change;
}

/** A row after a commit; undefined if it was removed. */
export interface StoredChange {
  readonly table: string;
  readonly rowKey: string;
  readonly row: SqliteKeyedRow | undefined;
}

/**
 * About how many pages a commit of these rows appends to the log, with as many changes of indexes. Each is on a separate page, and one more
 * has changed with them; those of a large commit share pages, until their documents fill separate ones.
 */
export function pagesOf(stored: readonly StoredChange[], entriesChanged: number): number {
  const characters = stored.reduce((sum, { row }) => sum + (row?.text.length ?? 0), 0);
  return Math.min(1 + stored.length + entriesChanged, 64) + characters / 3072;
}

function storeChange(tables: Tables, bound: BoundTable, { before, after }: Change): SqliteKeyedRow | undefined {
  const stored = before as SqliteKeyedRow | undefined;
  if (after === undefined) {
    if (stored !== undefined) {
      bound.remove.run(stored.rid);
      moveEntries(tables.entries, stored, stored.entryTexts, none);
    }
    return undefined;
  }
  const { text, createIndex, modifyIndex, rowKey } = after;
  const entries = entryTextsOf(bound, after);
  const printed = printEntries(entries, bound.indexIds);
  const docSum = sumOfDocument(text, createIndex, modifyIndex);
  const keySum = sumOfKeys(rowKey, printed);
  let rid = stored?.rid;
  if (stored === undefined || rid === undefined) {
    const added = bound.insert.run(rowKey, createIndex, modifyIndex, printed, text, docSum, keySum);
    rid = Number(added.lastInsertRowid);
    moveEntries(tables.entries, { rowKey, rid }, none, entries);
  } else {
    bound.update.run(createIndex, modifyIndex, printed, text, docSum, keySum, rid);
    if (printed !== stored.entries) moveEntries(tables.entries, stored, stored.entryTexts, entries);
  }
  tables.stored(bound.name, rid, modifyIndex);
  return new SqliteKeyedRow(after, { rid, entries: printed, entryTexts: entries }, tables);
}

const none: EntryTexts = new Map();

function entryTextsOf(bound: BoundTable, row: PendingRow): EntryTexts {
  const entries = new Map<number, string>();
  let position = 0;
  for (const { id } of bound.indexes) {
    const entry = row.entries[position];
    if (entry !== undefined) entries.set(id, entry);
    position += 1;
  }
  return entries;
}

/** Replaces the entries of a row in the indexes, and removes them where the row no longer has one. */
function moveEntries(
  indexes: EntryStatements,
  { rowKey, rid }: Pick<SqliteKeyedRow, 'rowKey' | 'rid'>,
  before: EntryTexts,
  after: EntryTexts,
): void {
  for (const [id, from] of before) if (after.get(id) !== from) indexes.remove(id, encodeEntry(from, rowKey), rid);
  for (const [id, to] of after) if (before.get(id) !== to) indexes.insert(id, encodeEntry(to, rowKey), rid);
}
