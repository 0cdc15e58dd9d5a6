import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { AllocationReport, NodeReport, ReportOutcome } from '../../agent/link/node-work.js';
import { errorLine } from '../../jobs/runs/job-run.js';
import { hasOwnEnd } from '../../jobs/runs/run-events.js';
import type { UnknownNode } from '../../ports/agent-link.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { triggerAfterReport, withReportedHealth } from '../../scheduler/allocation-reports.js';
import { isMeasuredByChecks, measureHealth } from '../../scheduler/deployment/measure-health.js';
import { type Evaluation, evaluations, timeOfChange } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { isOutOfReach } from '../../scheduler/node-silence.js';
import { statesOfItsTasks, withTimesInLife } from '../../scheduler/nodes/node-owner.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { followDeployments } from '../records/deployments/move-deployment.js';
import { readAllocationJob, readJobRow } from '../records/jobs/job-rows.js';
import { newEvaluation } from '../records/scheduling/new-evaluation.js';
import { withoutKnownSecrets } from '../records/stored-secrets.js';
import type { Transaction } from '../write-transaction.js';
import { forgetEnded } from './list-node-work.js';
import { isAgentOf } from './node-ownership.js';

/** Stores the reports of a node in one write, with all consequences: counters, status, run events, reschedules. */
export function reportAllocations(
  context: EngineContext,
  caller: Principal,
  input: NodeReport,
): ResultAsync<ReportOutcome, UnknownNode | StorageError> {
  return commit(context, caller, (tx) => {
    const node = tx.get(nodes, [input.nodeId])?.record;
    if (node === undefined || isOutOfReach(node) || !isAgentOf(tx, input.nodeId, input.instance)) {
      return err<never, UnknownNode>({ type: 'node_not_found', nodeId: input.nodeId });
    }
    forgetEnded(tx, input.nodeId, input.ended ?? []);
    const { unknown, changed } = takeReports(context, tx, input);
    for (const { after } of changed) tx.put(allocations, after);
    for (const evaluation of evaluationsAfter(tx, changed)) tx.put(evaluations, evaluation);
    cancelFollowUps(tx, changed);
    followDeployments(tx, changed);
    for (const { after } of changed) tellChange(tx, after);
    return ok<readonly string[], UnknownNode>([...unknown, ...unknownAmong(tx, input)]);
  }).map(({ value: unknown, index }) => ({ index, unknown }));
}

function reported(context: EngineContext, tx: Transaction, before: Allocation, report: AllocationReport): Allocation {
  const after = withoutEmpty({
    ...withoutWait(before),
    ClientStatus: report.clientStatus,
    ClientDescription: report.clientDescription,
    TaskStates: withTimesInLife(statesOfItsTasks(report.taskStates, before), before, tx.now),
    ...outputOf(context, tx, before, report),
    ModifyIndex: tx.index,
    ModifyTime: unixNanosFromInstant(tx.now),
  });
  const healthy = report.healthy === undefined ? healthByTasks(context, tx, after) : report.healthy;
  return withReportedHealth(after, healthy, { now: tx.now, index: tx.index });
}

/** Stored only where notifications may quote it; of other runs that end, the line that the history of runs has. */
function outputOf(
  context: EngineContext,
  tx: Transaction,
  allocation: Allocation,
  { output }: AllocationReport,
): Pick<Allocation, 'FailureOutput'> {
  const { runNotifications, jobs } = tx.settings;
  const isQuoted = runNotifications.length > 0;
  const hasHistory = jobs.keptRuns > 0 && hasOwnEnd({ Type: allocation.JobType });
  if (output === undefined || !(isQuoted || hasHistory)) return {};
  const text = withoutKnownSecrets(context, tx, allocation, output.text);
  return { FailureOutput: { ...output, text: isQuoted ? text : (errorLine(text) ?? '') } };
}

/** Agents may send an empty description or no task states: such members are omitted (job interface, Allocation). */
function withoutEmpty(allocation: Allocation): Allocation {
  const isDescribed = allocation.ClientDescription !== '';
  const hasStates = Object.keys(allocation.TaskStates ?? {}).length > 0;
  if (isDescribed && hasStates) return allocation;
  const { ClientDescription = '', TaskStates = {}, ...rest } = allocation;
  return { ...rest, ...(isDescribed ? { ClientDescription } : {}), ...(hasStates ? { TaskStates } : {}) };
}

/** Health where the node does not measure it, from the task states; null while unknown. */
function healthByTasks({ presentTimes }: EngineContext, tx: Transaction, allocation: Allocation): boolean | null {
  const known = allocation.DeploymentStatus?.Healthy ?? null;
  if (allocation.DeploymentID === undefined || known !== null) return null;
  const version = readAllocationJob(tx, allocation)?.record;
  const group = version?.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
  if (group === undefined) return null;
  if (isMeasuredByChecks(group)) return allocation.ClientStatus === 'running' ? true : null;
  return measureHealth(presentTimes.allocation(allocation, tx), group, tx.now).healthy ?? null;
}

