import { table } from '../../shared/table.js';
import { own } from '../../shared/values.js';
import type { Job, JobStatus, Multiregion } from '../document/job.js';
import { isParameterized, isPeriodic } from '../job-record.js';
import type { RunOutcome } from '../runs/job-run.js';

/** How many allocations of a group are in which state; `Complete`, `Failed` and `Lost` are totals over the job's life. */
export interface GroupSummary {
  /** Desired but not placed. */
  readonly Queued: number;
  /** A total over the job's life. */
  readonly Complete: number;
  /** A total over the job's life. */
  readonly Failed: number;
  /** Currently running. */
  readonly Running: number;
  /** Placed, but not yet started. */
  readonly Starting: number;
  /** A total over the job's life. */
  readonly Lost: number;
  /** On disconnected nodes. */
  readonly Unknown: number;
}

/** Numbers of instances of a periodic or parameterized job by status. All are 0 for other jobs. */
export interface ChildrenSummary {
  readonly Pending: number;
  readonly Running: number;
  readonly Dead: number;
}

/** The numbers of a job's allocations and instances, kept up to date by every write that changes one. */
export interface JobSummary {
  readonly JobID: string;
  readonly Namespace: string;
  /** By name of the group. */
  readonly Summary: Readonly<Record<string, GroupSummary>>;
  /** Counts of the instances of this job. */
  readonly Children: ChildrenSummary;
  /** The CreateIndex of the counted registration. */
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const jobSummaries = table<JobSummary>('job_summaries', (summary) => [summary.Namespace, summary.JobID]);

/*
 * Transitions of a summary's counters (job interface, Job summary). Each function returns the same object when no number
 * changed, so that an unchanged summary is not written. The writer sets ModifyIndex.
 */

const noAllocations: GroupSummary = {
  Queued: 0,
  Complete: 0,
  Failed: 0,
  Running: 0,
  Starting: 0,
  Lost: 0,
  Unknown: 0,
};

const noChildren: ChildrenSummary = { Pending: 0, Running: 0, Dead: 0 };

/** The members of an allocation that a summary counts. */
interface CountedAllocation {
  readonly TaskGroup: string;
  readonly ClientStatus: 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown';
}

/** The summary of a new job. */
export function newSummary(job: Job, index: number): JobSummary {
  const { ID: JobID, Namespace } = job;
  const Summary = Object.fromEntries(job.TaskGroups.map((group) => [group.Name, noAllocations]));
  return { JobID, Namespace, Summary, Children: noChildren, CreateIndex: index, ModifyIndex: index };
}

/** Adds the new groups of a version; removed groups are kept with their totals. */
export function withGroupsOf(summary: JobSummary, job: Job): JobSummary {
  const added = job.TaskGroups.filter((group) => !Object.hasOwn(summary.Summary, group.Name));
  if (added.length === 0) return summary;
  const groups = Object.fromEntries(added.map((group) => [group.Name, noAllocations]));
  return { ...summary, Summary: { ...summary.Summary, ...groups } };
}

/** Sets the queued counters that an evaluation reports. */
export function withQueued(summary: JobSummary, queued: Readonly<Record<string, number>>): JobSummary {
  const changed: [name: string, group: GroupSummary][] = [];
  for (const [name, Queued] of Object.entries(queued)) {
    const group = own(summary.Summary, name);
    if (group !== undefined && group.Queued !== Queued) changed.push([name, { ...group, Queued }]);
  }
  if (changed.length === 0) return summary;
  return { ...summary, Summary: { ...summary.Summary, ...Object.fromEntries(changed) } };
}

/** Counts a new allocation (`before` undefined) or the change of one's client status. */
export function withAllocation(
  summary: JobSummary,
  before: CountedAllocation['ClientStatus'] | undefined,
  after: CountedAllocation,
): JobSummary {
  if (before === after.ClientStatus) return summary;
  const group = own(summary.Summary, after.TaskGroup);
  if (group === undefined) return summary;
  const counted = { ...group };
  if (before === undefined && after.ClientStatus === 'pending') counted.Queued = oneLess(counted.Queued);
  const left = before === undefined ? undefined : leavingBins[before];
  if (left !== undefined) counted[left] = oneLess(counted[left]);
  counted[bins[after.ClientStatus]] += 1;
  return withGroup(summary, after.TaskGroup, counted);
}

/** Moves one child between the counters of its parent; undefined on the left is a new child. */
export function withChild(summary: JobSummary, before: JobStatus | undefined, after: JobStatus): JobSummary {
  if (before === after) return summary;
  const Children = { ...summary.Children };
  if (before !== undefined) Children[childBins[before]] = oneLess(Children[childBins[before]]);
  Children[childBins[after]] += 1;
  return { ...summary, Children };
}

const bins = {
  pending: 'Starting',
  running: 'Running',
  complete: 'Complete',
  failed: 'Failed',
  lost: 'Lost',
  unknown: 'Unknown',
} as const satisfies Record<CountedAllocation['ClientStatus'], keyof GroupSummary>;

/** Failed and complete are totals over the job's life, so they never decrease. */
const leavingBins = {
  pending: 'Starting',
  running: 'Running',
  complete: undefined,
  failed: undefined,
  lost: 'Lost',
  unknown: 'Unknown',
} as const satisfies Record<CountedAllocation['ClientStatus'], keyof GroupSummary | undefined>;

const childBins = { pending: 'Pending', running: 'Running', dead: 'Dead' } as const satisfies Record<
  JobStatus,
  keyof ChildrenSummary
>;

function withGroup(summary: JobSummary, name: string, group: GroupSummary): JobSummary {
  return { ...summary, Summary: { ...summary.Summary, [name]: group } };
}

function oneLess(count: number): number {
  return count > 0 ? count - 1 : 0;
}

/** A job as a list shows it (job interface, JobListStub). Members that `Job` has, too, are the same as there. */
export interface JobListStub {
  readonly ID: string;
  readonly ParentID: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Datacenters: readonly string[];
  readonly NodePool: string;
  readonly Multiregion: Multiregion | null;
  readonly Type: string;
  readonly Priority: number;
  /** Whether it is periodic. */
  readonly Periodic: boolean;
  /** False for an instance. */
  readonly ParameterizedJob: boolean;
  readonly Stop: boolean;
  readonly Status: string;
  readonly StatusDescription: string;
  /** The numbers of its allocations and instances. */
  readonly JobSummary: JobSummary;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly JobModifyIndex: number;
  /** When the current version was registered, in Unix nanoseconds. */
  readonly SubmitTime: number;
  /** Present only if requested and not empty. */
  readonly Meta?: Readonly<Record<string, string>>;
  /** How it ended; absent while it is not dead, for jobs that launch others, and where only Nomad's own members are shown. */
  readonly Outcome?: RunOutcome;
  /** Of a parent of instances, the latest one that has ended; `EndedAt` as RFC 3339. Not among Nomad's own members. */
  readonly LastRun?: { readonly ID: string; readonly Outcome: RunOutcome; readonly EndedAt: string };
  /** When the clock launches it next, RFC 3339. Not among Nomad's own members. */
  readonly NextLaunch?: string;
}

/** The members of a list entry that are not Nomad's. */
export type OwnStubMembers = Pick<JobListStub, 'Outcome' | 'LastRun' | 'NextLaunch'>;

/**
 * Every job as a list shows it, without its meta: a list relays the row's JSON and never reads a job's document. Written with
 * the job and its summary, ordered like jobs.
 */
export const jobStubs = table<JobListStub>('job_stubs', (stub) => [stub.Namespace, stub.ID]);

export function jobListStub(
  job: Job,
  summary: JobSummary | undefined,
  withMeta: boolean,
  own: OwnStubMembers = {},
): JobListStub {
  return {
    ID: job.ID,
    ParentID: job.ParentID,
    Name: job.Name,
    Namespace: job.Namespace,
    Datacenters: job.Datacenters,
    NodePool: job.NodePool,
    Multiregion: job.Multiregion,
    Type: job.Type,
    Priority: job.Priority,
    Periodic: isPeriodic(job),
    ParameterizedJob: isParameterized(job),
    Stop: job.Stop,
    Status: job.Status,
    StatusDescription: job.StatusDescription,
    JobSummary: summary ?? emptySummary(job),
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
    JobModifyIndex: job.JobModifyIndex,
    SubmitTime: job.SubmitTime,
    ...(withMeta && job.Meta !== null && Object.keys(job.Meta).length > 0 ? { Meta: job.Meta } : {}),
    ...own,
  };
}

/** A job as a filter sees it for callers who may list jobs but not read them: only the members that a list shows are set. */
export function jobAsListed(job: Job): Partial<Record<keyof Job, unknown>> {
  const { JobSummary: _, Periodic, ParameterizedJob, ...shown } = jobListStub(job, undefined, true);
  return { ...shown, Periodic: Periodic ? {} : null, ParameterizedJob: ParameterizedJob ? {} : null };
}

/** A stub always has a summary. */
function emptySummary(job: Job): JobSummary {
  return {
    JobID: job.ID,
    Namespace: job.Namespace,
    Summary: {},
    Children: { Pending: 0, Running: 0, Dead: 0 },
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
  };
}
