import { ok, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import { commit } from '../../../../src/operations/commit.js';
import {
  listDeploymentAllocations,
  listEvaluationAllocations,
  listJobAllocations,
} from '../../../../src/operations/jobs/reading/read-allocations.js';
import { readJobScaleStatus } from '../../../../src/operations/jobs/reading/read-scale-status.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import type { Storage } from '../../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { minute, second } from '../../../../src/shared/duration.js';
import { countedLists } from '../../../support/counted-lists.js';
import { fakeCluster } from '../../../support/fake-agents.js';
import { muchRoom } from '../../../support/nodes.js';
import { group } from '../world.js';

/* Lists of the allocations of a job that has more than one turn of the event loop reads. */

const COUNT = 200;
/** Rows that one list of allocations may give. */
const FEW = 65;

interface Large {
  /** Has not been started. */
  readonly engine: Engine;
  readonly storage: Storage;
  /** Rows of each list of allocations. */
  readonly lists: number[];
  readonly own: readonly Allocation[];
  /** Called once, before the read after so many others. */
  interrupt(after: number, change: () => Promise<unknown>): void;
}

async function large(): Promise<Large> {
  const [storage, clock, lists] = [memoryStorage(), manualClock(), [] as number[]];
  await using cluster = fakeCluster({ storage, clock });
  await cluster.addNode('n1', muchRoom);
  const TaskGroups = [group({ Count: COUNT, Update: { MaxParallel: COUNT, HealthCheck: 'manual' } })];
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups };
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(10 * second);
  let reads = 0;
  let pending: { readonly after: number; readonly change: () => Promise<unknown> } | undefined;
  const counted = countedLists(storage, allocations, lists);
  const interrupted: Storage = {
    ...counted,
    read: (work) => {
      reads += 1;
      if (pending === undefined || reads <= pending.after) return counted.read(work);
      const { change } = pending;
      pending = undefined;
      return new ResultAsync(change().then(() => counted.read(work)));
    },
  };
  const ids = sequentialIds({ after: 1e6 });
  // Time goes on with each look at it, so that a turn has few steps.
  let looks = 0;
  const passing: ManualClock = { ...clock, monotonic: () => clock.monotonic() + looks++ / 2 };
  const engine = createEngine({ storage: interrupted, clock: passing, ids, delivery: recordingDelivery() });
  const own = (await storage.read((view) => view.list(allocations).map(({ record }) => record)))._unsafeUnwrap();
  expect(own).toHaveLength(COUNT);
  const interrupt = (after: number, change: () => Promise<unknown>): void => {
    reads = 0;
    pending = { after, change };
  };
  return { engine, storage, lists, own, interrupt };
}

const idsOf = (all: readonly { readonly ID: string }[]) => all.map(({ ID }) => ID);

