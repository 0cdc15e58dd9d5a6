import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { NodeWork, NodeWorkList } from '../../agent/link/node-work.js';
import type { UnknownNode } from '../../ports/agent-link.js';
import type { ReadView, StorageError, WriteView } from '../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { isCollectedRow, type NodeAssignment, nodeAssignments } from '../../scheduler/node-tables.js';
import { nodeOwners } from '../../scheduler/nodes/node-owner.js';
import type { Steps } from '../../scheduler/steps.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import { readAllocationJob } from '../records/jobs/job-rows.js';
import { pagesOf } from '../records/pages.js';
import { readInStep } from '../records/scheduling/scheduling-snapshot.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../waiting/parked-queries.js';
import { isAgentOf } from './node-ownership.js';

/**
 * The allocations that a node's agent has to handle: all of them, or with `waiting.after` the changes since that index. A blocking query
 * that is woken only by the scheduler's changes of assignments, and when the node gets another agent.
 */
export function listNodeWork(
  context: EngineContext,
  input: MayWait & { readonly nodeId: string; readonly instance?: string | undefined },
): ResultAsync<Answer<NodeWorkList>, UnknownNode | StorageError> {
  const { nodeId, instance, waiting } = input;
  const after = Math.max(0, waiting?.after ?? 0);
  const query = {
    key: JSON.stringify(['node-work', nodeId, instance, after]),
    tables: [rowsUnder(nodeAssignments, [nodeId]), rowsUnder(nodeOwners, [nodeId])],
    run: (view: ReadView) => workFor({ view, now: context.clock.now() }, nodeId, instance, after),
  };
  return answerQuery(context, query, waiting).andThen(({ index, value }) =>
    value.map((list) => ({ index, value: list })),
  );
}

/** Refuses an agent that has been replaced at once. */
function workFor(
  { view, now }: { view: ReadView; now: Instant },
  nodeId: string,
  instance: string | undefined,
  after: number,
): Answer<Result<NodeWorkList, UnknownNode>> {
  if (!isAgentOf(view, nodeId, instance)) return { index: view.index, value: err({ type: 'node_not_found', nodeId }) };
  const { index, value } = nodeWorkList(view, nodeId, after);
  return { index, value: ok({ ...value, now }) };
}

function nodeWorkList(view: ReadView, nodeId: string, after: number): Answer<NodeWorkList> {
  // An index in the future comes from a store that this one has replaced, as after a restored backup.
  const complete = after === 0 || after > view.index;
  const assignments = listAssignments(view, nodeId, complete ? 0 : after);
  // Without changes the reader keeps its own index and continues to wait.
  const index = complete || assignments.length > 0 ? view.index : after;
  const work = assignments.flatMap((row) => (row.gone ? [] : (workOf(view, row.allocationId) ?? [])));
  const gone = assignments.filter((row) => row.gone && !isCollectedRow(row)).map((row) => row.allocationId);
  return { index, value: { index, complete, work, gone, collected: assignments.some(isCollectedRow) } };
}

function workOf(view: ReadView, allocationId: string): NodeWork | undefined {
  const allocation = view.get(allocations, [allocationId])?.record;
  return allocation === undefined ? undefined : { allocation, job: readAllocationJob(view, allocation)?.record };
}

/** The unfinished allocations of a node without an assignment row, by ID. Each step reads from the then current view. */
export function* unassignedInSteps(view: () => ReadView, nodeId: string): Steps<readonly string[]> {
  const unassigned: string[] = [];
  const keyOf = ({ Namespace, JobID, ID }: Allocation) => [nodeId, Namespace, JobID, ID] as const;
  const query = { index: 'open_by_node', prefix: [nodeId], size: readInStep, keyOf };
  for (const page of pagesOf(view, allocations, query)) {
    for (const { ID } of page) if (view().get(nodeAssignments, [nodeId, ID]) === undefined) unassigned.push(ID);
    yield;
  }
  return unassigned;
}

/** Assigns a node that was down its unfinished allocations again: those that were found before, unless they have ended since. */
export function assignOpenAllocations(view: WriteView, nodeId: string, unassigned: readonly string[]): void {
  for (const allocationId of unassigned) {
    const allocation = view.get(allocations, [allocationId])?.record;
    if (allocation === undefined || allocation.NodeID !== nodeId || isClientTerminal(allocation)) continue;
    if (view.get(nodeAssignments, [nodeId, allocationId]) !== undefined) continue;
    view.put(nodeAssignments, { nodeId, allocationId, index: view.index, gone: false });
  }
}

/** Removes the rows of removed allocations once nothing is left of them on their node. */
export function forgetEnded(view: WriteView, nodeId: string, ended: readonly string[]): void {
  for (const allocationId of ended) {
    const allocation = view.get(allocations, [allocationId])?.record;
    if (allocation === undefined || allocation.NodeID !== nodeId || isClientTerminal(allocation)) {
      view.remove(nodeAssignments, [nodeId, allocationId]);
    }
  }
}

/** The assignments of a node, all of them or those that changed after an index. */
function listAssignments(view: ReadView, nodeId: string, after: number): NodeAssignment[] {
  const query =
    after <= 0
      ? { prefix: [nodeId] }
      : { index: 'by_change', from: [nodeId, after + 1], to: [nodeId, Number.MAX_SAFE_INTEGER] };
  return view.list(nodeAssignments, query).map(({ record }) => record);
}
