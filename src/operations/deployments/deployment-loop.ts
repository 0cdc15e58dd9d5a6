import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations, isTerminalAllocation } from '../../scheduler/allocation.js';
import { withHealth } from '../../scheduler/deployment/actions.js';
import { type Deployment, deployments } from '../../scheduler/deployment/deployment.js';
import { isMeasuredByChecks, type MeasuredHealth, measureHealth } from '../../scheduler/deployment/measure-health.js';
import { progressDeadlineOf } from '../../scheduler/deployment/transition-deployment.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import { type FollowedDeployments, followDeployments } from '../books/follow-deployments.js';
import { applyJobConsequences } from '../books/job-consequences.js';
import { moveDeployment, type WatchedHead, watchedDeployment, watchedHead } from '../books/move-deployment.js';
import { putAllocation } from '../books/put-allocation.js';
import { commit, type Transaction } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { changeOrMoment } from '../waiting/change-or-moment.js';

/** While deployments are under way they are looked at no more often than this, however busy the cluster is. */
const pause = second / 4;

/**
 * Does what passing time does to deployments: allocations that have run long enough are healthy, those that have not by their
 * deadline are unhealthy, and a deployment without progress fails. What nodes report moves a deployment in the same write. What is due
 * is decided again in the write, so any number of processes may watch.
 */
export const deploymentLoop: BackgroundLoop = {
  name: 'deployments',
  run: async (context, signal) => {
    while (!signal.aborted) {
      const seen = await judgeOnce(context);
      if (seen === undefined) {
        await context.clock.sleep(second, signal);
        continue;
      }
      const tables = seen.active ? [deployments, allocations] : [deployments];
      await changeOrMoment(context, { tables, index: seen.index, moment: seen.next }, signal);
      if (seen.active) await context.clock.sleep(pause, signal);
    }
  },
};

interface Seen {
  readonly index: number;
  readonly active: boolean;
  readonly next: Instant | undefined;
}

/** Undefined when the store failed. */
async function judgeOnce(context: EngineContext): Promise<Seen | undefined> {
  const seen = await lookInTurns(context, context.clock.now());
  if (seen.isErr()) return failed(context, seen.error.message);
  if (!seen.value.due) return seen.value;
  const written = await commit(context, hostPrincipal, (tx) => {
    judge(tx, look(tx, tx.now));
    return ok(undefined);
  });
  if (written.isErr()) return failed(context, written.error.message);
  // The write itself may be the reason to look again.
  return { index: written.value.index - 1, active: true, next: undefined };
}

/** A deployment that is under way, with what passing time says of it. */
interface Look {
  readonly deployment: Deployment;
  readonly health: readonly { readonly allocation: Allocation; readonly healthy: boolean }[];
  readonly deadline: Instant | undefined;
  /** When health may be known. */
  readonly moments: readonly Instant[];
}

/** Allocations that are looked at in one turn of the event loop. */
const lookedAtOnce = 64;

/** The work that may be due and when, found without blocking other work. The write checks again whether it is due. */
async function lookInTurns(
  context: EngineContext,
  now: Instant,
): Promise<Result<Seen & { due: boolean }, StorageError>> {
  const begun = await context.storage.read((view) => ({
    index: view.index,
    watched: view.list(deployments, { index: 'active' }).flatMap(({ record }) => watchedHead(view, record) ?? []),
  }));
  if (begun.isErr()) return err(begun.error);
  const { index, watched } = begun.value;
  const looks: Look[] = [];
  for (const head of watched) {
    const found = await lookAtOne(context, head, now);
    if (found.isErr()) return err(found.error);
    looks.push(found.value);
  }
  return ok({ index, ...summaryOf(looks, now) });
}

