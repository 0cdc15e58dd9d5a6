import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations, isTerminalAllocation } from '../../scheduler/allocation.js';
import { withHealth } from '../../scheduler/deployment/actions.js';
import { type Deployment, deployments, isActiveDeployment } from '../../scheduler/deployment/deployment.js';
import { isMeasuredByChecks, type MeasuredHealth, measureHealth } from '../../scheduler/deployment/measure-health.js';
import { progressDeadlineOf } from '../../scheduler/deployment/transition-deployment.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../context/steps-in-turns.js';
import {
  followDeployments,
  moveDeployment,
  type WatchedHead,
  watchedHead,
} from '../records/deployments/move-deployment.js';
import { pagesOf } from '../records/pages.js';
import { putHeldEvaluation, releaseEvaluation } from '../records/scheduling/new-evaluation.js';
import { checkAtPace, type Seen } from '../waiting/until-change.js';
import type { Transaction } from '../write-transaction.js';

/**
 * Handles the changes of deployments that depend on time alone: allocations that have run long enough are healthy, those that have not by
 * their deadline are unhealthy, and a deployment without progress fails. Reports of nodes are handled in their own writes. What is due is
 * decided again in the write, in small parts, so any number of processes may run this loop.
 */
export const deploymentLoop: BackgroundLoop = {
  name: 'deployments',
  run: (context, signal) => checkAtPace(context, deployments, () => checkOnce(context, signal), signal),
};

/** Undefined after a store failure or an abort. */
async function checkOnce(context: EngineContext, signal: AbortSignal): Promise<Seen | undefined> {
  const seen = await checkInTurns(context, timesOf(context, readings(context)), signal);
  if (seen.isErr()) return failed(context, seen.error.message);
  if (seen.value === undefined) return undefined;
  const { health, late, ...rest } = seen.value;
  if (health.length + late.length === 0) return rest;
  const parts = parted(health);
  let held: HeldEvaluations = new Map();
  for (const [at, ids] of parts.entries()) {
    const part = { ids, held, last: at === parts.length - 1 };
    const written = await commit(context, hostPrincipal, (tx) => ok(writeHealth(context, tx, part)));
    if (written.isErr()) return failed(context, written.error.message);
    held = written.value.value;
    await context.turns.next();
    if (signal.aborted) return undefined;
  }
  if (late.length > 0) {
    const written = await commit(context, hostPrincipal, (tx) => ok(failLate(context, tx, late)));
    if (written.isErr()) return failed(context, written.error.message);
  }
  // The write, or a check that turned out not to be due any more, may be a reason to check again.
  return { ...rest, next: context.clock.now() };
}

/** The times of a check. */
interface Times {
  readonly now: Instant;
  allocation(record: Allocation): Allocation;
  deployment(record: Deployment): Deployment;
}

function timesOf({ presentTimes }: EngineContext, time: ReturnType<typeof readings>): Times {
  return {
    now: time.now,
    allocation: (record) => presentTimes.allocation(record, time),
    deployment: (record) => presentTimes.deployment(record, time),
  };
}

function readings({ clock }: EngineContext): { readonly now: Instant; readonly monotonic: Milliseconds } {
  return { now: clock.now(), monotonic: clock.monotonic() };
}

function parted(ids: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(ids.length / writtenAtOnce);
  return Array.from({ length: count }, (_, at) => ids.slice(at * writtenAtOnce, (at + 1) * writtenAtOnce));
}

/** The check of an active deployment: what is due by now. */
interface DeploymentCheck {
  readonly deployment: Deployment;
  /** IDs of allocations whose health is known by now. */
  readonly health: readonly string[];
  readonly deadline: Instant | undefined;
  /** When further health may become known. */
  readonly dueTimes: readonly Instant[];
}

/** Allocations examined in one step. */
const lookedAtOnce = 16;
/** Allocations of which the health is written at once. */
const writtenAtOnce = 16;

/**
 * The work that may be due and when, found without blocking other work. The write checks again whether it is due. Undefined when
 * the signal aborts.
 */
async function checkInTurns(
  context: EngineContext,
  times: Times,
  signal: AbortSignal,
): Promise<Result<(Due & { readonly index: number }) | undefined, StorageError>> {
  const begun = await context.storage.read((view) => ({
    index: view.index,
    watched: view.list(deployments, { index: 'active' }).flatMap(({ record }) => watchedHead(view, record) ?? []),
  }));
  if (begun.isErr()) return err(begun.error);
  const { index, watched } = begun.value;
  const work = steppedWork((current) => looksInSteps(current, watched, times));
  const checks = await stepsInTurns(context, work, signal);
  return checks.map((all) => all && { index, ...dueOf(all, times.now) });
}

function* looksInSteps(
  view: () => ReadView,
  watched: readonly WatchedHead[],
  times: Times,
): Generator<void, readonly DeploymentCheck[]> {
  const checks: DeploymentCheck[] = [];
  for (const head of watched) checks.push(yield* checkDeployment(view, head, times));
  return checks;
}

