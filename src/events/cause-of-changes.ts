import type { ChangeOf, StateChange } from './state-change.js';

/** The cause of a transaction. All of its events without an own type have this type. */
export type Cause =
  | 'JobRegistered'
  | 'JobDeregistered'
  | 'JobBatchDeregistered'
  | 'PlanResult'
  | 'AllocationUpdated'
  | 'AllocationUpdateDesiredStatus'
  | 'DeploymentPromotion'
  | 'DeploymentAllocHealth'
  | 'DeploymentStatusUpdate';

/**
 * Derives the cause of a transaction from its changes; undefined where only the changes themselves are reported, such as an evaluation by
 * request. A job that reverts because its deployment failed is not registered.
 */
export function causeOf(changes: readonly StateChange[], index: number): Cause | undefined {
  const isRevert = changes.some((change) => change.topic === 'Deployment' && isFailed(change));
  for (const change of changes) {
    const cause = change.topic === 'Job' ? causeOfJob(change, isRevert ? undefined : index) : undefined;
    if (cause !== undefined) return cause;
  }
  return inOrder.find(({ topic, holds }) => changes.some((change) => change.topic === topic && holds(change as never)))
    ?.cause;
}

/** Without an index of registrations only a stop counts. */
function causeOfJob({ before, after }: ChangeOf<'Job'>, registered: number | undefined): Cause | undefined {
  if (after === undefined || (after.Stop && before?.Stop === false)) return 'JobDeregistered';
  return before === undefined || after.JobModifyIndex === registered ? 'JobRegistered' : undefined;
}

/** Earlier rows take precedence: a plan also changes deployments, and so does a node's report. */
const inOrder: readonly { topic: StateChange['topic']; cause: Cause; holds: (change: never) => boolean }[] = [
  { topic: 'Evaluation', cause: 'PlanResult', holds: isDecided },
  { topic: 'Allocation', cause: 'PlanResult', holds: isPlanned },
  { topic: 'Allocation', cause: 'AllocationUpdated', holds: isReported },
  { topic: 'Allocation', cause: 'AllocationUpdateDesiredStatus', holds: isToMove },
  { topic: 'Deployment', cause: 'DeploymentPromotion', holds: isPromoted },
  { topic: 'Deployment', cause: 'DeploymentStatusUpdate', holds: isChanged },
];

/** Whether the scheduler has finished the evaluation. */
function isDecided({ before, after }: ChangeOf<'Evaluation'>): boolean {
  return before?.Status === 'pending' && (after?.Status === 'complete' || after?.Status === 'failed');
}

/** Whether it is new, or the scheduler has changed its desired status or marked it as unknown. */
function isPlanned({ before, after }: ChangeOf<'Allocation'>): boolean {
  if (after === undefined) return false;
  if (before === undefined || before.DesiredStatus !== after.DesiredStatus) return true;
  return before.ClientStatus !== after.ClientStatus && after.ClientStatus === 'unknown';
}

/** Whether the node's agent has reported its status: changes by the servers use a separate index, except for the end of a canary. */
function isReported(change: ChangeOf<'Allocation'>): boolean {
  const { before, after } = change;
  if (before === undefined || after === undefined || isPlanned(change) || isToMove(change)) return false;
  const isCanary = before.DeploymentStatus?.Canary ?? false;
  return before.AllocModifyIndex === after.AllocModifyIndex && isCanary === (after.DeploymentStatus?.Canary ?? false);
}

/** Whether it is to be migrated, rescheduled or stopped. */
export function isToMove({ before, after }: ChangeOf<'Allocation'>): boolean {
  if (before === undefined || after === undefined) return false;
  return JSON.stringify(before.DesiredTransition) !== JSON.stringify(after.DesiredTransition);
}

export function isPromoted({ before, after }: ChangeOf<'Deployment'>): boolean {
  return Object.entries(after?.TaskGroups ?? {}).some(
    ([name, { Promoted }]) => Promoted && before !== undefined && before.TaskGroups[name]?.Promoted === false,
  );
}

function isFailed({ before, after }: ChangeOf<'Deployment'>): boolean {
  return before !== undefined && before.Status !== 'failed' && after?.Status === 'failed';
}

function isChanged({ before, after }: ChangeOf<'Deployment'>): boolean {
  return before !== undefined && after !== undefined;
}