/** The evaluations that the reports require, one for each job. */
function evaluationsAfter(
  tx: Transaction,
  changed: readonly { readonly before: Allocation; readonly after: Allocation }[],
): Evaluation[] {
  const byJob = new Map<string, Evaluation>();
  for (const { before, after } of changed) {
    const key = JSON.stringify([after.Namespace, after.JobID]);
    if (byJob.has(key)) continue;
    const job = readJobRow(tx, after.Namespace, after.JobID)?.record;
    const trigger = job === undefined ? undefined : triggerAfterReport(job, before, after, tx.now);
    if (job === undefined || trigger === undefined) continue;
    byJob.set(key, newEvaluation(tx, job, { triggeredBy: trigger }));
  }
  return [...byJob.values()];
}

function tellChange(tx: Transaction, { Namespace, ID, JobID, ClientStatus }: Allocation): void {
  tx.emit('allocation.changed', { namespace: Namespace, allocationId: ID, jobId: JobID, clientStatus: ClientStatus });
}

/** The allocations that the node keeps, but that the server does not have on this node. */
function unknownAmong(tx: Transaction, { nodeId, kept = [] }: NodeReport): readonly string[] {
  return kept.filter((id) => tx.get(allocations, [id])?.record.NodeID !== nodeId);
}

interface TakenReports {
  /** Allocations that the server does not have on this node. */
  readonly unknown: readonly string[];
  readonly changed: readonly { readonly before: Allocation; readonly after: Allocation }[];
}

/** If a message has several reports of one allocation, the last one counts, as if they had arrived one after the other. */
function takeReports(context: EngineContext, tx: Transaction, { nodeId, reports }: NodeReport): TakenReports {
  const unknown: string[] = [];
  const changed = new Map<string, { before: Allocation; after: Allocation }>();
  for (const report of reports) {
    const { allocationId } = report;
    const before = changed.get(allocationId)?.before ?? tx.get(allocations, [allocationId])?.record;
    const latest = changed.get(allocationId)?.after ?? before;
    if (before === undefined || latest === undefined || before.NodeID !== nodeId) unknown.push(allocationId);
    else if (!isClientTerminal(latest))
      changed.set(allocationId, { before, after: reported(context, tx, latest, report) });
  }
  return { unknown, changed: [...changed.values()] };
}

/**
 * Removes the reference to the evaluation that would have marked the allocation as lost, after its disconnected node has reported it
 * again.
 */
function withoutWait(before: Allocation): Allocation {
  if (before.ClientStatus !== 'unknown' || before.FollowupEvalID === undefined) return before;
  const { FollowupEvalID: _, ...rest } = before;
  return rest;
}

interface Changed {
  readonly before: Allocation;
  readonly after: Allocation;
}

/**
 * Cancels delayed evaluations after allocations have reconnected: those that they referred to, unless other allocations still do, and, if the
 * job no longer waits for any allocation, those for the end of the wait. Call it after all changed allocations were written.
 */
function cancelFollowUps(tx: Transaction, changed: readonly Changed[]): void {
  const byJob = new Map<string, Allocation[]>();
  for (const { before } of changed) {
    if (before.ClientStatus !== 'unknown') continue;
    const key = JSON.stringify([before.Namespace, before.JobID]);
    byJob.set(key, [...(byJob.get(key) ?? []), before]);
  }
  for (const back of byJob.values()) cancelOfJob(tx, back);
}

function isNamed(tx: Transaction, evaluationId: string): boolean {
  return tx.list(allocations, { index: 'by_follow_up', prefix: [evaluationId], limit: 1 }).length > 0;
}

function cancelOfJob(tx: Transaction, back: readonly Allocation[]): void {
  const [first] = back;
  if (first === undefined) return;
  const prefix = [first.Namespace, first.JobID];
  const waits = tx.list(allocations, { index: 'unknown_by_job', prefix, limit: 1 }).length > 0;
  const named = new Set(back.flatMap(({ FollowupEvalID }) => FollowupEvalID ?? []).filter((id) => !isNamed(tx, id)));
  const isNeedless = ({ ID, WaitUntil, TriggeredBy }: Evaluation): boolean =>
    WaitUntil !== undefined && (named.has(ID) || (!waits && TriggeredBy === 'max-disconnect-timeout'));
  for (const { record } of tx.list(evaluations, { index: 'open_by_job', prefix: [...prefix, 'pending'] })) {
    if (!isNeedless(record)) continue;
    const { index: ModifyIndex, now } = tx;
    const ends = { Status: 'canceled', StatusDescription: 'Its allocations have reconnected' } as const;
    tx.put(evaluations, { ...record, ...ends, ModifyIndex, ModifyTime: timeOfChange(record, now) });
  }
}
