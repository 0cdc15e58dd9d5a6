import { err, ok, type Result } from 'neverthrow';
import { millisecondsFromNanos } from '../../shared/duration.js';
import { isoFromInstant } from '../../shared/instant.js';
import { type DrainMetadata, isDraining, type Node } from '../node.js';
import { type NodeRefused, nodeRefused } from './node-errors.js';
import { type NodeWrite, withNodeEvent } from './node-events.js';

/** Options of a drain. */
export interface DrainSpec {
  /** Nanoseconds; 0 means no deadline, a negative value ends everything at once. */
  readonly Deadline: number;
  /** Leaves the allocations of system jobs where they are. */
  readonly IgnoreSystemJobs: boolean;
}

interface DrainRequest {
  readonly spec: DrainSpec;
  /** Accessor ID of the caller's token; empty for the host. */
  readonly accessor: string;
  /** Stored with the drain, for display. */
  readonly meta: Readonly<Record<string, string>> | null;
}

/** Starts draining a node, or changes its drain; a changed drain keeps its start time. */
export function startDrain(node: Node, request: DrainRequest, write: NodeWrite): Result<Node, NodeRefused> {
  const { Deadline, IgnoreSystemJobs } = request.spec;
  if (!Number.isFinite(Deadline)) return err(nodeRefused('drain', 'Deadline must be a number of nanoseconds'));
  const { now } = write;
  const strategy = {
    Deadline,
    IgnoreSystemJobs,
    ForceDeadline: Deadline > 0 ? deadlineAt(now, Deadline) : null,
    StartedAt: node.DrainStrategy?.StartedAt ?? isoFromInstant(now),
  };
  const drained: Node = {
    ...node,
    DrainStrategy: strategy,
    SchedulingEligibility: 'ineligible',
    LastDrain: metadataOf(node, 'draining', request, write),
  };
  return ok(withNodeEvent(drained, { Subsystem: 'Drain', Message: 'Node drain strategy set' }, write));
}

/** Cancels the drain; the node stays ineligible unless requested otherwise. */
export function cancelDrain(
  node: Node,
  request: Omit<DrainRequest, 'spec'> & { readonly markEligible: boolean },
  write: NodeWrite,
): Node {
  const eligible = request.markEligible ? { SchedulingEligibility: 'eligible' as const } : {};
  const drain = isDraining(node)
    ? { DrainStrategy: null, LastDrain: metadataOf(node, 'canceled', request, write) }
    : {};
  const after = { ...node, ...drain, ...eligible };
  return withNodeEvent(after, { Subsystem: 'Drain', Message: 'Node drain strategy unset' }, write);
}

/** Marks the drain as complete: everything that had to leave has left. */
export function completeDrain(node: Node, write: NodeWrite): Node {
  const LastDrain = metadataOf(node, 'complete', { accessor: '', meta: null }, write);
  const after: Node = { ...node, DrainStrategy: null, LastDrain };
  return withNodeEvent(after, { Subsystem: 'Drain', Message: 'Node drain complete' }, write);
}

/** The latest time that a Date can represent. */
const latest = 8.64e15;

function deadlineAt(now: number, nanos: number): string {
  return isoFromInstant(Math.min(now + millisecondsFromNanos(nanos), latest));
}

function metadataOf(
  node: Node,
  Status: DrainMetadata['Status'],
  { accessor, meta }: Omit<DrainRequest, 'spec'>,
  { now }: NodeWrite,
): DrainMetadata {
  const at = isoFromInstant(now);
  const before = isDraining(node) ? node.LastDrain : undefined;
  return {
    StartedAt: before?.StartedAt ?? at,
    UpdatedAt: at,
    Status,
    AccessorID: accessor === '' ? (before?.AccessorID ?? '') : accessor,
    Meta: meta === null || Object.keys(meta).length === 0 ? (before?.Meta ?? null) : meta,
  };
}
