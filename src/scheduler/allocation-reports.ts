import type { Job } from '../jobs/document/job.js';
import type { Instant, WriteStamp } from '../shared/instant.js';
import { type Allocation, isClientTerminal } from './allocation.js';
import { withHealth } from './deployment/actions.js';
import type { EvaluationTrigger } from './evaluation.js';
import { hasAttemptsLeft } from './reconcile/reschedule.js';

/**
 * The evaluation that a node's report of an allocation requires; undefined for none. Three cases: the allocation is back after its node
 * was disconnected; it failed and its policy may replace it; it is a service that ended on its own and is replaced.
 */
export function triggerAfterReport(
  job: Job,
  before: Allocation,
  after: Allocation,
  now: Instant,
): EvaluationTrigger | undefined {
  if (job.Stop || after.DesiredStatus !== 'run' || after.JobCreateIndex !== job.CreateIndex) return undefined;
  if (before.ClientStatus === 'unknown') return 'reconnect';
  if (!isClientTerminal(after)) return undefined;
  if (after.ClientStatus === 'complete') return job.Type === 'service' ? 'alloc-failure' : undefined;
  const group = job.TaskGroups.find(({ Name }) => Name === after.TaskGroup);
  if (group === undefined || before.FollowupEvalID) return undefined;
  return hasAttemptsLeft(before, group.ReschedulePolicy, now) ? 'alloc-failure' : undefined;
}

/**
 * Merges a node's report of an allocation with its health for its deployment; null: unknown so far. An allocation that failed before its
 * health was known is unhealthy. Unhealthy is final.
 */
export function withReportedHealth(reported: Allocation, healthy: boolean | null, write: WriteStamp): Allocation {
  if (reported.DeploymentID === undefined) return reported;
  const known = reported.DeploymentStatus?.Healthy ?? null;
  const next = healthy ?? (hasFailed(reported) && known === null ? false : null);
  if (next === null || next === known || known === false) return reported;
  return withHealth(reported, next, write);
}

function hasFailed(allocation: Allocation): boolean {
  return allocation.ClientStatus === 'failed' && isClientTerminal(allocation);
}
