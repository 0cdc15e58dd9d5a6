import { err, errAsync, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { allows, allowsArea, authorise } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import type { JobInput } from '../../../jobs/document/job-input.js';
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Allocation, isTerminalAllocation } from '../../../scheduler/allocation.js';
import type { Deployment } from '../../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import type { NodePool } from '../../../scheduler/node-pool.js';
import { simulateInSteps } from '../../../scheduler/simulate/simulate.js';
import type {
  SimulatedCluster,
  SimulatedEvent,
  Simulation,
  TimelineEntry,
} from '../../../scheduler/simulate/simulation.js';
import type { Steps } from '../../../scheduler/steps.js';
import { day, hour, type Milliseconds, minute } from '../../../shared/duration.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { quoted, stated } from '../../../shared/values.js';
import type { EngineContext } from '../../context/engine-context.js';
import { learnCluster } from '../../context/learn-cluster.js';
import { readInTurns, steppedWork, stepsInTurns } from '../../context/steps-in-turns.js';
import { readSchedulerConfiguration } from '../../records/declared-rows.js';
import { clusterAt } from '../../records/scheduling/known-cluster.js';
import { readInStep, snapshotInSteps } from '../../records/scheduling/scheduling-snapshot.js';
import { type PlanJobError, planJob } from './plan-job.js';
import { readAdmitted } from './register-job.js';

/** What is simulated: at least one of a registration, a drain and a failure of a node. */
interface SimulateJobInput {
  readonly namespace?: string;
  readonly region?: string;
  /** Registers this job. */
  readonly job?: JobInput;
  /** Drains this node, within an hour. */
  readonly drainNode?: string;
  /** This node is lost. */
  readonly downNode?: string;
  /** Milliseconds: at most a day, an hour by default. */
  readonly duration?: Milliseconds;
  /** How long an allocation of a batch job runs, in milliseconds: a minute by default. */
  readonly workFor?: Milliseconds;
  readonly fromWire?: boolean;
}

/** One line of the timeline of a simulation; `at` is RFC 3339. */
interface SimulatedLine extends Pick<TimelineEntry, 'kind' | 'namespace' | 'jobId' | 'subject' | 'text'> {
  readonly at: string;
}

/** What would happen. Times are RFC 3339. */
export interface JobSimulation {
  readonly from: string;
  readonly until: string;
  /** `until`, or where the simulation was cut because it takes too long. */
  readonly playedUntil: string;
  /** The first 1,000 lines about what the caller may see. */
  readonly timeline: readonly SimulatedLine[];
  /** Whether lines are left out, or the simulation was cut. */
  readonly isCut: boolean;
  /** The jobs of these lines at the end: their allocations that run and that start, and whether they wait for room. */
  readonly jobs: readonly SimulatedJob[];
}

interface SimulatedJob {
  readonly namespace: string;
  readonly jobId: string;
  readonly running: number;
  readonly starting: number;
  readonly isWaiting: boolean;
}

/** The largest cluster that is simulated: no step of it takes much longer than a few milliseconds. */
const largest = { nodes: 500, jobs: 500, allocations: 2000, evaluations: 200 };
/** How much one simulation does: a few seconds of the processor, in turns of the event loop. */
const most = { times: 10_000, records: 5_000_000, lines: 10_000 };
const mostLines = 1000;
/** Simulations that wait for the one under way. */
const mostWaiting = 16;

/**
 * Plays the cluster from its present state on virtual time: how the scheduler, deployments and drains react. Nothing is stored. Callers see the
 * job that they simulate, other jobs that they may read, and names of nodes if they may read nodes.
 */
export function simulateJob(
  context: EngineContext,
  caller: Principal,
  input: SimulateJobInput,
): ResultAsync<JobSimulation, PlanJobError> {
  const { drainNode, downNode, duration = hour, workFor = minute } = input;
  const isNodeNamed = drainNode !== undefined || downNode !== undefined;
  if (isNodeNamed && !allowsArea(caller, 'node', 'read')) return errAsync({ type: 'permission_denied' });
  const allowed = input.job === undefined ? authorise(caller, namespaceOf(input), ['submit-job', 'plan-job']) : ok();
  if (allowed.isErr()) return errAsync(allowed.error);
  if (input.job === undefined && !isNodeNamed)
    return errAsync(invalidRequest('Job', 'name what is simulated: Job, drainNode or downNode'));
  if (!(duration >= 1 && duration <= day))
    return errAsync(invalidRequest('duration', 'duration must be more than nothing and at most a day'));
  if (!(workFor >= 1 && workFor <= day))
    return errAsync(invalidRequest('workFor', 'workFor must be more than nothing and at most a day'));
  return checkedJob(context, caller, input).andThen((job) => {
    const work = () => simulated(context, { job, drainNode, downNode, duration, workFor });
    return new ResultAsync(oneAtATime(context, work)).map((played) => shown(played, caller, job));
  });
}