describe('a long list of allocations', () => {
  it.each([
    ['a job', (engine: Engine) => listJobAllocations(engine, hostPrincipal, { jobId: 'web' })],
    [
      'a deployment',
      (engine: Engine, { DeploymentID: id = '' }: Allocation) =>
        listDeploymentAllocations(engine, hostPrincipal, { id }),
    ],
    [
      'an evaluation',
      (engine: Engine, { EvalID: id }: Allocation) => listEvaluationAllocations(engine, hostPrincipal, { id }),
    ],
  ])('of %s is read in parts, in the order of the IDs, with the index of the table', async (_, list) => {
    const { engine, storage, lists, own } = await large();
    const index = (await storage.read((view) => view.tableIndex(allocations)))._unsafeUnwrap();
    const answer = (await list(engine, own[0] as Allocation))._unsafeUnwrap();
    expect(idsOf(answer.value)).toEqual(idsOf(own).sort());
    expect(answer.index).toBe(index);
    expect(Math.max(...lists)).toBeLessThanOrEqual(FEW);
  });

  it('shows what has changed while it was read, with the index at its beginning', async () => {
    const { engine, storage, own, interrupt } = await large();
    const before = (await storage.read((view) => view.tableIndex(allocations)))._unsafeUnwrap();
    const first = own.toSorted((a, b) => (a.ID < b.ID ? -1 : 1))[0] as Allocation;
    interrupt(3, async () =>
      storage.write((tx) => {
        const { index: ModifyIndex } = tx;
        tx.put(allocations, { ...first, ClientStatus: 'failed', NextAllocation: '0', ModifyIndex });
        tx.put(allocations, { ...first, ID: '0', PreviousAllocation: first.ID, CreateIndex: ModifyIndex, ModifyIndex });
        return ok(undefined);
      }),
    );
    const answer = (await listJobAllocations(engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    expect(answer.index).toBe(before);
    expect(idsOf(answer.value)).toEqual(['0', ...idsOf(own).sort()]);
    expect(answer.value.find(({ ID }) => ID === first.ID)).toMatchObject({
      ClientStatus: 'failed',
      NextAllocation: '0',
    });
    const next = { jobId: 'web', waiting: { after: answer.index } };
    expect((await listJobAllocations(engine, hostPrincipal, next))._unsafeUnwrap().index).toBeGreaterThan(before);
  });

  it('that is waited for is read once for all who wait, in parts', async () => {
    const { engine, storage, lists, own } = await large();
    const after = (await storage.read((view) => view.tableIndex(allocations)))._unsafeUnwrap();
    const waiting = [1, 2, 3].map(() =>
      listJobAllocations(engine, hostPrincipal, { jobId: 'web', waiting: { after, wait: minute } }),
    );
    await storage.read(() => undefined);
    lists.length = 0;
    const [first] = own;
    await commit(engine, hostPrincipal, (tx) =>
      ok(tx.put(allocations, { ...(first as Allocation), ClientStatus: 'failed', ModifyIndex: tx.index })),
    );
    const answers = (await Promise.all(waiting)).map((answer) => answer._unsafeUnwrap());
    for (const { index, value } of answers) {
      expect(index).toBeGreaterThan(after);
      expect(value.filter(({ ClientStatus }) => ClientStatus === 'failed')).toHaveLength(1);
    }
    expect(new Set(answers).size).toBe(1);
    expect(Math.max(...lists)).toBeLessThanOrEqual(FEW);
    expect(lists.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(2 * COUNT);
  });

  it('that is waited for is answered as it is at the end of the wait', async () => {
    const { engine, storage, own } = await large();
    const after = (await storage.read((view) => view.tableIndex(allocations)))._unsafeUnwrap();
    const waiting = listJobAllocations(engine, hostPrincipal, { jobId: 'web', waiting: { after, wait: second } });
    await (engine.clock as ManualClock).advance(2 * second);
    const answer = (await waiting)._unsafeUnwrap();
    expect(answer.index).toBe(after);
    expect(answer.value).toHaveLength(own.length);
  });
});

describe('the scale status of a large job', () => {
  const status = async ({ engine }: Large, after = 0) =>
    (
      await readJobScaleStatus(engine, hostPrincipal, { jobId: 'web', waiting: { after, wait: minute } })
    )._unsafeUnwrap();
  const put = async ({ engine }: Large, ...changed: readonly Allocation[]) => {
    const written = await commit(engine, hostPrincipal, (tx) => {
      for (const each of changed) tx.put(allocations, { ...each, ModifyIndex: tx.index });
      return ok(tx.index);
    });
    return written._unsafeUnwrap().value;
  };

  it('is counted in parts', async () => {
    const world = await large();
    const newest = Math.max(...world.own.map(({ ModifyIndex }) => ModifyIndex));
    const { index, value } = await status(world);
    expect(value?.TaskGroups).toMatchObject({ g: { Desired: COUNT, Placed: COUNT, Running: COUNT, Healthy: 0 } });
    expect(index).toBeGreaterThanOrEqual(newest);
    expect(Math.max(...world.lists)).toBeLessThanOrEqual(FEW);
  });

  it('counts what has changed meanwhile as it is at the end', async () => {
    const world = await large();
    const [first, second1, third] = world.own.toSorted((a, b) => (a.ID < b.ID ? -1 : 1)) as Allocation[];
    const DeploymentStatus = { Healthy: true, Timestamp: null, Canary: false, ModifyIndex: 1 };
    let index = 0;
    world.interrupt(4, async () => {
      index = await put(
        world,
        { ...(first as Allocation), DesiredStatus: 'stop' },
        { ...(second1 as Allocation), DeploymentStatus },
        { ...(third as Allocation), ID: '0', ClientStatus: 'pending' },
      );
    });
    const answer = await status(world);
    expect(answer.index).toBe(index);
    expect(answer.value?.TaskGroups).toMatchObject({ g: { Placed: COUNT, Running: COUNT - 1, Healthy: 1 } });
  });

  it('is waited for by what has changed, not by all of them each time', async () => {
    const world = await large();
    const { index: after } = await status(world);
    const waiting = status(world, after);
    while (world.engine.parked.size === 0) await new Promise(setImmediate);
    world.lists.length = 0;
    const index = await put(world, { ...(world.own[0] as Allocation), DesiredStatus: 'stop' });
    // The index is that of the newest live one: the end of one is told with the next change.
    const next = await put(world, world.own[1] as Allocation);
    expect(next).toBeGreaterThan(index);
    const answer = await waiting;
    expect(answer.index).toBe(next);
    expect(answer.value?.TaskGroups).toMatchObject({ g: { Placed: COUNT - 1 } });
    expect(Math.max(...world.lists)).toBeLessThanOrEqual(2);
  });
});
