import { errAsync, okAsync, type ResultAsync } from 'neverthrow';
import { allows, allowsArea, everyNamespace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import { type InvalidRequest, invalidRequest, type JobNotFound, jobNotFound } from '../../../jobs/errors.js';
import { jobs, namespaceOf } from '../../../jobs/job-record.js';
import { type PeriodicSchedule, timeZone } from '../../../jobs/periodic/decide-launch.js';
import { isLaunchedByClock, periodicLaunches } from '../../../jobs/periodic/periodic-launch.js';
import {
  type CronFinding,
  lintCron,
  periodicProblems,
  type UpcomingLaunch,
} from '../../../jobs/periodic/validate-periodic.js';
import { endedRuns } from '../../../jobs/runs/job-run.js';
import { jobSummaries } from '../../../jobs/status/job-summary.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import {
  explainInSteps,
  type GroupExplanation,
  type NodeExplanation,
  placementSentence,
  withoutNode,
} from '../../../scheduler/explain/explain-placement.js';
import type { Steps } from '../../../scheduler/steps.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { learnCluster } from '../../context/learn-cluster.js';
import { readInTurns } from '../../context/steps-in-turns.js';
import { readNodePool, readSchedulerConfiguration } from '../../records/declared-rows.js';
import { readShownJob } from '../../records/function-jobs.js';
import { currentAllocationsInSteps } from '../../records/jobs/job-allocations.js';
import { clusterAt } from '../../records/scheduling/known-cluster.js';
import { readInStep } from '../../records/scheduling/scheduling-snapshot.js';
import { type EndedRunView, shownRun } from './read-ended-runs.js';

/** Why allocations of one group wait, or where the next one would go. */
interface GroupPlacement {
  readonly group: string;
  /** Allocations that wait for room. */
  readonly waiting: number;
  /** What one more allocation would find, as a sentence. */
  readonly summary: string;
  /** The number of nodes that were examined, and of those that would take one more allocation. */
  readonly examined: number;
  readonly fitting: number;
  /** Nodes that would take it, best first, then those that are nearest to it; as many as requested. */
  readonly nodes: readonly NodeExplanation[];
}

/** The placement of a job: its groups, in the order of the job. */
export interface JobPlacement {
  readonly groups: readonly GroupPlacement[];
}

interface PlacementInput {
  readonly namespace?: string;
  readonly jobId: string;
  /** Nodes of each group; 1 to 100, default 10. */
  readonly nodes?: number;
}

/**
 * For each group of a job: the nodes, and what prevents each of them from taking one more allocation. A parent of instances is explained like
 * an instance. Callers without the right to read nodes get no names, IDs and attributes of nodes.
 */
export function explainJobPlacement(
  context: EngineContext,
  caller: Principal,
  { nodes = 10, ...input }: PlacementInput,
): ResultAsync<JobPlacement, JobNotFound | InvalidRequest | StorageError> {
  if (!(nodes >= 1 && nodes <= 100)) return errAsync(invalidRequest('nodes', 'nodes must be between 1 and 100'));
  const namespace = namespaceOf(input);
  const { jobId } = input;
  const named = allowsArea(caller, 'node', 'read');
  const steps = function* (current: () => ReadView): Steps<JobPlacement | undefined> {
    const job = readShownJob(current(), namespace, jobId)?.record;
    if (job === undefined) return undefined;
    const { cluster } = clusterAt(current(), context.cluster.known);
    const whose = { namespace, jobId, job };
    const own = yield* currentAllocationsInSteps(current, whose, cluster.nodeStates.length, readInStep);
    const groups = yield* explainInSteps(job, cluster, {
      allocations: own,
      configuration: readSchedulerConfiguration(current()),
      ...optionalPool(current(), job),
    });
    const queued = current().get(jobSummaries, [namespace, jobId])?.record.Summary ?? {};
    return { groups: groups.map((group) => shown(group, queued[group.group]?.Queued ?? 0, { nodes, named })) };
  };
  return learnCluster(context)
    .andThen(() => readInTurns(context, steps))
    .andThen((placement) => (placement === undefined ? errAsync(jobNotFound(namespace, jobId)) : okAsync(placement)));
}

function optionalPool(view: ReadView, { NodePool }: Job) {
  const pool = readNodePool(view, NodePool);
  return pool === undefined ? {} : { pool };
}

interface Shown {
  readonly nodes: number;
  /** Whether nodes are named. */
  readonly named: boolean;
}

function shown(explained: GroupExplanation, waiting: number, { nodes, named }: Shown): GroupPlacement {
  const { group, nearest } = explained;
  const listed = explained.nodes.slice(0, nodes);
  const hidden = { ...explained, nodes: listed.map(withoutNode), nearest: nearest && withoutNode(nearest) };
  return {
    group,
    waiting,
    summary: placementSentence(named ? explained : hidden),
    examined: explained.nodes.length,
    fitting: explained.nodes.filter(({ obstacles }) => obstacles.length === 0).length,
    nodes: named ? listed : hidden.nodes,
  };
}

type ListedLaunch = Omit<UpcomingLaunch, 'at'> & { readonly at: string };

