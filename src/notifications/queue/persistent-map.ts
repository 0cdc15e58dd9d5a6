/**
 * An immutable map: `with` and `without` return a new version. The order of its members is undefined. Values are
 * never undefined.
 */
export interface PersistentMap<K, V> {
  readonly size: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  keys(): readonly K[];
  values(): readonly V[];
  with(key: K, value: V): PersistentMap<K, V>;
  without(key: K): PersistentMap<K, V>;
}

/** A version's value for one key in which it differs from `newer`; undefined for none. */
interface Difference<K, V> {
  readonly key: K;
  readonly value: V | undefined;
  readonly newer: Version<K, V>;
}

/**
 * All versions share one table. It holds the members of the last used version; every other version stores its difference from its
 * neighbour on the way there (Baker's rerooting). A change of the newest version takes constant time; copying would take linear
 * time. Using an older version again takes one step per change in between.
 */
class Version<K, V> implements PersistentMap<K, V> {
  #table: Map<K, V> | undefined;
  #difference: Difference<K, V> | undefined;
  readonly size: number;

  constructor(table: Map<K, V>) {
    this.#table = table;
    this.size = table.size;
  }

  get(key: K): V | undefined {
    return this.#own().get(key);
  }

  has(key: K): boolean {
    return this.#own().has(key);
  }

  /** A copy, because the table may switch to another version while the caller iterates. */
  keys(): readonly K[] {
    return [...this.#own().keys()];
  }

  values(): readonly V[] {
    return [...this.#own().values()];
  }

  with(key: K, value: V): PersistentMap<K, V> {
    const table = this.#own();
    const before = table.get(key);
    table.set(key, value);
    return this.#changed(table, key, before);
  }

  without(key: K): PersistentMap<K, V> {
    const table = this.#own();
    const before = table.get(key);
    return table.delete(key) ? this.#changed(table, key, before) : this;
  }

  #changed(table: Map<K, V>, key: K, value: V | undefined): Version<K, V> {
    const newer = new Version(table);
    this.#table = undefined;
    this.#difference = { key, value, newer };
    return newer;
  }

  /** Switches the table to this version. */
  #own(): Map<K, V> {
    if (this.#table !== undefined) return this.#table;
    const path: Version<K, V>[] = [];
    let owner: Version<K, V> = this;
    while (owner.#difference !== undefined) {
      path.push(owner);
      owner = owner.#difference.newer;
    }
    const table = owner.#table as Map<K, V>;
    for (const version of path.reverse()) {
      const { key, value } = version.#difference as Difference<K, V>;
      owner.#difference = { key, value: table.get(key), newer: version };
      owner.#table = undefined;
      if (value === undefined) table.delete(key);
      else table.set(key, value);
      version.#difference = undefined;
      version.#table = table;
      owner = version;
    }
    return table;
  }
}

export function persistentMap<K, V>(): PersistentMap<K, V> {
  return new Version<K, V>(new Map());
}
