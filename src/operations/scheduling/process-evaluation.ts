import type { Job } from '../../jobs/document/job.js';
import type { WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { blockedQueueName } from '../../scheduler/blocked-queue.js';
import { type Evaluation, type EvaluationStatus, evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { nodeUsages } from '../../scheduler/node-usage.js';
import { type SchedulingResult, schedule } from '../../scheduler/schedule.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { Fact } from '../shared/facts.js';
import { afterEvaluationWrite, applyJobConsequences, type ConsequenceEnvironment } from '../shared/job-consequences.js';
import { readJobRow, readJobVersion } from '../shared/job-store.js';
import { putAllocation } from '../shared/put-allocation.js';
import { putEvaluation } from '../shared/put-evaluation.js';

export interface ProcessedEvaluation {
  readonly evaluation: Evaluation;
  /** Everything that it wanted to place has a place. */
  readonly placedAll: boolean;
  readonly facts: readonly Fact[];
}

/**
 * Works on one evaluation from reading the job to writing the plan, all in the caller's transaction: nothing can change
 * between decision and commit, so a plan is never refused and no lease is needed.
 */
export function processEvaluation(
  view: WriteView,
  environment: ConsequenceEnvironment,
  evaluation: Evaluation,
): ProcessedEvaluation {
  const { Namespace, JobID } = evaluation;
  const job = readJobRow(view, Namespace, JobID)?.record;
  const existing = view.list(allocations, { index: 'by_job', prefix: [Namespace, JobID] }).map((row) => row.record);
  const result = schedule(
    {
      job,
      allocations: existing,
      versions: versionsOf(view, job, existing),
      nodes: view.list(nodes).map((row) => row.record),
      used: new Map(view.list(nodeUsages).map(({ record }) => [record.ID, record])),
      index: view.index,
    },
    evaluation,
    environment.now,
    environment.ids,
  );
  const queue = blockedQueueName(Namespace, JobID, job?.ParentID ?? '');
  return {
    evaluation: result.evaluation,
    placedAll: result.evaluation.FailedTGAllocs === undefined,
    facts: writePlan(view, environment, result, existing, queue),
  };
}

/** Ends an evaluation that cannot be worked on, so that it does not hold up its job for ever. */
export function failEvaluation(
  view: WriteView,
  environment: ConsequenceEnvironment,
  evaluation: Evaluation,
  description: string,
): readonly Fact[] {
  const failed = ended(view, environment, evaluation, 'failed', description);
  putEvaluation(view, failed, '');
  return afterEvaluationWrite(view, environment, failed);
}

function writePlan(
  view: WriteView,
  environment: ConsequenceEnvironment,
  result: SchedulingResult,
  existing: readonly Allocation[],
  queue: string,
): readonly Fact[] {
  const before = new Map(existing.map((allocation) => [allocation.ID, allocation]));
  const changed = result.allocations.map((after) => ({ before: before.get(after.ID), after }));
  for (const change of changed) putAllocation(view, change.before, change.after);
  const written = [...superseded(view, environment, result), ...result.followUps, result.evaluation];
  for (const evaluation of written) putEvaluation(view, evaluation, queue);
  return applyJobConsequences(view, environment, { evaluations: written, allocations: changed });
}

/** The job's stored versions that its allocations still run. */
function versionsOf(view: WriteView, job: Job | undefined, existing: readonly Allocation[]): Map<number, Job> {
  const versions = new Map<number, Job>();
  if (job === undefined) return versions;
  for (const { JobVersion: version } of existing) {
    if (version === job.Version || versions.has(version)) continue;
    const row = readJobVersion(view, job.Namespace, job.ID, version);
    if (row !== undefined) versions.set(version, row.record);
  }
  return versions;
}

/**
 * The job was just looked at as a whole: its other evaluations that are due have nothing left to find, and a new blocked
 * one takes the place of an older one.
 */
function superseded(view: WriteView, environment: ConsequenceEnvironment, result: SchedulingResult): Evaluation[] {
  const { ID, Namespace, JobID } = result.evaluation;
  const blockedAnew = result.followUps.some((followUp) => followUp.Status === 'blocked');
  const canceled: Evaluation[] = [];
  for (const { record } of view.list(evaluations, { index: 'open_by_job', prefix: [Namespace, JobID] })) {
    if (record.ID === ID || record.WaitUntil !== undefined) continue;
    if (record.Status === 'blocked' && !blockedAnew) continue;
    canceled.push(ended(view, environment, record, 'canceled', 'A newer evaluation of the job took its place'));
  }
  return canceled;
}

function ended(
  view: WriteView,
  environment: ConsequenceEnvironment,
  evaluation: Evaluation,
  status: Extract<EvaluationStatus, 'failed' | 'canceled'>,
  description: string,
): Evaluation {
  return {
    ...evaluation,
    Status: status,
    StatusDescription: description,
    ModifyIndex: view.index,
    ModifyTime: unixNanosFromInstant(environment.now),
  };
}
