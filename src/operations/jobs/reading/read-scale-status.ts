import { ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs, namespaceOf } from '../../../jobs/job-record.js';
import { type ScalingEvent, scalingEventOf, scalingEvents } from '../../../jobs/scaling/scaling-records.js';
import { jobSummaries } from '../../../jobs/status/job-summary.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Allocation, allocations, isTerminalAllocation } from '../../../scheduler/allocation.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { EngineContext } from '../../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../../context/steps-in-turns.js';
import { readJobRow } from '../../records/jobs/job-rows.js';
import { pagesOf } from '../../records/pages.js';
import { answerQuery } from '../../waiting/blocking-query.js';
import { type JobQuery, queryKey, type Read, rowsOfJob } from './read-query.js';

/** The status of a group (job interface, scale status). */
export interface GroupScaleStatus {
  /** The group's count. */
  readonly Desired: number;
  /** Live allocations, without canaries. */
  readonly Placed: number;
  /** Running allocations among those. */
  readonly Running: number;
  /** Known only of allocations whose health a deployment watches. */
  readonly Healthy: number;
  /** Known only of allocations whose health a deployment watches. */
  readonly Unhealthy: number;
  /** Newest first; null when there are none. */
  readonly Events: readonly ScalingEvent[] | null;
}

/** The desired and the actual counts of a job's groups. */
export interface JobScaleStatus {
  readonly JobID: string;
  readonly Namespace: string;
  /** The job's CreateIndex. */
  readonly JobCreateIndex: number;
  /** The job's ModifyIndex. */
  readonly JobModifyIndex: number;
  /** Whether the job was stopped; its counts are kept. */
  readonly JobStopped: boolean;
  /** By name of the group. */
  readonly TaskGroups: Readonly<Record<string, GroupScaleStatus>>;
}

/** Counts and scaling events of each group; undefined, with the index of the whole store, when the job does not exist. */
export function readJobScaleStatus(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery,
): Read<JobScaleStatus | undefined> {
  const namespace = namespaceOf(input);
  const { jobId, waiting } = input;
  return liveAllocations(context, { namespace, jobId }).andThen((live) => {
    const query = {
      key: () => queryKey('job-scale-status', namespace, jobId),
      tables: [jobs, allocations, scalingEvents].map((table) => rowsOfJob(table, namespace, jobId)),
      run: (view: ReadView) => {
        const job = readJobRow(view, namespace, jobId)?.record;
        return job === undefined ? { index: view.index, value: undefined } : statusOf(view, job, live);
      },
    };
    return answerQuery(context, query, waiting);
  });
}

function statusOf(
  view: ReadView,
  job: Job,
  liveIn: LiveIn,
): { readonly index: number; readonly value: JobScaleStatus } {
  const prefix = [job.Namespace, job.ID];
  const live = liveIn(view)
    // Canaries are in addition to the count until they are promoted.
    .filter(
      ({ JobCreateIndex, DeploymentStatus }) => JobCreateIndex === job.CreateIndex && DeploymentStatus?.Canary !== true,
    );
  const events = view.list(scalingEvents, { prefix, reverse: true }).map((row) => row.record);
  const groups = job.TaskGroups.map(({ Name, Count }) => {
    const own = events.filter((event) => event.Group === Name).map(scalingEventOf);
    return [
      Name,
      groupStatus(
        Count,
        live.filter((allocation) => allocation.TaskGroup === Name),
        own,
      ),
    ] as const;
  });
  const index = [...live.map((each) => each.ModifyIndex), ...events.map((each) => each.CreateIndex)].reduce(
    (highest, each) => Math.max(highest, each),
    job.ModifyIndex,
  );
  return {
    index,
    value: {
      JobID: job.ID,
      Namespace: job.Namespace,
      JobCreateIndex: job.CreateIndex,
      JobModifyIndex: job.ModifyIndex,
      JobStopped: job.Stop,
      TaskGroups: Object.fromEntries(groups),
    },
  };
}

