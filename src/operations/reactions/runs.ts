import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import {
  allocationOutcome,
  bounded,
  endedRuns,
  errorLine,
  type FailedTask,
  firstStart,
  type JobRun,
  jobRuns,
  outcomeWords,
  type RunOutcome,
  type RunStage,
  runOf,
  runOutcome,
} from '../../jobs/runs/job-run.js';
import {
  advanceRun,
  cameUp,
  hasOwnEnd,
  type RunEvent,
  type RunObservation,
  type RunStatus,
  runCreated,
  runMessage,
  workspaceOfRun,
} from '../../jobs/runs/run-events.js';
import { jobSummaries } from '../../jobs/status/job-summary.js';
import type { RunFailure, RunOfJob } from '../../notifications/events/event.js';
import { errorOutputUrl, runUrl } from '../../notifications/payloads/render-payload.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations, type TaskEvent } from '../../scheduler/allocation.js';
import type { PutAllocation } from '../../scheduler/cluster/cluster.js';
import { evaluations } from '../../scheduler/evaluation.js';
import { defaultSettings } from '../../settings.js';
import { isoFromInstant } from '../../shared/instant.js';
import { readAllocationsOfRun } from '../records/jobs/job-allocations.js';
import { publishNotificationEvent } from '../records/publish-notification-event.js';
import type { Transaction } from '../write-transaction.js';
import { allocationsThatRan, isRegistered, type TouchedJob, touchedJobs } from './jobs.js';
import type { Reaction } from './reaction.js';

/** The runs of jobs that report to a workspace, and their notifications. */
export const runsReaction: Reaction = {
  tables: [jobs, evaluations, allocations],
  react: (tx, changes) => {
    if (tx.settings.runNotifications.length === 0) return;
    for (const touched of touchedJobs(changes))
      follow(tx, touched, changes.latest(tx, jobs, [touched.namespace, touched.jobId]));
  },
};

function follow(tx: Transaction, touched: TouchedJob, job: Job | undefined): void {
  const { namespace, jobId, job: change } = touched;
  const isNew = change !== undefined && isRegistered(change);
  const before = change?.before?.Status ?? 'dead';
  const hasDied = before !== 'dead' && job?.Status === 'dead';
  const lostEvaluations = touched.evaluations.some(({ after }) => after === undefined);
  // A job that dies because its evaluations are removed was not ended by its work.
  if (job === undefined || (hasDied && lostEvaluations)) endRun(tx, namespace, jobId);
  else if (isNew) beginRun(tx, job);
  else followRun(tx, { job, hasDied, changes: placedOf(touched) });
}

function placedOf({ allocations: changed }: TouchedJob): readonly PutAllocation[] {
  return changed.flatMap(({ before, after }) => (after === undefined ? [] : { before, after }));
}

/** Begins the run of a registered job and cancels the unfinished one of the previous version. */
function beginRun(tx: Transaction, job: Job): void {
  endRun(tx, job.Namespace, job.ID);
  const workspaceId = workspaceOfRun(tx.settings.runNotifications, job);
  if (workspaceId === undefined) return;
  const run: JobRun = {
    namespace: job.Namespace,
    jobId: job.ID,
    jobCreateIndex: job.CreateIndex,
    version: job.Version,
    runId: tx.ids.next('run'),
    workspaceId,
    message: runMessage(job),
    createdAt: tx.now,
    createdBy: tx.actor ?? null,
    stage: 'pending',
    ...(tx.trace === undefined ? {} : { traceparent: tx.trace }),
  };
  tx.put(jobRuns, run);
  publish(tx, run, [runCreated]);
}

/** Cancels the unfinished run of a stopped, purged or replaced job; nothing more is reported about it. */
function endRun(tx: Transaction, namespace: string, jobId: string): void {
  const run = tx.get(jobRuns, [namespace, jobId])?.record;
  if (run === undefined) return;
  tx.remove(jobRuns, [namespace, jobId]);
  publish(tx, run, advanceRun(run.stage, { type: 'stopped' }).events);
}

/** The changes of a job in a write. */
interface JobProgress {
  readonly job: Job;
  /** Of the job's allocations. */
  readonly changes: readonly PutAllocation[];
  readonly hasDied: boolean;
}

/** Updates the run of a job after changes of its allocations and after the end of the job. */
function followRun(tx: Transaction, progress: JobProgress): void {
  const { job, changes } = progress;
  const run = tx.get(jobRuns, [job.Namespace, job.ID])?.record;
  if (run === undefined || run.stage === 'errored' || run.jobCreateIndex !== job.CreateIndex) return;
  let stage: RunStage = run.stage;
  const events: RunEvent[] = [];
  for (const observation of observationsOf(tx, run, progress)) {
    const advanced = advanceRun(stage, observation);
    stage = advanced.stage;
    events.push(...advanced.events);
  }
  if (stage !== run.stage) tx.put(jobRuns, { ...run, stage });
  const failed = events.some(({ status }) => status === 'errored');
  publish(tx, run, events, failed ? failureOfRun(tx, job, run, changes) : undefined);
}

