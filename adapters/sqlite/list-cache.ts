import type { ListQuery } from '../../src/ports/storage.js';
import type { KeyBounds } from '../../src/storage/keys.js';
import type { AnyTable } from '../../src/storage/records.js';
import type { SqliteKeyedRow } from './sqlite-rows.js';

/** A state of a table: the rows of a list are the same in equal ones. */
interface TableState {
  /** Index of its last change. */
  readonly changedAt: number;
  /** How often the catalog was read; see `Tables`. */
  readonly epoch: number;
}

/** Short lists of tables that change seldom, such as the configurations of a workspace, which every event asks for. */
interface ListCache {
  /** The rows of the list in this state, as a list of the caller's own; undefined if they are not known. */
  get(list: ListKey, state: TableState): SqliteKeyedRow[] | undefined;
  /** The list was read from the file. */
  offer(list: ListKey, state: TableState, rows: readonly SqliteKeyedRow[]): void;
}

/** What a list is asked for by. */
interface ListKey {
  readonly table: AnyTable;
  readonly text: string;
}

interface KnownList extends TableState {
  /** Undefined when it was read once in this state. */
  readonly rows: readonly SqliteKeyedRow[] | undefined;
}

/** When there are more lists, or longer ones, all of them are dropped. */
const mostLists = 1024;
const mostCharacters = 2_000_000;
const mostRows = 64;

/** The key of a list that may be cached. Undefined for tables of which nearly every write adds rows: their lists are seldom read twice. */
export function listKey(table: AnyTable, query: ListQuery, { lower, upper }: KeyBounds): ListKey | undefined {
  if (table.hints.grows === true) return undefined;
  const { index = '', reverse = false, limit = '' } = query;
  return { table, text: `${index}\n${reverse}\n${limit}\n${lower}\n${upper}` };
}

/** Keeps a list when it is read for the second time in the same state of its table. */
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
      // Of a list that is replaced the characters count on: that is soon enough.
      if (isKept) characters += rows.reduce((sum, row) => sum + row.text.length, 0);
      lists.set(text, { changedAt, epoch, rows: isKept ? [...rows] : undefined });
    },
  };
}

function isSame(known: TableState, { changedAt, epoch }: TableState): boolean {
  return known.changedAt === changedAt && known.epoch === epoch;
}
