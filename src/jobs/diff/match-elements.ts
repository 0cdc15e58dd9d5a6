import type { Item } from './flatten.js';

/** An element of the old list and its counterpart in the new list; null for none. */
type Pair = readonly [Item | null, Item | null];

/**
 * Pairs the services of both sides. If each side has one, they are a pair. Otherwise each old service is paired with the first new one
 * that is most like it: the name counts 3, the port 2, the position 1, and more than 2 are needed.
 */
export function matchServices(old: readonly Item[], next: readonly Item[]): Pair[] {
  return matchEach(old, next, (before, after, samePosition) => {
    const score =
      (before['Name'] === after['Name'] ? 3 : 0) +
      (before['PortLabel'] === after['PortLabel'] ? 2 : 0) +
      (samePosition ? 1 : 0);
    return score > 2 ? score : 0;
  });
}

/** Pairs the templates of both sides. If each side has one, they are a pair; otherwise those with the same destination are. */
export function matchTemplates(old: readonly Item[], next: readonly Item[]): Pair[] {
  return matchEach(old, next, (before, after) => (before['DestPath'] === after['DestPath'] ? 1 : 0));
}

/** The similarity of two elements; 0 when they cannot be the same. */
type Likeness = (old: Item, next: Item, samePosition: boolean) => number;

function matchEach(old: readonly Item[], next: readonly Item[], likeness: Likeness): Pair[] {
  const [onlyOld] = old;
  const [onlyNew] = next;
  if (old.length === 1 && next.length === 1) return [[onlyOld ?? null, onlyNew ?? null]];
  const free = new Set(next.keys());
  const pairs: Pair[] = old.map((before, position) => {
    const match = bestOf(free, (at) => likeness(before, next[at] as Item, at === position));
    if (match === undefined) return [before, null];
    free.delete(match);
    return [before, next[match] ?? null];
  });
  return [...pairs, ...[...free].map((at): Pair => [null, next[at] ?? null])];
}

/** The first position with the highest score; undefined when all are 0. */
function bestOf(positions: ReadonlySet<number>, scoreOf: (position: number) => number): number | undefined {
  let best: number | undefined;
  let highest = 0;
  for (const position of positions) {
    const score = scoreOf(position);
    if (score > highest) {
      highest = score;
      best = position;
    }
  }
  return best;
}
