import { table } from '../shared/table.js';
import type { AllocationMetric } from './allocation.js';

export type EvaluationStatus = 'blocked' | 'pending' | 'complete' | 'failed' | 'canceled';

export type EvaluationTrigger =
  | 'job-register'
  | 'job-deregister'
  | 'periodic-job'
  | 'node-drain'
  | 'node-update'
  | 'alloc-stop'
  | 'scheduled'
  | 'rolling-update'
  | 'deployment-watcher'
  | 'failed-follow-up'
  | 'max-plan-attempts'
  | 'alloc-failure'
  | 'queued-allocs'
  | 'preemption'
  | 'job-scaling'
  | 'max-disconnect-timeout'
  | 'reconnect'
  | 'alloc-reschedule';

/** A request to look at one job and bring its allocations to what it wants. Empty members are left out, as on the wire. */
export interface Evaluation {
  readonly ID: string;
  readonly Namespace: string;
  readonly Priority: number;
  /** Which scheduler works on it: service, batch, system or sysbatch. */
  readonly Type: string;
  readonly TriggeredBy: EvaluationTrigger;
  readonly JobID: string;
  readonly JobModifyIndex?: number;
  readonly NodeID?: string;
  readonly DeploymentID?: string;
  readonly Status: EvaluationStatus;
  readonly StatusDescription?: string;
  /** RFC 3339: not before this moment. */
  readonly WaitUntil?: string;
  readonly NextEval?: string;
  readonly PreviousEval?: string;
  readonly BlockedEval?: string;
  readonly FailedTGAllocs?: Readonly<Record<string, AllocationMetric>>;
  readonly QueuedAllocations?: Readonly<Record<string, number>>;
  readonly SnapshotIndex?: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export const evaluations = table<Evaluation>('evaluations', (evaluation) => [evaluation.ID], {
  by_job: { key: (evaluation) => [evaluation.Namespace, evaluation.JobID, evaluation.CreateIndex] },
  /** Those that keep their job pending. */
  open_by_job: {
    key: (evaluation) =>
      isTerminalEvaluation(evaluation) ? undefined : [evaluation.Namespace, evaluation.JobID, evaluation.Status],
  },
  by_create: { key: (evaluation) => [evaluation.CreateIndex] },
  by_namespace: { key: (evaluation) => [evaluation.Namespace, evaluation.CreateIndex] },
  /** What a scheduler still has to do: `waiting` by moment, `pending` most urgent first. Blocked ones have queues of their own. */
  due: {
    key: (evaluation) => {
      if (evaluation.Status !== 'pending') return undefined;
      return evaluation.WaitUntil === undefined
        ? ['pending', -evaluation.Priority, evaluation.CreateIndex]
        : ['waiting', Date.parse(evaluation.WaitUntil)];
    },
  },
});

export function isTerminalEvaluation(evaluation: Pick<Evaluation, 'Status'>): boolean {
  return evaluation.Status !== 'pending' && evaluation.Status !== 'blocked';
}
