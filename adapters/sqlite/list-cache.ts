import type { ListQuery } from '../../src/ports/storage.js';
import type { KeyBounds } from '../../src/storage/keys.js';
import type { AnyTable } from '../../src/storage/records.js';
import type { SqliteKeyedRow } from './sqlite-rows.js';

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
