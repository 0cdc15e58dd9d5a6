import { type Instant, unixNanosFromInstant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { AllocationMetric } from './allocation-metric.js';
import type { AllocationListStub } from './allocation-stub.js';

/** How far an evaluation is. `blocked` waits for room on nodes; `complete`, `failed` and `canceled` are final. */
export type EvaluationStatus = 'blocked' | 'pending' | 'complete' | 'failed' | 'canceled';

/**
 * What called for an evaluation: a change of the job, of a node or of an allocation, a time that has come, or an earlier
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

/** What an evaluation means to do with the allocations of one group, as numbers of allocations. */
export interface DesiredUpdates {
  /** Left as they are. */
  readonly Ignore: number;
  /** New ones, also in place of failed ones. */
  readonly Place: number;
  /** Moved away from draining nodes. */
  readonly Migrate: number;
  /** Ended without a replacement. */
  readonly Stop: number;
  /** Brought to the new version without a restart. */
  readonly InPlaceUpdate: number;
  /** Ended and placed anew with the new version. */
  readonly DestructiveUpdate: number;
  /** Placed as canaries. */
  readonly Canary: number;
  /** Of other jobs, ended to make room. */
  readonly Preemptions: number;
  /** Marked as unknown, as their node is disconnected. */
  readonly Disconnect: number;
  /** Found again on nodes that came back. */
  readonly Reconnect: number;
  /** Failed ones that are replaced now. */
  readonly RescheduleNow: number;
  /** Failed ones that are replaced when their delay is over. */
  readonly RescheduleLater: number;
}

/** What an evaluation means to do, in numbers. */
export interface PlanAnnotations {
  /** By name of the group. */
  readonly DesiredTGUpdates: Readonly<Record<string, DesiredUpdates>>;
  /** What the placements would take the place of; null when there is nothing. */
  readonly PreemptedAllocs: readonly AllocationListStub[] | null;
}

/** A request to consider one job and bring its allocations to what it wants. Members with an empty value are left out, as on the wire. */
export interface Evaluation {
  /** A UUID. */
  readonly ID: string;
  readonly Namespace: string;
  /** From 1 to 100; the highest is worked on first. */
  readonly Priority: number;
  /** Which scheduler works on it: service, batch, system or sysbatch. */
  readonly Type: string;
  /** What called for it. */
  readonly TriggeredBy: EvaluationTrigger;
  readonly JobID: string;
  /** The JobModifyIndex of the job that a request was about; absent if no request called for it. */
  readonly JobModifyIndex?: number;
  /** The node whose change called for it, or on which a system job found no room. */
  readonly NodeID?: string;
  /** The index of the node's change that called for it. */
  readonly NodeModifyIndex?: number;
  /** The deployment that it began, or that called for it. */
  readonly DeploymentID?: string;
  /** How far it is. */
  readonly Status: EvaluationStatus;
  /** Why it has this status, for people. */
  readonly StatusDescription?: string;
  /** RFC 3339: not before this time. */
  readonly WaitUntil?: string;
  /** ID of the evaluation that continues at a later time. */
  readonly NextEval?: string;
  /** ID of the evaluation that made this one. */
  readonly PreviousEval?: string;
  /** ID of the evaluation that waits for room. */
  readonly BlockedEval?: string;
  /** By group, why allocations found no node. */
  readonly FailedTGAllocs?: Readonly<Record<string, AllocationMetric>>;
  /** The result of the evaluation, by group; set when it is complete. */
  readonly PlanAnnotations?: PlanAnnotations;
  /** By class of node: whether nodes of that class could take what is blocked. An unknown class is worth a try. */
  readonly ClassEligibility?: Readonly<Record<string, boolean>>;
  /** Not set here. */
  readonly QuotaLimitReached?: string;
  /** Not set here. */
  readonly MissingNonNodeResources?: readonly string[];
  /** A rule of the job names something that nodes of one class do not share: every change of a node is worth a try. */
  readonly EscapedComputedClass?: boolean;
  /** Set for the evaluation of a plan (`planJob`), which is not stored. */
  readonly AnnotatePlan?: boolean;
  /** By group, how many allocations wait for room. */
  readonly QueuedAllocations?: Readonly<Record<string, number>>;
  /** Index of the state that it was decided on. */
  readonly SnapshotIndex?: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** When it was last changed, in Unix nanoseconds. */
  readonly ModifyTime: number;
}

export const evaluations = table<Evaluation>('evaluations', (evaluation) => [evaluation.ID], {
  by_job: { version: 1, key: (evaluation) => [evaluation.Namespace, evaluation.JobID, evaluation.CreateIndex] },
  /** Those that keep their job pending. */
  open_by_job: {
    version: 1,
    key: (evaluation) =>
      isTerminalEvaluation(evaluation) ? undefined : [evaluation.Namespace, evaluation.JobID, evaluation.Status],
  },
  by_create: { version: 2, key: (evaluation) => [evaluation.CreateIndex, evaluation.ID] },
  by_namespace: { version: 2, key: (evaluation) => [evaluation.Namespace, evaluation.CreateIndex, evaluation.ID] },
  /** What a scheduler still has to do: `waiting` by due time, `pending` by namespace, most urgent first. Blocked ones have separate queues. */
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

/** The least difference between two times, in nanoseconds: a number holds those of the present time in steps of 256. */
const leastStep = 1000;

/** The time of a change, in Unix nanoseconds: always after the creation, even when the clock stood still. */
export function timeOfChange({ CreateTime }: Pick<Evaluation, 'CreateTime'>, now: Instant): number {
  const nanos = unixNanosFromInstant(now);
  return nanos > CreateTime ? nanos : CreateTime + leastStep;
}
