import { allowsWorkspace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { firstSequenceOf } from '../../notifications/events/event.js';
import { workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';

/*
 * A workspace may have been removed and created again with its ID. What was accepted for the earlier one is kept until its time in the log is
 * over, but does not belong to the present one: the index of the write that created the row of the workspace divides them (decision 017).
 */

/** The lowest sequence that an event of the workspace can have; no event has it when there is no such workspace. */
export function firstSequenceIn(view: ReadView, workspaceId: string): number {
  const row = view.get(workspaces, [workspaceId]);
  return row === undefined ? Number.MAX_SAFE_INTEGER : firstSequenceOf(row.createIndex);
}

/** Whether what a write with the index began belongs to the workspace as it is now, and not to an earlier one or one that was removed. */
export function isOfPresentWorkspace(view: ReadView, workspaceId: string, createIndex: number): boolean {
  const row = view.get(workspaces, [workspaceId]);
  return row !== undefined && createIndex >= row.createIndex;
}

/** Whether the caller may administer an event and its deliveries. Those of an earlier or a removed workspace are left to the host. */
export function mayAdminister(
  view: ReadView,
  caller: Principal,
  { workspaceId, sequence }: { readonly workspaceId: string; readonly sequence: number },
): boolean {
  if (caller.management) return true;
  return allowsWorkspace(caller, workspaceId, 'admin') && sequence >= firstSequenceIn(view, workspaceId);
}
