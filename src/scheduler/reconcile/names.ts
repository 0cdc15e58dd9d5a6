import type { Allocation } from '../allocation.js';

/** `<job>.<group>[<index>]`: the name of an allocation. */
export function allocationName(jobId: string, group: string, index: number): string {
  return `${jobId}.${group}[${index}]`;
}

/** The index in an allocation's name; 0 without an index. */
export function indexFromName(name: string): number {
  const open = name.lastIndexOf('[');
  const index = open < 0 ? Number.NaN : Number(name.slice(open + 1, -1));
  return Number.isInteger(index) && index >= 0 ? index : 0;
}

type Named = Pick<Allocation, 'Name'>;

/** Sorted by the index in the name. */
export function byIndex(left: Named, right: Named): number {
  return indexFromName(left.Name) - indexFromName(right.Name);
}

/** Which indexes a group's allocations have, and which come next. */
export class NameIndex {
  readonly #jobId: string;
  readonly #group: string;
  readonly #count: number;
  readonly #used = new Set<number>();
  /** By index, the number of allocations beyond the first that share it. */
  readonly #duplicates = new Map<number, number>();

  constructor(jobId: string, group: string, count: number, holders: Iterable<Named>) {
    this.#jobId = jobId;
    this.#group = group;
    this.#count = count;
    for (const { Name } of holders) {
      const index = indexFromName(Name);
      if (this.#used.has(index)) this.#duplicates.set(index, (this.#duplicates.get(index) ?? 0) + 1);
      else this.#used.add(index);
    }
  }

  /** Takes the lowest free names; when none are left, those from 0 on a second time. */
  next(amount: number): string[] {
    const indexes: number[] = [];
    for (let index = 0; index < this.#count && indexes.length < amount; index += 1) {
      if (!this.#used.has(index)) indexes.push(index);
    }
    for (let index = 0; indexes.length < amount; index += 1) indexes.push(index);
    return this.#take(indexes);
  }

  /** Releases up to `amount` of the highest names in use and returns them. */
  highest(amount: number): ReadonlySet<string> {
    const indexes = [...this.#used].sort((left, right) => right - left).slice(0, amount);
    for (const index of indexes) this.#used.delete(index);
    return new Set(indexes.map((index) => this.#nameOf(index)));
  }

  /**
   * Takes names for canaries: those of the allocations that they will replace, lowest first, unless a canary has them; then free ones;
   * then indexes above the count.
   */
  nextCanaries(amount: number, canaries: Iterable<Named>, replaced: Iterable<Named>): string[] {
    const held = new Set([...canaries].map(({ Name }) => indexFromName(Name)));
    const indexes = [...new Set([...replaced].map(({ Name }) => indexFromName(Name)))]
      .filter((index) => index < this.#count && !held.has(index))
      .sort((left, right) => left - right)
      .slice(0, amount);
    const chosen = new Set(indexes);
    for (let index = 0; index < this.#count && indexes.length < amount; index += 1) {
      if (!this.#used.has(index) && !chosen.has(index)) indexes.push(index);
    }
    for (let index = this.#count; indexes.length < amount; index += 1) indexes.push(index);
    return this.#take(indexes);
  }

  isDuplicate(name: string): boolean {
    return this.#duplicates.has(indexFromName(name));
  }

  /** Removes one holder. */
  release(name: string): void {
    const index = indexFromName(name);
    const duplicates = this.#duplicates.get(index);
    if (duplicates === undefined) this.#used.delete(index);
    else if (duplicates === 1) this.#duplicates.delete(index);
    else this.#duplicates.set(index, duplicates - 1);
  }

  #take(indexes: readonly number[]): string[] {
    for (const index of indexes) this.#used.add(index);
    return indexes.map((index) => this.#nameOf(index));
  }

  #nameOf(index: number): string {
    return allocationName(this.#jobId, this.#group, index);
  }
}
