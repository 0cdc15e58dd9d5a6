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
