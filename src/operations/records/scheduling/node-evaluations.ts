import type { Job } from '../../../jobs/document/job.js';
import { jobs } from '../../../jobs/job-record.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import type { Node } from '../../../scheduler/node.js';
import { allNodePool } from '../../../scheduler/node-pool.js';
import type { Key } from '../../../shared/table.js';
import { globMatches } from '../../../shared/values.js';
import type { Transaction } from '../../write-transaction.js';
import { readJobRow } from '../jobs/job-rows.js';
import { newEvaluation } from './new-evaluation.js';

interface NodeEvaluationOptions {
  readonly returns?: boolean;
  readonly apart?: boolean;
  readonly nodeIndex?: number;
}

/**
 * Creates an evaluation of every job that a change of the node affects: those with unfinished allocations on it, and the system jobs
 * of its pool and datacenter. `returns`: the node was disconnected; jobs that have waited for it are
 * evaluated when it reports their allocations. `apart`: the evaluations get a separate index, after that of earlier rows.
 * `nodeIndex`: index of the node's change; that of this write when absent.
 */
export function evaluateForNode(
  tx: Transaction,
  node: Node,
  { returns = false, apart = false, nodeIndex = tx.index }: NodeEvaluationOptions = {},
): readonly Evaluation[] {
  const concerned = concernedJobs(tx, node, returns);
  if (apart && concerned.length > 0) tx.nextIndex();
  return concerned.map((job) => {
    const evaluation = newEvaluation(tx, job, { triggeredBy: 'node-update', node: { id: node.ID, index: nodeIndex } });
    tx.put(evaluations, evaluation);
    // A job that was dead is pending while its evaluation is.
    return evaluation;
  });
}

function concernedJobs(tx: Transaction, node: Node, returns: boolean): readonly Job[] {
  const concerned = new Map<string, Job>();
  const add = (job: Job): unknown => concerned.set(JSON.stringify([job.Namespace, job.ID]), job);
  const waiting = new Set<string>();
  for (const { namespace, jobId } of jobsOnNode(tx, node.ID)) {
    if (returns && isWaitingFor(tx, node.ID, [namespace, jobId])) waiting.add(JSON.stringify([namespace, jobId]));
    const job = readJobRow(tx, namespace, jobId)?.record;
    if (job !== undefined) add(job);
  }
  for (const { record } of tx.list(jobs, { index: 'system' })) if (wants(record, node)) add(record);
  for (const key of waiting) concerned.delete(key);
  return [...concerned.values()];
}

/** The jobs with unfinished allocations on a node. Reads one allocation of each. */
export function* jobsOnNode(
  view: ReadView,
  nodeId: string,
): Generator<{ readonly namespace: string; readonly jobId: string }> {
  for (let from: Key = [nodeId]; ; ) {
    const [first] = view.list(allocations, { index: 'open_by_node', prefix: [nodeId], from, limit: 1 });
    if (first === undefined) return;
    const { Namespace: namespace, JobID: jobId } = first.record;
    yield { namespace, jobId };
    // The first key after those of the job.
    from = [nodeId, namespace, `${jobId}\u0000`];
  }
}

function isWaitingFor(view: ReadView, nodeId: string, job: Key): boolean {
  return view.list(allocations, { index: 'unknown_by_node', prefix: [nodeId, ...job], limit: 1 }).length > 0;
}

function wants({ NodePool, Datacenters }: Job, node: Node): boolean {
  if (NodePool !== allNodePool && NodePool !== node.NodePool) return false;
  return Datacenters.some((glob) => globMatches(glob, node.Datacenter));
}
