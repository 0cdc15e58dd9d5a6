/** A cache of rows that are read often (parents of dispatches, tokens, namespaces, pages of lists), with their parsed values. */
interface RowCache<R> {
  get(table: string, rowKey: string): R | undefined;
  /** Call when a row was read from the file. */
  offer(table: string, rowKey: string, row: R): void;
  /** Applies the changes that this process has committed. */
  apply(changes: readonly RowChange<R>[]): void;
  /** Call when another process has committed: all cached rows may be out of date. */
  clear(): void;
}

interface RowChange<R> {
  readonly table: string;
  readonly rowKey: string;
  /** Undefined if the row was removed. */
  readonly row: R | undefined;
}

/** Longer rows are not cached: one would replace thousands of others. */
const longestText = 256 * 1024;
const slots = 4096;

/**
 * A row is cached when it is read for the second time within a few thousand reads: caching rows that are not read again costs
 * more in garbage collection than it saves. Two generations, counted in characters of a string: when the young one is full, the old
 * one is dropped and the young one becomes the old one. A row that is read from the old one moves to the young one.
 */
export function rowCache<R extends { readonly text: string }>(budget: number): RowCache<R> {
  let old = new Map<string, R>();
  let young = new Map<string, R>();
  let youngSize = 0;
  /** Hashes of the keys that were read once. */
  const readOnce = new Int32Array(slots);

  const keyOf = (table: string, rowKey: string): string => `${table} ${rowKey}`;

  const admit = (key: string, row: R): void => {
    if (row.text.length > longestText) return;
    young.set(key, row);
    youngSize += row.text.length;
    if (youngSize <= budget / 2) return;
    old = young;
    young = new Map();
    youngSize = 0;
  };

  return {
    get(table, rowKey) {
      const key = keyOf(table, rowKey);
      const found = young.get(key);
      if (found !== undefined) return found;
      const aged = old.get(key);
      if (aged === undefined) return undefined;
      old.delete(key);
      admit(key, aged);
      return aged;
    },
    offer(table, rowKey, row) {
      const key = keyOf(table, rowKey);
      const hash = hashOf(key);
      const slot = hash & (slots - 1);
      if (readOnce[slot] === hash) admit(key, row);
      else readOnce[slot] = hash;
    },
    apply(changes) {
      for (const { table, rowKey, row } of changes) {
        const key = keyOf(table, rowKey);
        const isKnown = young.delete(key) || old.delete(key);
        if (isKnown && row !== undefined) admit(key, row);
      }
    },
    clear() {
      old = new Map();
      young = new Map();
      youngSize = 0;
    },
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
