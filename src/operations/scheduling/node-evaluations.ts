import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import type { Ids } from '../../ports/ids.js';
import type { WriteView } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import type { Evaluation, EvaluationTrigger } from '../../scheduler/evaluation.js';
import type { Node } from '../../scheduler/node.js';
import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';
import { readJobRow } from '../shared/job-store.js';
import { putEvaluation } from '../shared/put-evaluation.js';

interface Environment {
  readonly now: Instant;
  readonly ids: Ids;
}

/** One evaluation for each job that has unfinished allocations on the node. */
export function evaluateJobsOnNode(view: WriteView, environment: Environment, node: Pick<Node, 'ID'>): void {
  const seen = new Set<string>();
  for (const { record } of view.list(allocations, { index: 'open_by_node', prefix: [node.ID] })) {
    const key = JSON.stringify([record.Namespace, record.JobID]);
    if (seen.has(key)) continue;
    seen.add(key);
    const job = readJobRow(view, record.Namespace, record.JobID)?.record;
    if (job !== undefined) putEvaluation(view, evaluationFor(view, environment, job, 'node-update', node.ID), '');
  }
}

/** A node that turned ready has to get the allocations of the system jobs. */
export function evaluateSystemJobs(view: WriteView, environment: Environment, node: Pick<Node, 'ID'>): void {
  for (const { record: job } of view.list(jobs, { index: 'system' })) {
    putEvaluation(view, evaluationFor(view, environment, job, 'node-update', node.ID), '');
  }
}

/** A pending evaluation of the job, with the job's own priority and type. */
export function evaluationFor(
  view: WriteView,
  environment: Environment,
  job: Pick<Job, 'Namespace' | 'ID' | 'Priority' | 'Type' | 'JobModifyIndex'>,
  trigger: EvaluationTrigger,
  nodeId?: string,
): Evaluation {
  const nanos = unixNanosFromInstant(environment.now);
  return {
    ID: environment.ids.next('evaluation'),
    Namespace: job.Namespace,
    Priority: job.Priority,
    Type: job.Type,
    TriggeredBy: trigger,
    JobID: job.ID,
    JobModifyIndex: job.JobModifyIndex,
    ...(nodeId === undefined ? {} : { NodeID: nodeId }),
    Status: 'pending',
    CreateIndex: view.index,
    ModifyIndex: view.index,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}