function* checkDeployment(view: () => ReadView, head: WatchedHead, times: Times): Generator<void, DeploymentCheck> {
  const measured: Measured[] = [];
  const healthy: Allocation[] = [];
  const { ID: id } = head.deployment;
  const keyOf = ({ ID }: Allocation) => [id, ID] as const;
  const query = { index: 'by_deployment', prefix: [id], size: lookedAtOnce, keyOf };
  for (const page of pagesOf(view, allocations, query)) {
    yield;
    for (const allocation of page) {
      measured.push(...unknownHealth(head, allocation, times));
      // Only healthy allocations count as progress of a deployment.
      if (allocation.DeploymentStatus?.Healthy === true) healthy.push(allocation);
    }
  }
  return checkOf({ ...head, deployment: times.deployment(head.deployment) }, measured, healthy);
}

function checkOf(
  { deployment }: WatchedHead,
  measured: readonly Measured[],
  own: readonly Allocation[],
): DeploymentCheck {
  return {
    deployment,
    health: measured.flatMap(({ allocation, healthy }) => (healthy === undefined ? [] : allocation.ID)),
    deadline: progressDeadlineOf({ deployment, allocations: own }),
    dueTimes: measured.flatMap(({ next }) => next ?? []),
  };
}

interface Measured extends MeasuredHealth {
  readonly allocation: Allocation;
}

/** Allocations whose health is unknown and is not measured by their nodes. */
function unknownHealth({ version }: WatchedHead, allocation: Allocation, times: Times): Measured[] {
  const known = allocation.DeploymentStatus?.Healthy ?? null;
  const group = version.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
  if (known !== null || isTerminalAllocation(allocation) || group === undefined) return [];
  return isMeasuredByChecks(group)
    ? []
    : [{ allocation, ...measureHealth(times.allocation(allocation), group, times.now) }];
}

/** The due work, and when there may be more. */
interface Due {
  readonly active: boolean;
  readonly next: Instant | undefined;
  /** Allocations of which the health is known by now. */
  readonly health: readonly string[];
  /** Deployments without progress. */
  readonly late: readonly string[];
}

function dueOf(checks: readonly DeploymentCheck[], now: Instant): Due {
  const dueTimes = checks.flatMap(({ deadline, dueTimes: waiting }) =>
    deadline === undefined ? waiting : [...waiting, deadline],
  );
  return {
    active: checks.length > 0,
    next: dueTimes.length === 0 ? undefined : Math.min(...dueTimes),
    health: checks.flatMap(({ health }) => health),
    late: checks.flatMap(({ deployment, deadline }) =>
      deadline !== undefined && deadline <= now ? deployment.ID : [],
    ),
  };
}

/** IDs of the evaluations that wait for the last part, by job key. */
type HeldEvaluations = ReadonlyMap<string, string>;

interface HealthPart {
  readonly ids: readonly string[];
  readonly held: HeldEvaluations;
  readonly last: boolean;
}

/** Writes the health of these allocations that is known now, with its consequences. */
function writeHealth(context: EngineContext, tx: Transaction, { ids, held, last }: HealthPart): HeldEvaluations {
  const times = timesOf(context, tx);
  const heads = new Map<string, WatchedHead | undefined>();
  const changes = ids.flatMap((id) => {
    const allocation = tx.get(allocations, [id])?.record;
    const deploymentId = allocation?.DeploymentID;
    if (allocation === undefined || deploymentId === undefined) return [];
    if (!heads.has(deploymentId)) heads.set(deploymentId, activeHead(tx, deploymentId));
    const head = heads.get(deploymentId);
    const [measured] = head === undefined ? [] : unknownHealth(head, allocation, times);
    if (measured?.healthy === undefined) return [];
    return { before: allocation, after: withHealth(allocation, measured.healthy, { now: tx.now, index: tx.index }) };
  });
  for (const { after } of changes) tx.put(allocations, after);
  return holdEvaluations(tx, followDeployments(tx, changes), { held, last });
}

/** The jobs are evaluated once, after the last part. */
function holdEvaluations(
  tx: Transaction,
  made: readonly Evaluation[],
  { held, last }: Pick<HealthPart, 'held' | 'last'>,
): HeldEvaluations {
  const after = new Map(held);
  for (const evaluation of made) {
    const key = JSON.stringify([evaluation.Namespace, evaluation.JobID]);
    if (last && !after.has(key)) continue;
    tx.remove(evaluations, [evaluation.ID]);
    const id = putHeldEvaluation(tx, { heldId: after.get(key), make: () => evaluation, unfinished: !last });
    if (id === undefined) after.delete(key);
    else after.set(key, id);
  }
  if (last) for (const id of after.values()) releaseEvaluation(tx, id);
  return after;
}

function activeHead(tx: Transaction, deploymentId: string): WatchedHead | undefined {
  const deployment = tx.get(deployments, [deploymentId])?.record;
  return deployment !== undefined && isActiveDeployment(deployment) ? watchedHead(tx, deployment) : undefined;
}

/** Fails deployments that are still without progress after the new health was written. */
function failLate(context: EngineContext, tx: Transaction, ids: readonly string[]): void {
  const times = timesOf(context, tx);
  for (const id of ids) {
    const now = tx.get(deployments, [id])?.record;
    // One that has ended in the meantime stays as it is.
    if (now !== undefined) moveDeployment(tx, times.deployment(now), { type: 'deadline' }).unwrapOr(undefined);
  }
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Checking the deployments failed');
}
