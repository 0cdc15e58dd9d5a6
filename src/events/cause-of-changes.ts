import type { ChangeOf, StateChange } from './state-change.js';

/** What a transaction is about. All of its events that have no own type have this one. */
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
 * The cause of a transaction by what it changed; undefined where the changes are all that there is to report, such as an evaluation by
 * request. A job that goes back to an earlier version because its deployment failed is not registered.
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

/** An earlier line holds before a later one: a plan also changes deployments, and so does the report of a node. */
const inOrder: readonly { topic: StateChange['topic']; cause: Cause; holds: (change: never) => boolean }[] = [
  { topic: 'Evaluation', cause: 'PlanResult', holds: isDecided },
  { topic: 'Allocation', cause: 'PlanResult', holds: isPlanned },
  { topic: 'Allocation', cause: 'AllocationUpdated', holds: isReported },
  { topic: 'Allocation', cause: 'AllocationUpdateDesiredStatus', holds: isToMove },
  { topic: 'Deployment', cause: 'DeploymentPromotion', holds: isPromoted },
  { topic: 'Deployment', cause: 'DeploymentStatusUpdate', holds: isChanged },
];

/** The scheduler is done with it. */
function isDecided({ before, after }: ChangeOf<'Evaluation'>): boolean {
  return before?.Status === 'pending' && (after?.Status === 'complete' || after?.Status === 'failed');
}

/** It is new, or the scheduler has changed what is wanted of it, or considers it out of reach. */
function isPlanned({ before, after }: ChangeOf<'Allocation'>): boolean {
  if (after === undefined) return false;
  if (before === undefined || before.DesiredStatus !== after.DesiredStatus) return true;
  return before.ClientStatus !== after.ClientStatus && after.ClientStatus === 'unknown';
}

/** The agent of its node has said how it is: whatever the servers change takes a separate index, except for the end of a canary. */
function isReported(change: ChangeOf<'Allocation'>): boolean {
  const { before, after } = change;
  if (before === undefined || after === undefined || isPlanned(change) || isToMove(change)) return false;
  const isCanary = before.DeploymentStatus?.Canary ?? false;
  return before.AllocModifyIndex === after.AllocModifyIndex && isCanary === (after.DeploymentStatus?.Canary ?? false);
}

/** It is to be moved, placed again or ended. */
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
