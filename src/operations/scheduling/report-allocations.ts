import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import {
  type Allocation,
  allocations,
  type ClientStatus,
  isClientTerminal,
  type TaskState,
} from '../../scheduler/allocation.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { decideReschedule } from '../../scheduler/reconcile/reschedule.js';
import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';
import { authoriseManagement, type PermissionDenied } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { applyJobConsequences } from '../shared/job-consequences.js';
import { readJobRow } from '../shared/job-store.js';
import { putAllocation } from '../shared/put-allocation.js';
import { putEvaluation } from '../shared/put-evaluation.js';
import { evaluationFor } from './node-evaluations.js';
import type { UnknownNode } from './register-node.js';

/** What a node's agent says of one of its allocations: the agent is the authority for exactly these fields. */
export interface AllocationReport {
  readonly allocationId: string;
  readonly clientStatus: Extract<ClientStatus, 'pending' | 'running' | 'complete' | 'failed'>;
  readonly clientDescription: string;
  readonly taskStates: Readonly<Record<string, TaskState>>;
}

export interface ReportOutcome {
  readonly index: number;
  /** Allocations that the engine does not know on this node (any more): the agent ends them. */
  readonly unknown: readonly string[];
}

/** Takes the reports of a node in one write, with everything that follows from them: counters, status, run events, reschedules. */
export function reportAllocations(
  context: EngineContext,
  caller: Principal,
  input: { readonly nodeId: string; readonly reports: readonly AllocationReport[] },
): ResultAsync<ReportOutcome, PermissionDenied | UnknownNode | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  const now = context.clock.now();
  return context.storage
    .write((view) => {
      const node = view.get(nodes, [input.nodeId])?.record;
      if (node === undefined || node.Status === 'down') {
        return err<never, UnknownNode>({ type: 'node_not_found', nodeId: input.nodeId });
      }
      const unknown: string[] = [];
      const changed: { before: Allocation; after: Allocation }[] = [];
      for (const report of input.reports) {
        const before = view.get(allocations, [report.allocationId])?.record;
        if (before === undefined || before.NodeID !== input.nodeId) unknown.push(report.allocationId);
        else if (!isClientTerminal(before)) changed.push({ before, after: reported(before, report, view.index, now) });
      }
      for (const { before, after } of changed) putAllocation(view, before, after);
      const followUps = evaluationsAfter(view, context, now, changed);
      for (const evaluation of followUps) putEvaluation(view, evaluation, '');
      const environment = { now, ids: context.ids, settings: context.settings };
      const facts = applyJobConsequences(view, environment, { evaluations: followUps, allocations: changed });
      return ok<{ unknown: string[]; facts: Fact[] }, UnknownNode>({
        unknown,
        facts: [...facts, ...changed.map(changeFact)],
      });
    })
    .map(({ value, index }) => {
      emitFacts(context, value.facts);
      return { index, unknown: value.unknown };
    });
}

function reported(before: Allocation, report: AllocationReport, index: number, now: Instant): Allocation {
  return {
    ...before,
    ClientStatus: report.clientStatus,
    ClientDescription: report.clientDescription,
    TaskStates: report.taskStates,
    ModifyIndex: index,
    ModifyTime: unixNanosFromInstant(now),
  };
}

/** A failed allocation that may be rescheduled asks for an evaluation, one for each job. */
function evaluationsAfter(
  view: WriteView,
  context: EngineContext,
  now: Instant,
  changed: readonly { readonly after: Allocation }[],
): Evaluation[] {
  const byJob = new Map<string, Evaluation>();
  for (const { after } of changed) {
    const key = JSON.stringify([after.Namespace, after.JobID]);
    if (byJob.has(key) || !isClientTerminal(after)) continue;
    const job = readJobRow(view, after.Namespace, after.JobID)?.record;
    if (job === undefined || !needsEvaluation(job, after, now)) continue;
    byJob.set(key, evaluationFor(view, { now, ids: context.ids }, job, 'alloc-failure'));
  }
  return [...byJob.values()];
}

/** A service that ended, although services are not supposed to, is replaced as well. */
function needsEvaluation(job: Job, allocation: Allocation, now: Instant): boolean {
  if (job.Stop || allocation.DesiredStatus !== 'run' || allocation.JobCreateIndex !== job.CreateIndex) return false;
  if (allocation.ClientStatus === 'complete') return job.Type === 'service' || job.Type === 'system';
  const group = job.TaskGroups.find((candidate) => candidate.Name === allocation.TaskGroup);
  if (group === undefined || allocation.FollowupEvalID) return false;
  return job.Type === 'system' || decideReschedule(allocation, group.ReschedulePolicy, '', now).when !== 'never';
}

function changeFact({ after }: { readonly after: Allocation }): Fact {
  const { Namespace, ID, JobID, ClientStatus } = after;
  return {
    name: 'allocation.changed',
    fact: { namespace: Namespace, allocationId: ID, jobId: JobID, clientStatus: ClientStatus },
  };
}
