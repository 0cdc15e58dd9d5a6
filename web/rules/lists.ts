/** A page of a list, read from the position where the page before it ended. */
export interface ChainedPage<T> {
  readonly items: readonly T[];
  /** Where the next page begins; empty at the end of the list. */
  readonly next: string;
}

/** The pages of a long list that were read, in order. Those that are not shown may be older than those that are. */
export type PageChain<T> = readonly ChainedPage<T>[];

/** The chain with a page that was read again. Pages behind the end of the list are gone; the others stay as they were. */
export function withPage<T>(chain: PageChain<T>, at: number, page: ChainedPage<T>): PageChain<T> {
  return [...chain.slice(0, at), page, ...(page.next === '' ? [] : chain.slice(at + 1))];
}

/** Where a page begins, or undefined when the list ends before it. */
export function beginOf<T>(chain: PageChain<T>, at: number): string | undefined {
  if (at === 0) return '';
  return chain[at - 1]?.next || undefined;
}

/** The pages to read, in order: the first one, where new records appear, those with rows that are shown, and those that are wanted but were never read. */
export function pagesToRead<T>(
  chain: PageChain<T>,
  shown: readonly [number, number],
  wanted: number,
): readonly number[] {
  let first = 0;
  const read = chain.map(({ items }, at) => {
    const [from, to] = [first, first + items.length];
    first = to;
    return at === 0 || (from < shown[1] && to > shown[0]);
  });
  const count = Math.max(chain.length, wanted, 1);
  return Array.from({ length: count }, (_, at) => at).filter((at) => read[at] ?? true);
}

/** All rows in order. A record that has moved between two reads is shown once, where the earlier page has it. */
export function rowsOf<T>(chain: PageChain<T>, idOf: (row: T) => string): readonly T[] {
  const seen = new Set<string>();
  return chain
    .flatMap(({ items }) => items)
    .filter((row) => {
      const id = idOf(row);
      return !seen.has(id) && seen.add(id);
    });
}

/** A list that keeps its order while somebody points at it. */
export interface HeldRows<T> {
  readonly rows: readonly T[];
  /** How many rows would appear, vanish or move. */
  readonly changes: number;
}

/** The rows that were shown, with their present records, and what was loaded behind them; all else that has changed is only counted. */
export function heldRows<T>(shown: readonly T[], present: readonly T[], idOf: (row: T) => string): HeldRows<T> {
  const before = new Set(shown.map(idOf));
  const now = new Map(present.map((row) => [idOf(row), row]));
  const end = present.findLastIndex((row) => before.has(idOf(row))) + 1;
  const kept = present.slice(0, end).filter((row) => before.has(idOf(row)));
  const left = shown.filter((row) => now.has(idOf(row)));
  const isMoved = kept.some((row, at) => idOf(row) !== idOf(left[at] ?? row));
  const changes = end - kept.length + (shown.length - left.length) + (end === 0 ? present.length : 0);
  return {
    rows: [...shown.map((row) => now.get(idOf(row)) ?? row), ...(end === 0 ? [] : present.slice(end))],
    changes: changes === 0 && isMoved ? 1 : changes,
  };
}
