import type { Job } from '../../../jobs/document/job.js';
import { type Evaluation, type EvaluationTrigger, evaluations, timeOfChange } from '../../../scheduler/evaluation.js';
import { second } from '../../../shared/duration.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../shared/instant.js';
import type { Transaction } from '../../write-transaction.js';

export interface EvaluationOptions {
  readonly triggeredBy: EvaluationTrigger;
  /** The job's when absent. */
  readonly priority?: number;
  /** The job's when absent. */
  readonly type?: string;
  /** The node whose change triggers it, and the index of that change. */
  readonly node?: { readonly id: string; readonly index: number };
  /** The deployment that triggers it. */
  readonly deploymentId?: string;
  /** Whether it has an index after that of the job, as for a registration; otherwise it shares the job's. */
  readonly ownIndex?: boolean;
}

/** Whether it names the specification that it was created for: only evaluations from requests about the job do. */
const namesSpecification: ReadonlySet<EvaluationTrigger> = new Set([
  'job-register',
  'job-deregister',
  'job-scaling',
  'periodic-job',
  'alloc-stop',
]);

/** A new pending evaluation of a job. */
export function newEvaluation(
  tx: Transaction,
  job: Pick<Job, 'Namespace' | 'ID' | 'Priority' | 'Type' | 'JobModifyIndex'>,
  options: EvaluationOptions,
): Evaluation {
  const nanos = unixNanosFromInstant(tx.now);
  return {
    ID: tx.ids.next('evaluation'),
    Namespace: job.Namespace,
    Priority: options.priority ?? job.Priority,
    Type: options.type ?? job.Type,
    TriggeredBy: options.triggeredBy,
    JobID: job.ID,
    ...(namesSpecification.has(options.triggeredBy) ? { JobModifyIndex: job.JobModifyIndex } : {}),
    ...(options.node === undefined ? {} : { NodeID: options.node.id, NodeModifyIndex: options.node.index }),
    ...(options.deploymentId === undefined ? {} : { DeploymentID: options.deploymentId }),
    Status: 'pending',
    CreateIndex: tx.index,
    ModifyIndex: tx.index,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}

/** How long an evaluation waits for the last part if the engine ends in between. */
const longestWait = 10 * second;

interface Held {
  /** The evaluation put by an earlier part, if any. */
  readonly heldId: string | undefined;
  /** Called when that evaluation no longer waits. */
  readonly make: () => Evaluation;
  /** Further parts follow. */
  readonly unfinished: boolean;
}

/**
 * Puts the single evaluation of a job for changes that are written in several parts. It waits until the last part, because an earlier
 * decision would be outdated. It is stored with the first part, so that another engine continues if this one ends in between. Returns
 * its ID while it waits.
 */
export function putHeldEvaluation(tx: Transaction, { heldId, make, unfinished }: Held): string | undefined {
  const held = heldId === undefined ? undefined : heldEvaluation(tx, heldId);
  const evaluation = held ?? make();
  if (!unfinished) {
    tx.put(evaluations, released(tx, evaluation));
    return undefined;
  }
  const left = held === undefined ? 0 : Date.parse(held.WaitUntil ?? '') - tx.now;
  if (left < longestWait / 2) {
    tx.put(evaluations, { ...released(tx, evaluation), WaitUntil: isoFromInstant(tx.now + longestWait) });
  }
  return evaluation.ID;
}

/** After the last part: makes the evaluation due, unless it already is. */
export function releaseEvaluation(tx: Transaction, heldId: string): void {
  const held = heldEvaluation(tx, heldId);
  if (held !== undefined) tx.put(evaluations, released(tx, held));
}

/** Undefined when it has become due or was canceled in the meantime. */
function heldEvaluation(tx: Transaction, id: string): Evaluation | undefined {
  const evaluation = tx.get(evaluations, [id])?.record;
  return evaluation?.Status === 'pending' && evaluation.WaitUntil !== undefined ? evaluation : undefined;
}

function released(tx: Transaction, { WaitUntil: _, ...evaluation }: Evaluation): Evaluation {
  return { ...evaluation, ModifyIndex: tx.index, ModifyTime: timeOfChange(evaluation, tx.now) };
}
