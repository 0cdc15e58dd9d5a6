import { type TaskNeed, unmetNeeds } from '../../../jobs/task-needs.js';
import type { ReadView } from '../../../ports/storage.js';
import { nodes, provisionOf } from '../../../scheduler/node.js';

/**
 * Returns a function for the needs that the best matching node does not meet; none while there are no nodes. Nodes are
 * read on demand, each once.
 */
export function unmetByNodes(view: ReadView): (needs: readonly TaskNeed[]) => readonly TaskNeed[] {
  const known: (string | undefined)[] = [];
  const further = provisions(view);
  return (needs) => {
    let fewest: readonly TaskNeed[] | undefined;
    for (let at = 0; at < known.length || read(further, known); at += 1) {
      const unmet = unmetNeeds(needs, known[at]);
      if (unmet.length === 0) return [];
      if (fewest === undefined || unmet.length < fewest.length) fewest = unmet;
    }
    return fewest ?? [];
  };
}

/** Reads the next one, if any. */
function read<T>(from: Iterator<T>, into: T[]): boolean {
  const next = from.next();
  if (next.done !== true) into.push(next.value);
  return next.done !== true;
}

/** The distinct provisions of nodes. Most installations have one or two. */
function* provisions(view: ReadView): Generator<string | undefined> {
  for (let from: readonly string[] = []; ; ) {
    const [row] = view.list(nodes, { index: 'by_provision', from, limit: 1 });
    if (row === undefined) return;
    const provision = provisionOf(row.record);
    yield provision;
    from = [`${provision ?? ''}\u0001`];
  }
}
