import type { ListQuery } from '../../src/ports/storage.js';
import type { AnyTable, KeyBounds } from '../../src/storage/records.js';
import type { SqliteKeyedRow } from './sqlite-rows.js';

/** A cache of rows that are read often (parents of dispatches, tokens, namespaces, pages of lists), with their parsed values. */
interface RowCache<R> {
  get(table: string, rowKey: string): R | undefined;
  /** Call when a row was read from the file. */
  offer(table: string, rowKey: string, row: R): void;
  /** Caches a row at once. */
  keep(table: string, rowKey: string, row: R): void;
  /** Drops a row that was replaced or removed; whether it was cached. */
  drop(table: string, rowKey: string): boolean;
  /** Call when another process has committed: all cached rows may be out of date. */
  clear(): void;
}

/** Longer rows are not cached: one would replace thousands of others. */
const longestText = 256 * 1024;
const slots = 4096;
/** What a cached row takes beside its text, in characters. */
const leastSize = 100;

/**
 * A row is cached when it is read for the second time within a few thousand reads: caching rows that are not read again costs
 * more in garbage collection than it saves. Two generations, counted in characters of a string: when the young one is full, the old
 * one is dropped and the young one becomes the old one. A row that is read from the old one moves to the young one.
 */
export function rowCache<R extends { readonly text: string }>(budget: number): RowCache<R> {
  let old = new Generation<R>();
  let young = new Generation<R>();
  /** Hashes of the keys that were read once. */
  const readOnce = new Int32Array(slots);

  const keep = (table: string, rowKey: string, row: R): void => {
    if (row.text.length > longestText) return;
    young.set(table, rowKey, row);
    if (young.size <= budget / 2) return;
    old = young;
    young = new Generation();
  };

  return {
    get(table, rowKey) {
      const found = young.get(table, rowKey);
      if (found !== undefined) return found;
      const aged = old.get(table, rowKey);
      if (aged === undefined) return undefined;
      old.delete(table, rowKey);
      keep(table, rowKey, aged);
      return aged;
    },
    offer(table, rowKey, row) {
      const hash = hashOf(rowKey, hashOf(table, 0x811c9dc5));
      const slot = hash & (slots - 1);
      if (readOnce[slot] === hash) keep(table, rowKey, row);
      else readOnce[slot] = hash;
    },
    keep,
    drop: (table, rowKey) => young.delete(table, rowKey) || old.delete(table, rowKey),
    clear() {
      old = new Generation();
      young = new Generation();
    },
  };
}

class Generation<R extends { readonly text: string }> {
  /** Characters of all rows that were entered. */
  size = 0;
  readonly #tables = new Map<string, Map<string, R>>();

  get(table: string, rowKey: string): R | undefined {
    return this.#tables.get(table)?.get(rowKey);
  }

  set(table: string, rowKey: string, row: R): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    rows.set(rowKey, row);
    this.size += leastSize + row.text.length;
  }

  delete(table: string, rowKey: string): boolean {
    return this.#tables.get(table)?.delete(rowKey) === true;
  }
}

/** FNV-1a, from the hash of what precedes. */
function hashOf(text: string, before: number): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** A state of a table: in equal states, a list has the same rows. */
interface TableState {
  /** Index of its last change. */
  readonly changedAt: number;
  /** How often the catalog was read; see `Tables`. */
  readonly epoch: number;
}

/** Caches short lists of tables that change seldom, such as the configurations of a workspace, which every event reads. */
interface ListCache {
  /** A copy of the list's rows in this state; undefined if not cached. */
  get(list: ListKey, state: TableState): SqliteKeyedRow[] | undefined;
  /** Call when the list was read from the file. */
  offer(list: ListKey, state: TableState, rows: readonly SqliteKeyedRow[]): void;
}

/** The parameters of a list. */
interface ListKey {
  readonly table: AnyTable;
  readonly text: string;
}

interface KnownList extends TableState {
  /** Undefined if it was read only once in this state. */
  readonly rows: readonly SqliteKeyedRow[] | undefined;
}

/** Beyond these limits the whole cache is dropped. */
const mostLists = 1024;
const mostCharacters = 2_000_000;
const mostRows = 64;

/** The key of a list that may be cached. Undefined for tables of which nearly every write adds rows: their lists are seldom read twice. */
export function listKey(table: AnyTable, query: ListQuery, { lower, upper }: KeyBounds): ListKey | undefined {
  if (table.hints.grows === true) return undefined;
  const { index = '', reverse = false, limit = '' } = query;
  return { table, text: `${index}\n${reverse}\n${limit}\n${lower}\n${upper}` };
}

/** Caches a list at its second read in the same state of its table. */
export function listCache(): ListCache {
  let tables = new WeakMap<AnyTable, Map<string, KnownList>>();
  let count = 0;
  let characters = 0;

  const listsOf = (table: AnyTable): Map<string, KnownList> => {
    if (count >= mostLists || characters >= mostCharacters) {
      tables = new WeakMap();
      count = 0;
      characters = 0;
    }
    let lists = tables.get(table);
    if (lists === undefined) {
      lists = new Map();
      tables.set(table, lists);
    }
    return lists;
  };

  return {
    get({ table, text }, state) {
      const known = tables.get(table)?.get(text);
      return known?.rows !== undefined && isSame(known, state) ? [...known.rows] : undefined;
    },
    offer({ table, text }, { changedAt, epoch }, rows) {
      const lists = listsOf(table);
      const known = lists.get(text);
      const isKept = known !== undefined && isSame(known, { changedAt, epoch }) && rows.length <= mostRows;
      if (known === undefined) count += 1;
      // The characters of a replaced list still count: the cache is then dropped a little early.
      if (isKept) characters += rows.reduce((sum, row) => sum + row.text.length, 0);
      lists.set(text, { changedAt, epoch, rows: isKept ? [...rows] : undefined });
    },
  };
}

function isSame(known: TableState, { changedAt, epoch }: TableState): boolean {
  return known.changedAt === changedAt && known.epoch === epoch;
}
