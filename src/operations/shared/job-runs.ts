import type { Job } from '../../jobs/document/job.js';
import { type JobRun, jobRuns } from '../../jobs/job-run.js';
import type { JobSummary } from '../../jobs/job-summary-record.js';
import {
  advanceRun,
  cameUp,
  endedWell,
  endsByItself,
  type RunEvent,
  type RunObservation,
  type RunStage,
  runCreated,
  runMessage,
  workspaceOfRun,
} from '../../jobs/run-events.js';
import type { WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { isoFromInstant } from '../../shared/instant.js';
import type { ConsequenceEnvironment } from './consequence-environment.js';
import type { Fact } from './facts.js';
import { publishNotificationEvent } from './publish-notification-event.js';

/** One allocation that a write has put. */
export interface AllocationChange {
  readonly before: Allocation | undefined;
  readonly after: Allocation;
}

/**
 * Begins the run of a job version or instance that was just put: the run of the version before it, if it had not ended,
 * is canceled. Does nothing for jobs that report to no workspace.
 */
export function beginRun(view: WriteView, environment: ConsequenceEnvironment, job: Job): Fact[] {
  if (environment.settings.runNotifications.length === 0) return [];
  const facts = endRun(view, environment, job.Namespace, job.ID);
  const workspaceId = workspaceOfRun(environment.settings.runNotifications, job);
  if (workspaceId === undefined) return facts;
  const run: JobRun = {
    namespace: job.Namespace,
    jobId: job.ID,
    jobCreateIndex: job.CreateIndex,
    version: job.Version,
    runId: environment.ids.next('run'),
    workspaceId,
    message: runMessage(job),
    createdAt: environment.now,
    createdBy: environment.actor ?? null,
    stage: 'pending',
  };
  view.put(jobRuns, run);
  facts.push(...publish(view, environment, run, [runCreated]));
  return facts;
}

/** The job is stopped, purged or replaced: a run that had not ended is canceled, and nothing more is reported of it. */
export function endRun(view: WriteView, environment: ConsequenceEnvironment, namespace: string, jobId: string): Fact[] {
  if (environment.settings.runNotifications.length === 0) return [];
  const run = view.get(jobRuns, [namespace, jobId])?.record;
  if (run === undefined) return [];
  view.remove(jobRuns, [namespace, jobId]);
  return publish(view, environment, run, advanceRun(run.stage, { type: 'stopped' }).events);
}

/** Tells the run of a job what its allocations did, and that the job has died. */
export function followRun(
  view: WriteView,
  environment: ConsequenceEnvironment,
  job: Job,
  summary: JobSummary | undefined,
  changes: readonly AllocationChange[],
  died: boolean,
): Fact[] {
  if (environment.settings.runNotifications.length === 0) return [];
  const run = view.get(jobRuns, [job.Namespace, job.ID])?.record;
  if (run === undefined || run.stage === 'errored' || run.jobCreateIndex !== job.CreateIndex) return [];
  let stage: RunStage = run.stage;
  const events: RunEvent[] = [];
  for (const observation of observationsOf(view, job, summary, run, changes, died)) {
    const progress = advanceRun(stage, observation);
    stage = progress.stage;
    events.push(...progress.events);
  }
  if (stage !== run.stage) view.put(jobRuns, { ...run, stage });
  return publish(view, environment, run, events);
}

/** In the order in which a run goes through them. */
function observationsOf(
  view: WriteView,
  job: Job,
  summary: JobSummary | undefined,
  run: JobRun,
  changes: readonly AllocationChange[],
  died: boolean,
): RunObservation[] {
  const ours = changes.filter(
    ({ after }) => after.JobVersion === run.version && after.JobCreateIndex === run.jobCreateIndex,
  );
  const observations: RunObservation[] = [];
  if (ours.some(({ before }) => before?.JobVersion !== run.version)) observations.push({ type: 'placed' });
  if (ours.some(({ after }) => hasStarted(after))) observations.push({ type: 'started' });
  if (endsByItself(job)) {
    if (died) observations.push({ type: 'ended', success: endedWell(job, allocationsOf(view, job)) });
    return observations;
  }
  if (ours.some(failedForGood)) observations.push({ type: 'failed' });
  else if (
    run.stage !== 'completed' &&
    ours.some(({ after }) => after.ClientStatus === 'running') &&
    mayHaveComeUp(job, summary) &&
    cameUp(job, allocationsOf(view, job))
  ) {
    observations.push({ type: 'came_up' });
  }
  return observations;
}

function hasStarted(allocation: Allocation): boolean {
  if (allocation.ClientStatus === 'running' || allocation.ClientStatus === 'complete') return true;
  if (allocation.ClientStatus !== 'failed') return false;
  return Object.values(allocation.TaskStates ?? {}).some((task) => task.StartedAt !== null);
}

/** The node gave up on it although it was still wanted. */
function failedForGood({ before, after }: AllocationChange): boolean {
  return after.ClientStatus === 'failed' && before?.ClientStatus !== 'failed' && after.DesiredStatus === 'run';
}

/** Spares a big job the look at all its allocations for as long as the counters say that it cannot be up. */
function mayHaveComeUp(job: Job, summary: JobSummary | undefined): boolean {
  if (summary === undefined || job.Type === 'system') return true;
  return job.TaskGroups.every((group) => (summary.Summary[group.Name]?.Running ?? 0) >= group.Count);
}

function allocationsOf(view: WriteView, job: Job): Allocation[] {
  return view
    .list(allocations, { index: 'by_job', prefix: [job.Namespace, job.ID] })
    .map((row) => row.record)
    .filter((allocation) => allocation.JobCreateIndex === job.CreateIndex);
}

function publish(
  view: WriteView,
  environment: ConsequenceEnvironment,
  run: JobRun,
  events: readonly RunEvent[],
): Fact[] {
  const updatedAt = isoFromInstant(environment.now);
  const facts: Fact[] = [];
  for (const event of events) {
    // A rule that names a workspace which does not exist must not fail the job: there is nobody to tell.
    const published = publishNotificationEvent(view, environment, {
      kind: 'run',
      workspaceId: run.workspaceId,
      trigger: event.trigger,
      message: event.message,
      runId: run.runId,
      runUrl: null,
      runMessage: run.message,
      runCreatedAt: isoFromInstant(run.createdAt),
      runCreatedBy: run.createdBy,
      runStatus: event.status,
      runUpdatedAt: updatedAt,
      runUpdatedBy: environment.actor ?? null,
      speculative: false,
    });
    if (published.isErr()) continue;
    const { eventId, workspaceId, trigger, deliveryIds } = published.value;
    facts.push({ name: 'notification.event', fact: { eventId, workspaceId, trigger, deliveryIds } });
  }
  return facts;
}