/** In the order of the stages of a run. */
function observationsOf(tx: Transaction, run: JobRun, { job, changes, hasDied }: JobProgress): RunObservation[] {
  const ours = changes.filter(
    ({ after }) => after.JobVersion === run.version && after.JobCreateIndex === run.jobCreateIndex,
  );
  const observations: RunObservation[] = [];
  if (ours.some(({ before }) => before?.JobVersion !== run.version)) observations.push({ type: 'placed' });
  if (ours.some(({ after }) => hasStarted(after))) observations.push({ type: 'started' });
  if (hasOwnEnd(job)) {
    const outcome = hasDied ? runOutcome(job, readAllocationsOfRun(tx, job)) : undefined;
    if (outcome !== undefined) observations.push({ type: 'ended', outcome });
    return observations;
  }
  if (ours.some(failedForGood)) observations.push({ type: 'failed' });
  else if (
    !tx.unfinished &&
    run.stage !== 'completed' &&
    ours.some(({ after }) => after.ClientStatus === 'running') &&
    mayHaveComeUp(tx, job) &&
    cameUp(job, readAllocationsOfRun(tx, job))
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

/** Whether it failed on its node while it was still wanted. */
function failedForGood({ before, after }: PutAllocation): boolean {
  return after.ClientStatus === 'failed' && before?.ClientStatus !== 'failed' && after.DesiredStatus === 'run';
}

/** Whether all of the job can be running according to the counters. If not, its allocations need not be read. */
function mayHaveComeUp(tx: Transaction, job: Job): boolean {
  const summary = tx.get(jobSummaries, [job.Namespace, job.ID])?.record;
  if (summary === undefined || job.Type === 'system') return true;
  return job.TaskGroups.every((group) => (summary.Summary[group.Name]?.Running ?? 0) >= group.Count);
}

/** The failure among the allocations changed in this write, otherwise among all of the job. */
function failureOfRun(
  tx: Transaction,
  job: Job,
  { version }: JobRun,
  changes: readonly PutAllocation[],
): RunFailure | undefined {
  const changed = changes.map(({ after }) => after).filter(({ JobVersion }) => JobVersion === version);
  return (
    failureOf(changed) ?? failureOf(readAllocationsOfRun(tx, job).filter(({ JobVersion }) => JobVersion === version))
  );
}

/** The history of the runs of batch jobs: a row for each run that has ended, in place of the oldest ones. */
export const runHistoryReaction: Reaction = {
  tables: [jobs],
  react: (tx, changes) => {
    for (const { before, after } of changes.of(jobs)) {
      if (after?.Status !== 'dead' || before?.Status === 'dead' || !hasOwnEnd(after)) continue;
      const allocated = allocationsThatRan(tx, after);
      const outcome = runOutcome(after, allocated);
      if (outcome !== undefined && !isKept(tx, after, allocated)) keepRun(tx, after, { outcome, allocated });
    }
  },
};

/** A job that has ended may be evaluated, registered or stopped again: only a further allocation makes a further run. */
function isKept(view: ReadView, { Namespace, ID }: Job, allocated: readonly Allocation[]): boolean {
  const query = { index: 'by_job', prefix: [Namespace, ID], reverse: true, limit: 1 };
  const last = view.list(endedRuns, query)[0]?.record;
  return last !== undefined && !allocated.some(({ CreateIndex }) => CreateIndex > last.index);
}

interface EndOfRun {
  readonly outcome: RunOutcome;
  readonly allocated: readonly Allocation[];
}

function keepRun(tx: Transaction, job: Job, { outcome, allocated }: EndOfRun): void {
  const { keptRuns, runsKeptFor } = tx.settings.jobs;
  const run = runOf(job);
  const latest = tx.list(endedRuns, { prefix: [run.namespace, run.parentId], reverse: true, limit: 1 })[0]?.record;
  const number = (latest?.number ?? 0) + 1;
  const replaced = allocated.flatMap(({ RescheduleTracker }) => RescheduleTracker?.Events ?? []);
  const earlier = replaced.flatMap(({ PrevAllocID }) => tx.get(allocations, [PrevAllocID])?.record ?? []);
  const startedAt = firstStart([...earlier, ...allocated]);
  const failure = outcome === 'succeeded' ? undefined : failureOf(allocated);
  const first = { ...(startedAt !== undefined && { startedAt }), ...(failure && { failure: shortened(failure) }) };
  const ended = { ...first, endedAt: tx.now, index: tx.index };
  if (keptRuns > 0) tx.put(endedRuns, { ...run, ...ended, number, outcome });
  tx.remove(endedRuns, [run.namespace, run.parentId, number - keptRuns]);
  // Two for one, so that those of jobs that run no more go, too.
  for (const { record } of tx.list(endedRuns, { index: 'by_end', limit: 2 })) {
    if (record.endedAt < tx.now - runsKeptFor) tx.remove(endedRuns, endedRuns.key(record));
  }
}

function shortened({ allocationId, task, exitCode, signal, message, output = '' }: RunFailure): FailedTask {
  const exit = {
    ...(task !== null && { task }),
    ...(exitCode !== null && { exitCode }),
    ...(signal !== null && { signal }),
  };
  return { allocationId, ...exit, message: errorLine(output) ?? bounded(message) };
}

/** With a link to the output of the failed task. */
function withOutput({ settings }: Transaction, failure: RunFailure): RunFailure {
  const { task, allocationId } = failure;
  // The default is a placeholder, not the address of a server.
  if (task === null || settings.notifications.publicOrigin === defaultSettings.notifications.publicOrigin)
    return failure;
  return { ...failure, outputUrl: errorOutputUrl(settings.notifications, allocationId, task) };
}

const endStatuses: ReadonlySet<RunStatus> = new Set(['applied', 'planned_and_finished', 'errored', 'canceled']);

function tellEnd(tx: Transaction, run: JobRun, status: RunStatus): void {
  const { namespace, jobId, runId, workspaceId, createdAt, traceparent = null } = run;
  tx.emit('run.ended', { namespace, jobId, runId, workspaceId, status, createdAt, endedAt: tx.now, traceparent });
}

function namedOutcome({ outcome }: RunEvent): Pick<RunOfJob, 'outcome'> {
  return outcome === undefined ? {} : { outcome: { name: outcome, text: outcomeWords[outcome] } };
}

function publish(tx: Transaction, run: JobRun, events: readonly RunEvent[], failure?: RunFailure): void {
  const updatedAt = isoFromInstant(tx.now);
  const { now, ids, settings } = tx;
  const environment = { now, ids, settings, trace: run.traceparent };
  for (const event of events) {
    if (endStatuses.has(event.status)) tellEnd(tx, run, event.status);
    // A rule that names a workspace which does not exist must not fail the job: no notification is sent.
    const published = publishNotificationEvent(tx, environment, {
      kind: 'run',
      workspaceId: run.workspaceId,
      trigger: event.trigger,
      message: event.message,
      runId: run.runId,
      runUrl: runUrl(tx.settings.jobs.runUrl, tx.settings.notifications, run),
      runMessage: run.message,
      runCreatedAt: isoFromInstant(run.createdAt),
      runCreatedBy: run.createdBy,
      runStatus: event.status,
      runUpdatedAt: updatedAt,
      runUpdatedBy: tx.actor ?? null,
      speculative: false,
      job: { namespace: run.namespace, id: run.jobId, ...namedOutcome(event) },
      ...(failure === undefined || event.status !== 'errored' ? {} : { failure: withOutput(tx, failure) }),
    });
    if (published.isErr()) continue;
    const { eventId, workspaceId, trigger, deliveryIds } = published.value;
    tx.emit('notification.event', { eventId, workspaceId, trigger, deliveryIds });
  }
}
/** The failure that ended a run: that of the first failed task of the allocation that failed last. */
function failureOf(allocations: readonly Allocation[]): RunFailure | undefined {
  const last = lastFailed(allocations);
  if (last === undefined) return undefined;
  const { task, end } = failedTaskOf(last);
  const message = (end === undefined ? '' : messageOf(end)) || last.ClientDescription || 'failed';
  const failure = { allocationId: last.ID, group: last.TaskGroup, task, ...exitOf(end), message };
  const output = last.FailureOutput;
  return output === undefined || output.task !== task ? failure : { ...failure, output: output.text };
}
/** The first failed task; without one, as after a timeout, the task whose output the node has sent. */
function failedTaskOf({ TaskStates, FailureOutput }: Allocation) {
  const [task, state] = Object.entries(TaskStates ?? {}).find(([, { Failed }]) => Failed) ?? [];
  return { task: task ?? FailureOutput?.task ?? null, end: endOf(state?.Events ?? []) };
}
/** Null for a task that did not exit, or that exited without a signal. */
function exitOf(end: TaskEvent | undefined): Pick<RunFailure, 'exitCode' | 'signal'> {
  if (end?.Type !== 'Terminated') return { exitCode: null, signal: null };
  return { exitCode: end.ExitCode, signal: end.Signal > 0 ? end.Signal : null };
}
function lastFailed(allocations: readonly Allocation[]): Allocation | undefined {
  const failed = allocations.filter((each) => {
    const outcome = allocationOutcome(each);
    return outcome === 'failed' || outcome === 'timed_out' || outcome === 'lost';
  });
  return failed.reduce<Allocation | undefined>(
    (latest, each) => (latest === undefined || each.ModifyIndex >= latest.ModifyIndex ? each : latest),
    undefined,
  );
}
/** The event that ended a task: its exit, or the failure to run it. */
function endOf(events: readonly TaskEvent[]): TaskEvent | undefined {
  return events.findLast(({ Type }) => Type === 'Terminated') ?? events.findLast(({ FailsTask }) => FailsTask);
}
function messageOf({ DisplayMessage, Message, DriverError, SetupError }: TaskEvent): string {
  return [DriverError, SetupError, DisplayMessage, Message].find((text) => text !== '') ?? '';
}
