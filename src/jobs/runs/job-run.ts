import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { Job } from '../document/job.js';
import { isLauncher } from '../job-record.js';

/** How far the events of a run have come; see `advanceRun`. */
export type RunStage = 'pending' | 'planning' | 'applying' | 'completed' | 'errored';

/**
 * The run of a job that reports to a workspace: a dispatched or periodic instance, or the latest version of another job.
 * Its stage is part of the record, so that each of its events is published at most once. The record is removed when the job is
 * stopped or a newer version replaces it: nothing that old allocations do is reported after that.
 */
export interface JobRun {
  readonly namespace: string;
  readonly jobId: string;
  /** Distinguishes registrations of a job before and after a purge. */
  readonly jobCreateIndex: number;
  readonly version: number;
  readonly runId: string;
  readonly workspaceId: string;
  readonly message: string;
  readonly createdAt: Instant;
  /** The name of the person who registered or dispatched it; null for a launch by the clock. */
  readonly createdBy: string | null;
  readonly stage: RunStage;
  /** The trace context of the request that began it, as a `traceparent`; its notifications pass it on. */
  readonly traceparent?: string;
}

export const jobRuns = table<JobRun>('job_runs', (run) => [run.namespace, run.jobId]);

/*
 * How a run ended, for display and notifications. Statuses alone do not show it: an allocation that was stopped or reached its
 * maximum run duration is `complete`, and a job is `dead` after any outcome. The descriptions below are part of the rule.
 */

/** How an allocation or the run of a job ended. */
export type RunOutcome = 'succeeded' | 'failed' | 'stopped' | 'timed_out' | 'lost';

/** The display names of outcomes. */
export const outcomeWords: Readonly<Record<RunOutcome, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  stopped: 'stopped',
  timed_out: 'timed out',
  lost: 'lost',
};

/** The description of an allocation that `max_run_duration` ended. Its status is `complete`, as in Nomad. */
export const exceededDuration = 'Allocation exceeded its maximum run duration';

/** The description of a batch allocation that was stopped before its work was done. Its status is `complete`, as in Nomad. */
export const stoppedEarly = 'Stopped before its tasks had completed';

/** The description of an allocation that its node ended without the server. Its status is `failed`. */
export const lostServer = 'Stopped because its node had lost the server';

/** The members of an allocation, or of its list entry, that an outcome depends on. */
export interface EndedAllocation {
  readonly JobType?: string;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
  readonly ClientDescription?: string;
}

/** The outcome of an allocation; undefined while its node has not finished with it. */
export function allocationOutcome(allocation: EndedAllocation): RunOutcome | undefined {
  const { ClientStatus, ClientDescription = '' } = allocation;
  switch (ClientStatus) {
    case 'lost':
      return 'lost';
    case 'failed':
      return ClientDescription === lostServer ? 'lost' : 'failed';
    case 'complete':
      if (ClientDescription === exceededDuration) return 'timed_out';
      return wasStopped(allocation) ? 'stopped' : 'succeeded';
    default:
      return undefined;
  }
}

/**
 * Batch work may be stopped after its end, so its description decides. For services, and for agents that send no
 * description, the desired status decides.
 */
function wasStopped({ JobType, DesiredStatus, ClientDescription = '' }: EndedAllocation): boolean {
  if (ClientDescription === stoppedEarly) return true;
  const isUnclear = JobType === 'service' || JobType === 'system' || ClientDescription === '';
  return isUnclear && DesiredStatus !== 'run';
}

/** One allocation of a job, or its list entry. */
export interface AllocationOfRun extends EndedAllocation {
  readonly Name: string;
  readonly NodeID: string;
  readonly TaskGroup: string;
  readonly CreateIndex: number;
}

/** The members of a job that its outcome depends on, besides its allocations. */
export type EndedJob = Pick<Job, 'ID' | 'Type' | 'Status' | 'Stop' | 'ParameterizedJob' | 'Dispatched' | 'Periodic'> & {
  readonly TaskGroups: readonly { readonly Name: string; readonly Count: number }[];
};

/**
 * The outcome of a dead job, from the last allocation of each of its instances: earlier ones that failed and were replaced
 * do not count. The worst outcome applies, in the order of `severity`. Undefined while the job is not dead, and for parents of instances.
 */
