import { errAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs } from '../../../jobs/job-record.js';
import { namespaceOf } from '../../../jobs/job-reference.js';
import { type ScalingEvent, scalingEventOf, scalingEvents } from '../../../jobs/scaling/scaling-event.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import { authorise } from '../../authorise.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readJobRow } from '../../records/jobs/job-rows.js';
import { type LiveAllocation, type LiveIn, liveAllocations } from './live-allocations.js';
import { type JobQuery, queryKey, type Read, readQuery, rowsOfJob } from './read-query.js';

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
  caller: Principal,
  input: JobQuery,
): Read<JobScaleStatus | undefined> {
  const namespace = namespaceOf(input);
  const { jobId, waiting } = input;
  const anyOf = ['read-job', 'read-job-scaling'] as const;
  const allowed = authorise(caller, namespace, anyOf);
  if (allowed.isErr()) return errAsync(allowed.error);
  return liveAllocations(context, { namespace, jobId }).andThen((live) => {
    const query = {
      key: () => queryKey('job-scale-status', namespace, jobId),
      tables: [jobs, allocations, scalingEvents].map((table) => rowsOfJob(table, namespace, jobId)),
      run: (view: ReadView) => {
        const job = readJobRow(view, namespace, jobId)?.record;
        return job === undefined ? { index: view.index, value: undefined } : statusOf(view, job, live);
      },
    };
    return readQuery(context, caller, { namespace, anyOf, waiting }, query);
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
