import type { ListQuery, ReadView, Row } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import { capacitySignals } from '../../../scheduler/capacity-signal.js';

/* The changes of allocations since a write, to update cached views of them. */

/** Live allocations were removed after the write; which ones is unknown. */
export function wereRemoved(view: ReadView, since: number): boolean {
  return (view.get(capacitySignals, ['removal'])?.record.index ?? 0) > since;
}

/** The changes since the write are incomplete: live allocations were removed after it, or the store is another one. */
export function isTooOld(view: ReadView, since: number): boolean {
  return wereRemoved(view, since) || view.tableIndex(allocations) < since;
}

/** Allocations that were changed after the write, oldest change first; all of them without a limit. */
export function changedSince(since: number, limit = Number.POSITIVE_INFINITY): ListQuery {
  return { index: 'by_modify', from: [since + 1], limit };
}

/** About `size` of them; all of each write. */
export function nextChanges(view: ReadView, since: number, size: number): readonly Row<Allocation>[] {
  const page = view.list(allocations, changedSince(since, size));
  const last = page.at(-1)?.record.ModifyIndex;
  if (last === undefined || page.length < size) return page;
  const complete = page.filter(({ record }) => record.ModifyIndex < last);
  return complete.length > 0 ? complete : view.list(allocations, { index: 'by_modify', from: [last], to: [last + 1] });
}
