import { type Instant, unixNanosFromInstant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { AllocationMetric } from './allocation-metric.js';
import type { AllocationListStub } from './allocation-views.js';

/** Status of an evaluation. `blocked` waits for room on nodes; `complete`, `failed` and `canceled` are final. */
export type EvaluationStatus = 'blocked' | 'pending' | 'complete' | 'failed' | 'canceled';

/**
 * What triggered an evaluation: a change of the job, a node or an allocation, a due time, or an earlier
 * evaluation.
 */
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

/** What an evaluation decided for the allocations of one group, as numbers of allocations. */
export interface DesiredUpdates {
  /** Left unchanged. */
  readonly Ignore: number;
  /** New allocations, including replacements of failed ones. */
  readonly Place: number;
  /** Moved off draining nodes. */
  readonly Migrate: number;
  /** Stopped without a replacement. */
  readonly Stop: number;
  /** Updated in place, without a restart. */
  readonly InPlaceUpdate: number;
  /** Stopped and replaced by the new version. */
  readonly DestructiveUpdate: number;
  /** Placed as canaries. */
  readonly Canary: number;
  /** Allocations of other jobs, stopped to make room. */
  readonly Preemptions: number;
  /** Marked as unknown because their node is disconnected. */
  readonly Disconnect: number;
  /** Running again on reconnected nodes. */
  readonly Reconnect: number;
  /** Failed allocations that are replaced now. */
  readonly RescheduleNow: number;
  /** Failed allocations that are replaced after their delay. */
  readonly RescheduleLater: number;
}

/** What an evaluation decided, in numbers. */
export interface PlanAnnotations {
  /** By name of the group. */
  readonly DesiredTGUpdates: Readonly<Record<string, DesiredUpdates>>;
  /** The allocations that the placements would preempt; null when there are none. */
  readonly PreemptedAllocs: readonly AllocationListStub[] | null;
}

/** A request to compare one job with its allocations and close the difference. Members with an empty value are omitted, as on the wire. */
export interface Evaluation {
  /** A UUID. */
  readonly ID: string;
  readonly Namespace: string;
  /** From 1 to 100; the highest is processed first. */
  readonly Priority: number;
  /** The scheduler that processes it: service, batch, system or sysbatch. */
  readonly Type: string;
  /** What triggered it. */
  readonly TriggeredBy: EvaluationTrigger;
  readonly JobID: string;
  /** The job's JobModifyIndex at the triggering request; absent if no request triggered it. */
  readonly JobModifyIndex?: number;
  /** The node whose change triggered it, or on which a system job found no room. */
  readonly NodeID?: string;
  /** The index of the triggering node change. */
  readonly NodeModifyIndex?: number;
  /** The deployment that it created, or that triggered it. */
  readonly DeploymentID?: string;
  /** Status of the evaluation. */
  readonly Status: EvaluationStatus;
  /** Reason for the status, for display. */
  readonly StatusDescription?: string;
  /** RFC 3339: the evaluation is not processed earlier. */
  readonly WaitUntil?: string;
  /** ID of the delayed evaluation that continues this one. */
  readonly NextEval?: string;
  /** ID of the evaluation that created this one. */
  readonly PreviousEval?: string;
  /** ID of the blocked evaluation that continues this one. */
  readonly BlockedEval?: string;
  /** By group, why allocations could not be placed. */
  readonly FailedTGAllocs?: Readonly<Record<string, AllocationMetric>>;
  /** The result of the evaluation, by group; set when it is complete. */
  readonly PlanAnnotations?: PlanAnnotations;
  /** By node class: whether nodes of that class could take the blocked allocations. An unknown class is worth trying. */
  readonly ClassEligibility?: Readonly<Record<string, boolean>>;
  /** Not set here. */
  readonly QuotaLimitReached?: string;
  /** Not set here. */
  readonly MissingNonNodeResources?: readonly string[];
  /** Whether a rule of the job names a property that nodes of one class do not share: every change of a node is then worth trying. */
  readonly EscapedComputedClass?: boolean;
  /** Set for the evaluation of a plan (`planJob`), which is never stored. */
  readonly AnnotatePlan?: boolean;
  /** By group, the number of allocations that wait for room. */
  readonly QueuedAllocations?: Readonly<Record<string, number>>;
  /** Index of the state on which it was decided. */
  readonly SnapshotIndex?: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Time of the last change, in Unix nanoseconds. */
  readonly ModifyTime: number;
}

export const evaluations = table<Evaluation>('evaluations', (evaluation) => [evaluation.ID], {
  by_job: { version: 1, key: (evaluation) => [evaluation.Namespace, evaluation.JobID, evaluation.CreateIndex] },
  /** Evaluations that keep their job pending. */
  open_by_job: {
    version: 1,
    key: (evaluation) =>
      isTerminalEvaluation(evaluation) ? undefined : [evaluation.Namespace, evaluation.JobID, evaluation.Status],
  },
  by_create: { version: 2, key: (evaluation) => [evaluation.CreateIndex, evaluation.ID] },
  by_namespace: { version: 2, key: (evaluation) => [evaluation.Namespace, evaluation.CreateIndex, evaluation.ID] },
  /** The scheduler's queue: `waiting` by due time, `pending` by namespace, highest priority first. Blocked evaluations have separate queues. */
  due: {
    version: 2,
    key: (evaluation) => {
      if (evaluation.Status !== 'pending') return undefined;
      return evaluation.WaitUntil === undefined
        ? ['pending', evaluation.Namespace, -evaluation.Priority, evaluation.CreateIndex, evaluation.ID]
        : ['waiting', Date.parse(evaluation.WaitUntil)];
    },
  },
});

export function isTerminalEvaluation(evaluation: Pick<Evaluation, 'Status'>): boolean {
  return evaluation.Status !== 'pending' && evaluation.Status !== 'blocked';
}

/** The smallest step of a timestamp in nanoseconds: a double stores present-day values in steps of 256. */
const leastStep = 1000;

/** The time of a change, in Unix nanoseconds: always after the creation, even if the clock stood still. */
export function timeOfChange({ CreateTime }: Pick<Evaluation, 'CreateTime'>, now: Instant): number {
  const nanos = unixNanosFromInstant(now);
  return nanos > CreateTime ? nanos : CreateTime + leastStep;
}
