import type { Job } from '../../../jobs/document/job.js';
import type { ReadView } from '../../../ports/storage.js';
import { type Allocation, allocations, isTerminalAllocation } from '../../../scheduler/allocation.js';
import type { Cluster } from '../../../scheduler/cluster/cluster.js';
import { type Deployment, deployments } from '../../../scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import { isOlder } from '../../../scheduler/reconcile/situation.js';
import type { SchedulingSnapshot } from '../../../scheduler/snapshot.js';
import { finish, type Steps } from '../../../scheduler/steps.js';
import type { Key } from '../../../shared/table.js';
import { readNodePool, readSchedulerConfiguration } from '../declared-rows.js';
import { currentAllocationsInSteps } from '../jobs/job-allocations.js';
import { readJobRow, readJobVersion } from '../jobs/job-rows.js';

/** The inputs of deciding an evaluation. `cluster` is that of the view; `stopwatch` as in the snapshot. */
export function readSchedulingSnapshot(
  view: ReadView,
  evaluation: Evaluation,
  cluster: Cluster,
  stopwatch?: () => number,
): SchedulingSnapshot {
  return finish(snapshotInSteps(() => view, evaluation, { cluster, stopwatch, index: view.index, page: everything }));
}

const everything = Number.POSITIVE_INFINITY;
/** Allocations read in one step of work in turns: about a millisecond. */
export const readInStep = 16;

/** The parameters of a snapshot. */
interface SnapshotParts extends Pick<SchedulingSnapshot, 'cluster' | 'stopwatch' | 'index'> {
  /** Allocations that are read in one step. */
  readonly page: number;
}

/** The same in steps, each from the then current view. The write of the decision checks for changes in between. */
export function* snapshotInSteps(
  view: () => ReadView,
  { Namespace, JobID, AnnotatePlan }: Pick<Evaluation, 'Namespace' | 'JobID' | 'AnnotatePlan'>,
  { cluster, stopwatch, index, page }: SnapshotParts,
): Steps<SchedulingSnapshot> {
  const job = readJobRow(view(), Namespace, JobID)?.record;
  const whose = { namespace: Namespace, jobId: JobID, job };
  const own = yield* currentAllocationsInSteps(view, whose, cluster.nodeStates.length, page);
  const ofJob = deploymentsOf(view(), [Namespace, JobID]);
  return {
    job,
    allocations: AnnotatePlan === true ? withFinished(view(), job, own) : own,
    versions: versionsOf(view(), job, [...own, ...ofJob]),
    deployments: ofJob,
    cluster,
    configuration: readSchedulerConfiguration(view()),
    pool: job === undefined ? undefined : readNodePool(view(), job.NodePool),
    readAllocation: (id) => view().get(allocations, [id])?.record,
    index,
    stopwatch,
  };
}

/** Work that a batch job completed in earlier versions has no effect on decisions; a plan counts it as unchanged. */
function withFinished(view: ReadView, job: Job | undefined, own: readonly Allocation[]): readonly Allocation[] {
  if (job?.Type !== 'batch') return own;
  const known = new Set(own.map(({ ID }) => ID));
  const finished = view
    .list(allocations, { index: 'by_job', prefix: [job.Namespace, job.ID], limit: countedAtMost })
    .map(({ record }) => record)
    .filter((one) => !known.has(one.ID) && isTerminalAllocation(one) && isOlder(one, job));
  return [...own, ...finished];
}

/** The most earlier allocations counted: a plan with them is decided alone, without other work. */
const countedAtMost = 10_000;

/** The newest and the active ones; earlier ones are not needed. */
function deploymentsOf(view: ReadView, key: Key): Deployment[] {
  const newest = view.list(deployments, { index: 'by_job', prefix: key, reverse: true, limit: newestDeployments });
  const active = view.list(deployments, { index: 'active', prefix: key });
  const found = new Map([...newest.reverse(), ...active].map(({ record }) => [record.ID, record]));
  return [...found.values()];
}

const newestDeployments = 8;

/** The job's stored versions that its allocations still run, or that a deployment has rolled out. */
function versionsOf(
  view: ReadView,
  job: Job | undefined,
  users: readonly { readonly JobVersion: number }[],
): Map<number, Job> {
  const versions = new Map<number, Job>();
  if (job === undefined) return versions;
  for (const { JobVersion: version } of users) {
    if (version === job.Version || versions.has(version)) continue;
    const row = readJobVersion(view, job.Namespace, job.ID, version);
    if (row !== undefined) versions.set(version, row.record);
  }
  return versions;
}
