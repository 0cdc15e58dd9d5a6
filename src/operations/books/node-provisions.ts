import { type TaskNeed, unmetNeeds } from '../../jobs/task-needs.js';
import type { ReadView } from '../../ports/storage.js';
import { nodes, provisionOf } from '../../scheduler/node.js';

/** Of the needs those that the most suitable node does not meet; none while there are no nodes. */
export function unmetByNodes(view: ReadView, needs: readonly TaskNeed[]): readonly TaskNeed[] {
  let fewest: readonly TaskNeed[] | undefined;
  for (const provision of provisions(view)) {
    const unmet = unmetNeeds(needs, provision);
    if (unmet.length === 0) return [];
    if (fewest === undefined || unmet.length < fewest.length) fewest = unmet;
  }
  return fewest ?? [];
}

/** What nodes say that they provide, each different answer once. Most installations have one or two. */
function* provisions(view: ReadView): Generator<string | undefined> {
  for (let from: readonly string[] = []; ; ) {
    const [row] = view.list(nodes, { index: 'by_provision', from, limit: 1 });
    if (row === undefined) return;
    const provision = provisionOf(row.record);
    yield provision;
    from = [`${provision ?? ''}\u0001`];
  }
}
