import type { ListQuery } from '../../../src/ports/storage.js';
import type { Key, KeyPart, Table } from '../../../src/shared/table.js';

/** The simplest model of a store: a list that is filtered and sorted for each query. */
export interface StorageModel<R> {
  readonly index: number;
  readonly tableIndex: number;
  readonly rows: readonly ModelRow<R>[];
}

export interface ModelRow<R> {
  readonly record: R;
  readonly createIndex: number;
  readonly modifyIndex: number;
}

/** Replaces or adds a record as part of the write with this index. */
export function modelPut<R>(table: Table<R>, model: StorageModel<R>, record: R, index: number): StorageModel<R> {
  const key = table.key(record);
  const before = model.rows.find((row) => compareKeys(table.key(row.record), key) === 0);
  const row = { record, createIndex: before?.createIndex ?? index, modifyIndex: index };
  return { index, tableIndex: index, rows: [...model.rows.filter((other) => other !== before), row] };
}

/** Removes a record; returns the same model if it does not exist. */
export function modelRemove<R>(table: Table<R>, model: StorageModel<R>, key: Key, index: number): StorageModel<R> {
  const rows = model.rows.filter((row) => compareKeys(table.key(row.record), key) !== 0);
  return rows.length === model.rows.length ? model : { index, tableIndex: index, rows };
}

/** The result of a list query, directly after the port's definition. */
export function modelList<R>(table: Table<R>, model: StorageModel<R>, query: ListQuery): ModelRow<R>[] {
  const keyOf = (row: ModelRow<R>): Key | undefined =>
    query.index === undefined ? table.key(row.record) : table.indexes[query.index]?.key(row.record);
  const found = model.rows
    .filter((row) => {
      const key = keyOf(row);
      return key !== undefined && matches(key, query);
    })
    .sort(
      (a, b) => compareKeys(keyOf(a) as Key, keyOf(b) as Key) || compareKeys(table.key(a.record), table.key(b.record)),
    );
  if (query.reverse === true) found.reverse();
  return found.slice(0, query.limit ?? found.length);
}

function matches(key: Key, query: ListQuery): boolean {
  const prefix = query.prefix ?? [];
  if (key.length < prefix.length || compareKeys(key.slice(0, prefix.length), prefix) !== 0) return false;
  if (query.textPrefix !== undefined) {
    const next = key[prefix.length];
    if (typeof next !== 'string') return false;
    const characters = Array.from(query.textPrefix);
    if (Array.from(next).slice(0, characters.length).join('|') !== characters.join('|')) return false;
  }
  if (query.from !== undefined && compareKeys(key, query.from) < 0) return false;
  return query.to === undefined || compareKeys(key, query.to) < 0;
}

/** The order of keys as the table contract defines it. */
export function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareParts(a[i] as KeyPart, b[i] as KeyPart);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(a: KeyPart, b: KeyPart): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(Array.from(a), Array.from(b));
  return rank(a) - rank(b);
}

function compareTexts(a: string[], b: string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = (a[i]?.codePointAt(0) as number) - (b[i]?.codePointAt(0) as number);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function rank(part: KeyPart): number {
  if (part === null) return 0;
  if (part === false) return 1;
  if (part === true) return 2;
  return typeof part === 'number' ? 3 : 4;
}