/** The schedule of a periodic job. */
export interface JobSchedule {
  readonly namespace: string;
  readonly jobId: string;
  /** The cron expressions, and the zone that they are in. */
  readonly specs: readonly string[];
  readonly timeZone: string;
  /** Whether the clock launches the job: not if it is stopped or disabled. */
  readonly active: boolean;
  /** Whether a launch is left out while an earlier instance runs. */
  readonly prohibitsOverlap: boolean;
  /** The next launches: `at` as RFC 3339 in UTC, `wallTime` in the zone. */
  readonly launches: readonly ListedLaunch[];
  /** The latest runs that have ended, at most ten, the latest first. */
  readonly past: readonly EndedRunView[];
  /** What is surprising: launches that a change of clocks leaves out or repeats, expressions that are due together. */
  readonly findings: readonly CronFinding[];
}

interface LaunchesWanted {
  /** Launches of each job; 1 to 100, default 10. */
  readonly launches?: number;
}

/** The most jobs whose schedules one call computes. */
const mostSchedules = 1000;

/** The schedules of a namespace, the one that is due first first. */
export interface Schedules {
  readonly schedules: readonly JobSchedule[];
  /** Whether there are more than are listed. */
  readonly isCut: boolean;
}

interface SchedulesInput extends LaunchesWanted {
  readonly namespace?: string;
  /** Only this job, which may be stopped or disabled. */
  readonly jobId?: string;
}

/** The schedules of the jobs that the clock launches, in a namespace or in all (`*`) that the caller may read; or that of one job. */
export function listSchedules(
  context: EngineContext,
  caller: Principal,
  { launches = 10, jobId, ...input }: SchedulesInput,
): ResultAsync<Schedules, InvalidRequest | StorageError> {
  if (!isCount(launches)) return errAsync(badCount());
  const namespace = namespaceOf(input);
  const now = context.clock.now();
  const sees = (name: string): boolean =>
    namespace === everyNamespace ? allows(caller, name, ['read-job']) : name === namespace;
  return readInTurns(context, function* (current): Steps<Schedules> {
    const all = current().list(periodicLaunches, { index: 'by_due_time' });
    const due = all.filter(({ record }) => sees(record.Namespace)).map(({ record }) => [record.Namespace, record.ID]);
    const wanted = jobId === undefined ? due : [[namespace, jobId]];
    const schedules: JobSchedule[] = [];
    for (const key of wanted.slice(0, mostSchedules)) {
      yield;
      const job = current().get(jobs, key)?.record;
      const schedule = job === undefined ? undefined : scheduleOf(job, now, launches);
      const past = current().list(endedRuns, { prefix: key, reverse: true, limit: 10 }).map(shownRun);
      if (schedule !== undefined) schedules.push({ ...schedule, past });
    }
    return { schedules, isCut: wanted.length > mostSchedules };
  });
}

/** The launches and findings of expressions that are not registered. */
export function tryExpressions(
  context: EngineContext,
  _caller: Principal,
  { specs, timeZone: zone = '', launches = 10 }: TriedExpressions,
): ResultAsync<Pick<JobSchedule, 'launches' | 'findings'>, InvalidRequest> {
  if (!isCount(launches)) return errAsync(badCount());
  const periodic = { Spec: '', Specs: specs, SpecType: 'cron', TimeZone: zone };
  const [problem] = specs.length > 20 ? ['at most 20 cron expressions are tried at once'] : periodicProblems(periodic);
  if (problem !== undefined) return errAsync(invalidRequest('specs', problem));
  return okAsync(outlookOf(periodic, context.clock.now(), launches));
}

interface TriedExpressions extends LaunchesWanted {
  readonly specs: readonly string[];
  /** A name of the IANA database; UTC when empty. */
  readonly timeZone?: string;
}

function isCount(launches: number): boolean {
  return launches >= 1 && launches <= 100;
}

function badCount(): InvalidRequest {
  return invalidRequest('launches', 'launches must be between 1 and 100');
}

function outlookOf(
  periodic: PeriodicSchedule,
  now: Instant,
  count: number,
): Pick<JobSchedule, 'launches' | 'findings'> {
  const { launches, findings } = lintCron(periodic, now, count);
  return { launches: launches.map((launch) => ({ ...launch, at: isoFromInstant(launch.at) })), findings };
}

function scheduleOf(job: Job, now: Instant, count: number): Omit<JobSchedule, 'past'> | undefined {
  const { Periodic, Namespace: namespace, ID: jobId } = job;
  if (Periodic === null) return undefined;
  const { Spec, Specs, ProhibitOverlap: prohibitsOverlap } = Periodic;
  const active = isLaunchedByClock(job);
  const { launches, findings } = outlookOf(Periodic, now, count);
  return {
    ...{ namespace, jobId, active, prohibitsOverlap, findings },
    specs: [...(Spec === '' ? [] : [Spec]), ...(Specs ?? [])],
    timeZone: timeZone(Periodic.TimeZone)?.name ?? 'UTC',
    launches: active ? launches : [],
  };
}
