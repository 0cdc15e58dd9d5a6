/** Maximum number of compared candidate names, to bound the cost. */
const MOST_COMPARED = 1000;

/** The known name nearest to a misspelled one, or undefined if none is near enough. */
export function suggestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > 64) return undefined;
  const most = given.length <= 4 ? 1 : given.length <= 8 ? 2 : 3;
  let best: string | undefined;
  let bestDistance = most + 1;
  let compared = 0;
  for (const name of known) {
    compared += 1;
    if (compared > MOST_COMPARED) break;
    if (Math.abs(name.length - given.length) >= bestDistance) continue;
    const distance = editDistance(given, name);
    if (distance < bestDistance && distance < name.length) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Edit distance: insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        costAt(last, column) + 1,
        costAt(current, column - 1) + 1,
        costAt(last, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, costAt(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return costAt(last, right.length);
}

function costAt(costs: readonly number[], column: number): number {
  return costs[column] ?? 0;
}