/** The job as it would be registered. Its plan refuses what a registration would refuse. */
function checkedJob(
  context: EngineContext,
  caller: Principal,
  { job, ...rest }: SimulateJobInput,
): ResultAsync<Job | undefined, PlanJobError> {
  if (job === undefined) return okAsync(undefined);
  const request = { job, ...stated({ namespace: rest.namespace, region: rest.region, fromWire: rest.fromWire }) };
  return planJob(context, caller, request).andThen(() =>
    readAdmitted(context, caller, request).map((admitted) => admitted.job),
  );
}

/** Those under way and waiting, by engine. */
const queues = new WeakMap<EngineContext, { last: Promise<unknown>; waiting: number }>();

/** Each takes seconds of the processor in the worst case: one at a time leaves the rest of it to others. */
async function oneAtATime<T>(
  context: EngineContext,
  work: () => Promise<Result<T, InvalidRequest | StorageError>>,
): Promise<Result<T, InvalidRequest | StorageError>> {
  const queue = queues.get(context) ?? { last: Promise.resolve(), waiting: 0 };
  queues.set(context, queue);
  if (queue.waiting > mostWaiting)
    return err(invalidRequest('Job', 'too many simulations wait for their turn: try again later'));
  queue.waiting += 1;
  const own = queue.last.then(work);
  queue.last = own.catch(() => undefined);
  try {
    return await own;
  } finally {
    queue.waiting -= 1;
  }
}

interface Scenario {
  readonly job: Job | undefined;
  readonly drainNode: string | undefined;
  readonly downNode: string | undefined;
  readonly duration: Milliseconds;
  readonly workFor: Milliseconds;
}

/** A simulation, and its beginning and end. */
interface Played {
  readonly simulation: Simulation;
  readonly from: Instant;
  readonly until: Instant;
}

async function simulated(
  context: EngineContext,
  scenario: Scenario,
): Promise<Result<Played, InvalidRequest | StorageError>> {
  const now = context.clock.now();
  const read = await learnCluster(context).andThen(() =>
    readInTurns(context, (current) => presentCluster(context, current, scenario.job)),
  );
  if (read.isErr()) return err(read.error);
  if (typeof read.value === 'string') return err(invalidRequest('Job', read.value));
  const start = { ...read.value, now, agents: { workFor: scenario.workFor } };
  const events = eventsOf(scenario, start, now);
  if (events.isErr()) return err(events.error);
  const until = now + scenario.duration;
  const work = steppedWork(() => simulateInSteps(start, events.value, until, most));
  const simulation = await stepsInTurns(context, work, neverAborted);
  if (simulation.isErr()) return err(simulation.error);
  return simulation.value === undefined
    ? err(invalidRequest('Job', 'the simulation was aborted'))
    : ok({ simulation: simulation.value, from: now, until });
}

const neverAborted = new AbortController().signal;

function eventsOf(
  { job, drainNode, downNode }: Scenario,
  { nodes }: Pick<SimulatedCluster, 'nodes'>,
  at: Instant,
): Result<readonly SimulatedEvent[], InvalidRequest> {
  const events: SimulatedEvent[] = job === undefined ? [] : [{ at, do: 'register', job }];
  for (const [field, nodeId] of Object.entries({ drainNode, downNode })) {
    if (nodeId === undefined) continue;
    if (!nodes.some(({ ID }) => ID === nodeId)) return err(invalidRequest(field, `there is no node ${quoted(nodeId)}`));
    events.push(
      field === 'drainNode'
        ? { at, do: 'drain', nodeId, deadline: hour }
        : { at, do: 'status', nodeId, status: 'down' },
    );
  }
  return ok(events);
}