export function runOutcome(job: EndedJob, allocations: readonly AllocationOfRun[]): RunOutcome | undefined {
  if (job.Status !== 'dead' || isLauncher(job)) return undefined;
  // An instance without an outcome: the job was stopped before, or it was never placed.
  const withoutEnd: RunOutcome = job.Stop ? 'stopped' : 'failed';
  const outcomes = lastAllocations(job, allocations).map(
    (allocation) => (allocation === undefined ? undefined : allocationOutcome(allocation)) ?? withoutEnd,
  );
  // A stopped job may never have had an allocation.
  return severity.find((outcome) => outcomes.includes(outcome)) ?? (job.Stop ? 'stopped' : 'succeeded');
}

/** When the first task started. The state of a task has its last start; its events have those before. */
export function firstStart(allocations: readonly StartedAllocation[]): Instant | undefined {
  const tasks = allocations.flatMap(({ TaskStates }) => Object.values(TaskStates ?? {}));
  const times = tasks.flatMap(({ StartedAt, Events }) => [
    ...(StartedAt === null ? [] : [Date.parse(StartedAt)]),
    ...(Events ?? []).flatMap(({ Type, Time }) => (Type === 'Started' ? [instantFromUnixNanos(Time)] : [])),
  ]);
  return times.length === 0 ? undefined : Math.min(...times);
}

interface StartedTask {
  readonly StartedAt: string | null;
  readonly Events: readonly { readonly Type: string; readonly Time: number }[] | null;
}

type StartedAllocation = { readonly TaskStates?: Readonly<Record<string, StartedTask>> | null };

const severity: readonly RunOutcome[] = ['failed', 'timed_out', 'lost', 'stopped', 'succeeded'];

/** The last allocation of each instance; undefined for an instance that never had one. */
function lastAllocations(job: EndedJob, allocations: readonly AllocationOfRun[]): (AllocationOfRun | undefined)[] {
  const everywhere = job.Type === 'system' || job.Type === 'sysbatch';
  const last = new Map<string, AllocationOfRun>();
  for (const allocation of allocations) {
    const slot = everywhere ? `${allocation.TaskGroup} ${allocation.NodeID}` : allocation.Name;
    const known = last.get(slot);
    if (known === undefined || known.CreateIndex < allocation.CreateIndex) last.set(slot, allocation);
  }
  if (everywhere) {
    const groups = new Set(job.TaskGroups.map(({ Name }) => Name));
    return [...last.values()].filter(({ TaskGroup }) => groups.has(TaskGroup));
  }
  return job.TaskGroups.flatMap((group) =>
    Array.from({ length: group.Count }, (_, index) => last.get(`${job.ID}.${group.Name}[${index}]`)),
  );
}

/**
 * A run of a batch job that has ended: of an instance of a parent, or of a job without one. It is kept when the job, its allocations and
 * evaluations are collected: the latest of each parent, and none longer than `keptFor`.
 */
export interface EndedRun {
  readonly namespace: string;
  /** The parent of the instance; the job itself without one. */
  readonly parentId: string;
  /** Counts the runs of the parent, from 1. */
  readonly number: number;
  readonly jobId: string;
  readonly version: number;
  readonly outcome: RunOutcome;
  /** When it was registered, dispatched or launched. */
  readonly createdAt: Instant;
  /** When its first task started; absent if none has. */
  readonly startedAt?: Instant;
  readonly endedAt: Instant;
  /** Why it did not succeed; absent if it did, or was stopped before anything failed. */
  readonly failure?: FailedTask;
  /** Index of the write in which it ended. */
  readonly index: number;
}

/** The task whose failure ended a run. */
export interface FailedTask {
  readonly allocationId: string;
  /** Absent when no task failed: the node was lost, for example. */
  readonly task?: string;
  /** Absent if it did not exit. */
  readonly exitCode?: number;
  readonly signal?: number;
  /** The line of its output that names an error, or what its node said; at most 300 characters. */
  readonly message: string;
}

export const endedRuns = table<EndedRun>('ended_runs', (run) => [run.namespace, run.parentId, run.number], {
  by_end: { version: 1, key: (run) => [run.index, run.namespace, run.jobId] },
  by_job: { version: 1, key: (run) => [run.namespace, run.jobId, run.number] },
});

/** The longest message of a failure. */
const longestMessage = 300;

/** The parent and the times of a run. */
export function runOf({ Namespace, ParentID, ID, Version, SubmitTime }: Job) {
  const parentId = ParentID === '' ? ID : ParentID;
  return { namespace: Namespace, parentId, jobId: ID, version: Version, createdAt: instantFromUnixNanos(SubmitTime) };
}

/** The first line of an output that names an error; otherwise the last line that is not empty. Undefined for an empty output. */
export function errorLine(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((each) => /error|exception|fatal|panic|traceback|failed/i.test(each)) ?? lines.at(-1);
  return line === undefined ? undefined : bounded(line.trim());
}

export function bounded(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message;
}
