import { type Instant, instantFromUnixNanos, isoFromInstant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { Allocation, TaskState } from '../allocation.js';

/** The process that is the agent of a node. Undefined for agents that do not identify themselves. */
interface NodeOwner {
  /** Of the node. */
  readonly ID: string;
  /** The process. */
  readonly instance: string;
  /** Hash of the secret in the agent's folder, which later processes from that folder share; absent without a folder. */
  readonly folder?: string;
}

export const nodeOwners = table<NodeOwner>('node_owners', (owner) => [owner.ID]);

/**
 * Whether the process may register a node with this owner: a different process may only when the server considers the owner dead, or when it
 * is the owner's successor. An agent that does not identify its process counts as a different one.
 */
export function mayOwn(
  owner: NodeOwner | undefined,
  agent: Pick<NodeOwner, 'instance' | 'folder'> | undefined,
  isReachable: boolean,
): boolean {
  if (owner === undefined || !isReachable || owner.instance === agent?.instance) return true;
  return agent?.folder !== undefined && agent.folder === owner.folder;
}

/** Whether the process making the call is the node's agent. */
export function isOwner(owner: NodeOwner | undefined, instance: string | undefined): boolean {
  return owner === undefined || owner.instance === instance;
}

/**
 * The reported states of the allocation's own tasks. Others are dropped: the rest of the report counts, and an agent cannot enlarge
 * the stored record.
 */
export function statesOfItsTasks(
  states: Readonly<Record<string, TaskState>>,
  { AllocatedResources }: Pick<Allocation, 'AllocatedResources'>,
): Readonly<Record<string, TaskState>> {
  const { Tasks } = AllocatedResources;
  return Object.fromEntries(Object.entries(states).filter(([task]) => Object.hasOwn(Tasks, task)));
}

/**
 * Task states as a node reports them, with start and end times clamped to the life of the allocation: not before its
 * creation and not after `now`. Reschedule delays, health and drains are measured from them, and the node's clock may be
 * off by days. A future start counts from its first report: later reports of the same start do not move it.
 */
export function withTimesInLife(
  states: Readonly<Record<string, TaskState>>,
  { CreateTime, TaskStates }: Pick<Allocation, 'CreateTime' | 'TaskStates'>,
  now: Instant,
): Readonly<Record<string, TaskState>> {
  const created = instantFromUnixNanos(CreateTime);
  const inLife = (written: string | null, before: string | null | undefined): string | null => {
    if (written === null) return null;
    const at = Date.parse(written);
    // Clamp to the end last: after a step back of the server's clock `now` may lie before the creation.
    const nearest = Math.min(now, Math.max(created, at));
    if (nearest === at) return written;
    const isKept = at > now && typeof before === 'string' && Date.parse(before) <= now;
    return isKept ? before : isoFromInstant(nearest);
  };
  return Object.fromEntries(
    Object.entries(states).map(([task, state]) => {
      const known = TaskStates?.[task];
      const before = known?.Restarts === state.Restarts ? known : undefined;
      const StartedAt = inLife(state.StartedAt, before?.StartedAt);
      const LastRestart = inLife(state.LastRestart, before?.LastRestart);
      const FinishedAt = inLife(state.FinishedAt, before?.FinishedAt);
      return [task, { ...state, StartedAt, LastRestart, FinishedAt }];
    }),
  );
}
