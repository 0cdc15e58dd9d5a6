import { facts, short, tableOf } from '../output/columns.js';

/** A draining node, with its past and present allocations. */
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

interface DrainedAllocation {
  readonly ID: string;
  readonly JobID: string;
  readonly TaskGroup: string;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
}

export function isDraining({ DrainStrategy }: DrainedNode): boolean {
  return DrainStrategy !== undefined && DrainStrategy !== null;
}

/** Somebody has ended the drain before the node was empty. */
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

/** Lines for the changes since the previous view; at first for the whole state. */
export function drainNews(before: DrainView | undefined, view: DrainView): string {
  const { node, allocations } = view;
  const seen = new Map(before?.allocations.map((allocation) => [allocation.ID, allocation]) ?? []);
  const lines: string[] = [];
  if (before === undefined) {
    const deadline = node.DrainStrategy?.ForceDeadline ?? null;
    const until = deadline === null ? '' : `, what is left then is stopped at ${deadline}`;
    lines.push(`node ${short(node.ID)}: ${allocations.filter(isLive).length} allocations${until}`);
  }
  for (const allocation of allocations) {
    const line = lineOf(allocation);
    const last = seen.get(allocation.ID);
    const isNews = last === undefined ? isLive(allocation) : lineOf(last) !== line;
    if (isNews) lines.push(line);
  }
  if (!isDraining(node)) lines.push(`node ${short(node.ID)}: the drain is ${stateOf(node)}`);
  return lines.map((line) => `${line}\n`).join('');
}

function lineOf(allocation: DrainedAllocation): string {
  const { ID, JobID, TaskGroup, DesiredStatus, ClientStatus } = allocation;
  const leaving = isLive(allocation) && DesiredStatus !== 'run' ? `, to ${DesiredStatus}` : '';
  return `  allocation ${short(ID)} of "${JobID}" (${TaskGroup}) is ${ClientStatus}${leaving}`;
}