/** What decisions depend on now; or why it is too much. A write between two steps may be seen in part. */
function* presentCluster(
  context: EngineContext,
  current: () => ReadView,
  job: Job | undefined,
): Steps<Omit<SimulatedCluster, 'now' | 'agents'> | string> {
  const { cluster } = clusterAt(current(), context.cluster.known);
  const nodes = cluster.nodeStates.map(({ node }) => node);
  const waiting = current()
    .list(evaluations, { index: 'open_by_job', limit: largest.evaluations + 1 })
    .map(({ record }) => record);
  const whose = new Map<string, Pick<Evaluation, 'Namespace' | 'JobID'>>();
  for (const { namespace, jobId } of cluster.nodeStates.flatMap(({ uses }) => uses))
    whose.set(`${namespace}/${jobId}`, { Namespace: namespace, JobID: jobId });
  for (const { Namespace, JobID } of waiting) whose.set(`${Namespace}/${JobID}`, { Namespace, JobID });
  if (job !== undefined) whose.set(`${job.Namespace}/${job.ID}`, { Namespace: job.Namespace, JobID: job.ID });
  const sizes = { nodes: nodes.length, jobs: whose.size, evaluations: waiting.length, allocations: 0 };
  const found: { readonly jobs: Job[]; readonly allocations: Allocation[]; readonly deployments: Deployment[] } = {
    ...{ jobs: [], allocations: [], deployments: [] },
  };
  const pools = new Map<string, NodePool>();
  for (const each of whose.values()) {
    yield;
    if (tooLarge(sizes) !== undefined) break;
    const snapshot = yield* snapshotInSteps(current, each, { cluster, index: current().index, page: readInStep });
    found.jobs.push(...snapshot.versions.values(), ...(snapshot.job === undefined ? [] : [snapshot.job]));
    found.allocations.push(...snapshot.allocations);
    found.deployments.push(...snapshot.deployments);
    sizes.allocations = found.allocations.length;
    if (snapshot.pool !== undefined) pools.set(snapshot.pool.Name, snapshot.pool);
  }
  const configuration = readSchedulerConfiguration(current());
  const rest = { evaluations: waiting, pools: [...pools.values()], configuration };
  return tooLarge(sizes) ?? { nodes, ...found, ...rest };
}

function tooLarge(sizes: typeof largest): string | undefined {
  const parts = [
    sizes.nodes > largest.nodes ? [`${largest.nodes} nodes`] : [],
    sizes.jobs > largest.jobs ? [`${largest.jobs} jobs with allocations or waiting evaluations`] : [],
    sizes.allocations > largest.allocations ? [`${largest.allocations} allocations`] : [],
    sizes.evaluations > largest.evaluations ? [`${largest.evaluations} waiting evaluations`] : [],
  ].flat();
  return parts.length === 0 ? undefined : `the cluster is too large to be simulated: at most ${parts.join(' and ')}`;
}

/** What the caller may see of it. */
function shown({ simulation, from, until }: Played, caller: Principal, own: Job | undefined): JobSimulation {
  const named = allowsArea(caller, 'node', 'read');
  const readable = new Map<string, boolean>();
  const sees = ({ namespace, jobId }: Pick<TimelineEntry, 'namespace' | 'jobId'>): boolean => {
    if (namespace === undefined) return named;
    if (namespace === own?.Namespace && jobId === own.ID) return true;
    const isReadable = readable.get(namespace) ?? allows(caller, namespace, ['read-job']);
    readable.set(namespace, isReadable);
    return isReadable;
  };
  const lines = simulation.timeline.filter(sees);
  const listed = lines.slice(0, mostLines);
  return {
    from: isoFromInstant(from),
    until: isoFromInstant(until),
    playedUntil: isoFromInstant(simulation.playedUntil),
    timeline: listed.map((line) => lineOf(line, named)),
    isCut: lines.length > mostLines || simulation.playedUntil < until,
    jobs: jobsOf(listed, simulation),
  };
}

function lineOf({ at, node, text, ...line }: TimelineEntry, named: boolean): SimulatedLine {
  const ending = node === undefined || named ? '' : ` on ${node}`;
  return { at: isoFromInstant(at), ...line, text: text.slice(0, text.length - ending.length) };
}

function jobsOf(lines: readonly TimelineEntry[], { allocations, evaluations: all }: Simulation): JobSimulation['jobs'] {
  const found = new Map<string, { -readonly [K in keyof SimulatedJob]: SimulatedJob[K] }>();
  for (const { namespace, jobId } of lines) {
    if (namespace === undefined || jobId === undefined) continue;
    found.set(`${namespace}/${jobId}`, { namespace, jobId, running: 0, starting: 0, isWaiting: false });
  }
  for (const allocation of allocations) {
    const job = found.get(`${allocation.Namespace}/${allocation.JobID}`);
    if (job === undefined || isTerminalAllocation(allocation)) continue;
    if (allocation.ClientStatus === 'running') job.running += 1;
    else job.starting += 1;
  }
  for (const { Namespace, JobID, Status } of all) {
    const job = found.get(`${Namespace}/${JobID}`);
    if (job !== undefined && Status === 'blocked') job.isWaiting = true;
  }
  return [...found.values()];
}