function groupStatus(
  desired: number,
  live: readonly LiveAllocation[],
  events: readonly ScalingEvent[],
): GroupScaleStatus {
  return {
    Desired: desired,
    Placed: live.length,
    Running: live.filter((allocation) => allocation.ClientStatus === 'running').length,
    Healthy: live.filter(({ DeploymentStatus }) => DeploymentStatus?.Healthy === true).length,
    Unhealthy: live.filter(({ DeploymentStatus }) => DeploymentStatus?.Healthy === false).length,
    Events: events.length === 0 ? null : events,
  };
}

/** The members of an allocation that callers use. */
type LiveAllocation = Pick<
  Allocation,
  'TaskGroup' | 'ClientStatus' | 'DeploymentStatus' | 'JobCreateIndex' | 'ModifyIndex'
>;

/** The live allocations of a job in a view. */
type LiveIn = (view: ReadView) => readonly LiveAllocation[];

interface WhoseLive {
  readonly namespace: string;
  readonly jobId: string;
}

/** The maximum number of live allocations read at once. */
const readAtOnce = 64;
/** Allocations examined in one step of a longer read. */
const readInStep = 16;

/**
 * The live allocations of a job, for queries that are rerun after each change. For a large job they are read in steps, between which the event
 * loop runs; later reads only apply the changes since.
 */
function liveAllocations(context: EngineContext, whose: WhoseLive): ResultAsync<LiveIn, StorageError> {
  return context.storage
    .read((view) => isLarge(view, whose))
    .andThen((large) =>
      large ? new ResultAsync(known(context, whose)) : ok((view: ReadView) => allLive(view, whose)),
    );
}

function isLarge(view: ReadView, { namespace, jobId }: WhoseLive): boolean {
  const groups = Object.values(view.get(jobSummaries, [namespace, jobId])?.record.Summary ?? {});
  return groups.reduce((sum, { Running, Starting, Unknown }) => sum + Running + Starting + Unknown, 0) > readAtOnce;
}

function allLive(view: ReadView, { namespace, jobId }: WhoseLive): readonly LiveAllocation[] {
  return view.list(allocations, { index: 'live_by_job', prefix: [namespace, jobId] }).map(({ record }) => record);
}

async function known(context: EngineContext, whose: WhoseLive): Promise<Result<LiveIn, StorageError>> {
  const work = steppedWork((view) => readInSteps(view, whose));
  const read = await stepsInTurns(context, work, new AbortController().signal);
  return read.map((found) => {
    if (found === undefined) throw new Error('the steps of reading the allocations have no result');
    return (view) => upToDate(view, found, whose);
  });
}

/** The live allocations as of the write `seen`. */
interface Known {
  readonly live: Map<string, LiveAllocation>;
  seen: number;
}

function* readInSteps(view: () => ReadView, { namespace, jobId }: WhoseLive): Steps<Known> {
  const known: Known = { live: new Map(), seen: view().index };
  const prefix = [namespace, jobId, 'open'];
  const keyOf = ({ ID }: Allocation): readonly [string, string, string, string] => [namespace, jobId, 'open', ID];
  for (const page of pagesOf(view, allocations, { index: 'current_by_job', prefix, size: readInStep, keyOf })) {
    for (const record of page) note(known, record);
    yield;
  }
  return known;
}

/** Applies the changes since the cached state; a view older than the cache is read completely. */
function upToDate(view: ReadView, known: Known, whose: WhoseLive): readonly LiveAllocation[] {
  if (view.index < known.seen) return allLive(view, whose);
  const changed = view.list(allocations, { index: 'by_modify', from: [known.seen + 1] });
  for (const { record } of changed) {
    if (record.Namespace === whose.namespace && record.JobID === whose.jobId) note(known, record);
  }
  known.seen = view.index;
  return [...known.live.values()];
}

function note({ live }: Known, record: Allocation): void {
  const { ID, TaskGroup, ClientStatus, DeploymentStatus, JobCreateIndex, ModifyIndex } = record;
  if (isTerminalAllocation(record)) live.delete(ID);
  else live.set(ID, { TaskGroup, ClientStatus, DeploymentStatus, JobCreateIndex, ModifyIndex } as LiveAllocation);
}
