import { facts, short, tableOf } from '../output/columns.js';

/** A draining node with its ended and current allocations. */
export interface DrainView {
  readonly node: DrainedNode;
  readonly allocations: readonly DrainedAllocation[];
}

interface DrainedNode {
  readonly ID: string;
  readonly Name: string;
  readonly DrainStrategy?: { readonly ForceDeadline: string | null; readonly IgnoreSystemJobs: boolean } | null;
  readonly LastDrain?: { readonly Status: string } | null;
}

export interface DrainedAllocation {
  readonly ID: string;
  readonly JobID: string;
  readonly TaskGroup: string;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
}

export function isDraining({ DrainStrategy }: DrainedNode): boolean {
  return DrainStrategy !== undefined && DrainStrategy !== null;
}

/** Whether the drain was cancelled before the node was empty. */
export function wasCanceled({ LastDrain }: DrainedNode): boolean {
  return LastDrain?.Status === 'canceled';
}

function isLive({ ClientStatus }: DrainedAllocation): boolean {
  return ClientStatus === 'pending' || ClientStatus === 'running' || ClientStatus === 'unknown';
}

export function drainFrame({ node, allocations }: DrainView): string {
  const live = allocations.filter(isLive);
  const head = facts({
    Node: `${short(node.ID)} ${node.Name}`,
    Drain: stateOf(node),
    'Stopped at': node.DrainStrategy?.ForceDeadline ?? undefined,
    Allocations: live.length,
  });
  const rows = live.map(({ ID, JobID, TaskGroup, DesiredStatus, ClientStatus }) => [
    short(ID),
    JobID,
    TaskGroup,
    DesiredStatus,
    ClientStatus,
  ]);
  return `${head}\n${tableOf(['ID', 'Job', 'Group', 'Desired', 'Status'], rows, 'nothing runs here')}`;
}

function stateOf(node: DrainedNode): string {
  return isDraining(node) ? 'under way' : wasCanceled(node) ? 'ended before the node was empty' : 'complete';
}

/**
 * Lines for the changes since the previous view; in the first view for the whole state and for allocations that ended since the
 * start of the drain, as a short drain may be over before the first view.
 */
export function drainNews(
  before: DrainView | undefined,
  view: DrainView,
  ordered: readonly DrainedAllocation[] = [],
): string {
  const { node, allocations } = view;
  const isFirst = before === undefined;
  const seen = new Map(
    (isFirst ? ordered : before.allocations).map((allocation) => [allocation.ID, lineOf(allocation)]),
  );
  const lines = isFirst ? [headOf(node, ordered.length > 0 ? ordered : allocations)] : [];
  for (const allocation of allocations) {
    const [last, line] = [seen.get(allocation.ID), lineOf(allocation)];
    const isNews = last === undefined ? isLive(allocation) : last !== line || (isFirst && isLive(allocation));
    if (isNews) lines.push(line);
  }
  if (!isDraining(node)) lines.push(`node ${short(node.ID)}: the drain is ${stateOf(node)}`);
  return lines.map((line) => `${line}\n`).join('');
}

function headOf({ ID, DrainStrategy }: DrainedNode, allocations: readonly DrainedAllocation[]): string {
  const deadline = DrainStrategy?.ForceDeadline ?? null;
  const until = deadline === null ? '' : `, what is left then is stopped at ${deadline}`;
  return `node ${short(ID)}: ${allocations.filter(isLive).length} allocations${until}`;
}

function lineOf(allocation: DrainedAllocation): string {
  const { ID, JobID, TaskGroup, DesiredStatus, ClientStatus } = allocation;
  const leaving = isLive(allocation) && DesiredStatus !== 'run' ? `, to ${DesiredStatus}` : '';
  return `  allocation ${short(ID)} of "${JobID}" (${TaskGroup}) is ${ClientStatus}${leaving}`;
}
