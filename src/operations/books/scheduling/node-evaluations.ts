import type { Job } from '../../../jobs/document/job.js';
import { jobs } from '../../../jobs/job-record.js';
import { allocations } from '../../../scheduler/allocation.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import type { Node } from '../../../scheduler/node.js';
import { allNodePool } from '../../../scheduler/node-pool.js';
import { globMatches } from '../../../shared/glob.js';
import type { Transaction } from '../../commit.js';
import { recomputeJobStatus } from '../jobs/job-consequences.js';
import { readJobRow } from '../jobs/job-rows.js';
import { newEvaluation } from './new-evaluation.js';
import { putEvaluation } from './put-evaluation.js';

/**
 * Has every job evaluated that a change of the node concerns: those with unfinished allocations on it, and the system jobs that run on
 * every node of its pool and datacenter. One evaluation for each. `returns`: the node was disconnected; jobs that have waited for it are
 * evaluated when it reports their allocations.
 */
export function evaluateForNode(
  tx: Transaction,
  node: Node,
  { returns }: { readonly returns: boolean } = { returns: false },
): readonly Evaluation[] {
  const concerned = new Map<string, Job>();
  const add = (job: Job): unknown => concerned.set(JSON.stringify([job.Namespace, job.ID]), job);
  const seen = new Set<string>();
  const waiting = new Set<string>();
  for (const { record } of tx.list(allocations, { index: 'open_by_node', prefix: [node.ID] })) {
    const key = JSON.stringify([record.Namespace, record.JobID]);
    if (returns && record.ClientStatus === 'unknown') waiting.add(key);
    if (seen.has(key)) continue;
    seen.add(key);
    const job = readJobRow(tx, record.Namespace, record.JobID)?.record;
    if (job !== undefined) add(job);
  }
  for (const { record } of tx.list(jobs, { index: 'system' })) if (wants(record, node)) add(record);
  for (const key of waiting) concerned.delete(key);
  return [...concerned.values()].map((job) => {
    const evaluation = newEvaluation(tx, job, { triggeredBy: 'node-update', nodeId: node.ID });
    putEvaluation(tx, evaluation);
    // A job that was dead is pending while its evaluation is.
    recomputeJobStatus(tx, job.Namespace, job.ID);
    return evaluation;
  });
}

function wants({ NodePool, Datacenters }: Job, node: Node): boolean {
  if (NodePool !== allNodePool && NodePool !== node.NodePool) return false;
  return Datacenters.some((glob) => globMatches(glob, node.Datacenter));
}