async function lookAtOne(context: EngineContext, head: WatchedHead, now: Instant): Promise<Result<Look, StorageError>> {
  const measured: Measured[] = [];
  const healthy: Allocation[] = [];
  const prefix = [head.deployment.ID];
  for (let from: Key = prefix; ; ) {
    const page = await context.storage.read((view) =>
      view.list(allocations, { index: 'by_deployment', prefix, from, limit: lookedAtOnce }).map(({ record }) => record),
    );
    if (page.isErr()) return err(page.error);
    for (const allocation of page.value) {
      measured.push(...unknownHealth(head, allocation, now));
      if (allocation.DeploymentStatus?.Healthy === true) healthy.push(allocation);
    }
    const last = page.value.at(-1);
    // Allocations that are not healthy do not count for what a deployment has reached.
    if (last === undefined || page.value.length < lookedAtOnce) return ok(lookOf(head, measured, healthy));
    from = [...prefix, `${last.ID}\u0000`];
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function look(view: ReadView, now: Instant): readonly Look[] {
  return view.list(deployments, { index: 'active' }).flatMap(({ record: deployment }) => {
    const watched = watchedDeployment(view, deployment);
    if (watched === undefined) return [];
    const measured = watched.allocations.flatMap((allocation) => unknownHealth(watched, allocation, now));
    return [lookOf(watched, measured, watched.allocations)];
  });
}

function lookOf({ deployment }: WatchedHead, measured: readonly Measured[], own: readonly Allocation[]): Look {
  return {
    deployment,
    health: measured.flatMap(({ allocation, healthy }) => (healthy === undefined ? [] : [{ allocation, healthy }])),
    deadline: progressDeadlineOf({ deployment, allocations: own }),
    moments: measured.flatMap(({ next }) => next ?? []),
  };
}

interface Measured extends MeasuredHealth {
  readonly allocation: Allocation;
}

/** Health that is not known yet, and that its node is not asked for. */
function unknownHealth({ version }: WatchedHead, allocation: Allocation, now: Instant): Measured[] {
  const known = allocation.DeploymentStatus?.Healthy ?? null;
  const group = version.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
  if (known !== null || isTerminalAllocation(allocation) || group === undefined) return [];
  return isMeasuredByChecks(group) ? [] : [{ allocation, ...measureHealth(allocation, group, now) }];
}

function summaryOf(looks: readonly Look[], now: Instant) {
  const moments = looks.flatMap(({ deadline, moments: waiting }) =>
    deadline === undefined ? waiting : [...waiting, deadline],
  );
  const due = looks.some(({ health, deadline }) => health.length > 0 || (deadline !== undefined && deadline <= now));
  return { active: looks.length > 0, due, next: moments.length === 0 ? undefined : Math.min(...moments) };
}

function judge(tx: Transaction, looks: readonly Look[]): void {
  const changes = looks.flatMap(({ health }) =>
    health.map(({ allocation, healthy }) => ({
      before: allocation,
      after: withHealth(allocation, healthy, { now: tx.now, index: tx.index }),
    })),
  );
  for (const { before, after } of changes) putAllocation(tx, before, after);
  const followed = followDeployments(tx, changes);
  const late = failLate(tx, looks);
  applyJobConsequences(tx, {
    evaluations: [...followed.evaluations, ...late.evaluations],
    allocations: [...changes, ...followed.allocations, ...late.allocations],
  });
}

/** Deployments that are still without progress, after the health that has just become known. */
function failLate(tx: Transaction, looks: readonly Look[]): FollowedDeployments {
  const late = looks.filter(({ deadline }) => deadline !== undefined && deadline <= tx.now);
  const moved = late.flatMap(({ deployment }) => {
    const now = tx.get(deployments, [deployment.ID])?.record;
    const after = now && moveDeployment(tx, now, { type: 'deadline' });
    return after?.isOk() ? [after.value] : [];
  });
  return {
    evaluations: moved.flatMap(({ evaluation }) => evaluation ?? []),
    allocations: moved.flatMap((one) => one.allocations),
  };
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Deployments could not be looked after');
}
