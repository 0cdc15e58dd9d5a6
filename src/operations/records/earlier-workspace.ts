import { allowsWorkspace } from '../../access/allows.js';
import type { Principal, WorkspaceRight } from '../../access/principal.js';
import { firstSequenceOf } from '../../notifications/events/event.js';
import { workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';

/*
 * A workspace may have been removed and created again with the same ID. Events of the earlier one are kept until their retention ends,
 * but do not belong to the current one: the index of the write that created the workspace's row separates them (decision 017).
 */

/** The lowest possible sequence of the workspace's events; higher than all when the workspace does not exist. */
export function firstSequenceIn(view: ReadView, workspaceId: string): number {
  const row = view.get(workspaces, [workspaceId]);
  return row === undefined ? Number.MAX_SAFE_INTEGER : firstSequenceOf(row.createIndex);
}

/** Whether records of a write with this index belong to the current workspace, not to an earlier or removed one. */
export function isOfPresentWorkspace(view: ReadView, workspaceId: string, createIndex: number): boolean {
  const row = view.get(workspaces, [workspaceId]);
  return row !== undefined && createIndex >= row.createIndex;
}

/** Whether the caller may manage an event and its deliveries. Only management callers may for those of an earlier or removed workspace. */
export function mayManage(
  view: ReadView,
  caller: Principal,
  { workspaceId, sequence }: { readonly workspaceId: string; readonly sequence: number },
  right: WorkspaceRight = 'portal',
): boolean {
  if (caller.management) return true;
  return allowsWorkspace(caller, workspaceId, right) && sequence >= firstSequenceIn(view, workspaceId);
}
