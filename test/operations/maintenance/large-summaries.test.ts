import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { type GroupSummary, jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { reconcileSummaries } from '../../../src/operations/maintenance/reconcile-summaries.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { second } from '../../../src/shared/duration.js';
import { countedLists } from '../../support/counted-lists.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { watchedWrites } from '../../support/watched-writes.js';
import { group } from '../jobs/world.js';

/* Counting the summaries of jobs that have more allocations than one turn of the event loop reads. */

const COUNT = 100;
const wrong = { Queued: 0, Complete: 7, Failed: 0, Running: 3, Starting: 9, Lost: 0, Unknown: 1 };
const right = { ...wrong, Running: COUNT, Starting: 0, Unknown: 0 };

interface Large {
  readonly storage: Storage;
  engineOver(storage: Storage): Engine;
  running(id: string): Promise<GroupSummary | undefined>;
}

/** Two jobs of which the summaries have gone wrong. */
async function large(): Promise<Large> {
  const [storage, clock] = [memoryStorage(), manualClock()];
  await using cluster = fakeCluster({ storage, clock });
  await cluster.addNode('n1', muchRoom);
  for (const ID of ['a', 'b']) {
    const TaskGroups = [group({ Count: COUNT, Update: { MaxParallel: 0 } })];
    const job = { ID, Type: 'service' as const, Datacenters: ['*'], TaskGroups };
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  }
  await clock.advance(10 * second);
  const spoilt = await storage.write((tx) => {
    for (const { record } of tx.list(jobSummaries)) tx.put(jobSummaries, { ...record, Summary: { g: wrong } });
    return ok(undefined);
  });
  spoilt._unsafeUnwrap();
  return {
    storage,
    engineOver: (over) =>
      createEngine({ storage: over, clock, ids: sequentialIds({ after: 1e6 }), delivery: recordingDelivery() }),
    running: async (id) =>
      (await storage.read((view) => view.get(jobSummaries, ['default', id])?.record.Summary['g']))._unsafeUnwrap(),
  };
}

it('is done in parts, and each summary is written by itself', async () => {
  const { storage, engineOver, running } = await large();
  const lists: number[] = [];
  const engine = engineOver(countedLists(storage, allocations, lists));
  const { index } = (await reconcileSummaries(engine, hostPrincipal))._unsafeUnwrap();
  expect(await running('a')).toEqual(right);
  expect(await running('b')).toEqual(right);
  expect(Math.max(...lists)).toBeLessThanOrEqual(16);
  expect(index).toBe((await storage.read((view) => view.tableIndex(jobSummaries)))._unsafeUnwrap());
  // There is nothing more to write.
  expect((await reconcileSummaries(engine, hostPrincipal))._unsafeUnwrap()).toEqual({ index });
});

it('has mended some when it is killed in between, and mends the others the next time', async () => {
  const { storage, engineOver, running } = await large();
  const watched = watchedWrites(storage);
  let writes = 0;
  watched.watch.each = () => {
    writes += 1;
    return writes < 2;
  };
  expect((await reconcileSummaries(engineOver(watched.storage), hostPrincipal)).isErr()).toBe(true);
  expect([await running('a'), await running('b')]).toEqual([right, wrong]);
  (await reconcileSummaries(engineOver(storage), hostPrincipal))._unsafeUnwrap();
  expect(await running('b')).toEqual(right);
});

it('counts what has changed between the count and the write', async () => {
  const { storage, engineOver, running } = await large();
  const own = await storage.read((view) => view.list(allocations, { index: 'by_job', prefix: ['default', 'b'] }));
  const [first] = own._unsafeUnwrap().map(({ record }) => record);
  let changed = false;
  const changing: Storage = {
    ...storage,
    write: (work) => {
      if (changed) return storage.write(work);
      changed = true;
      return storage
        .write((tx) => {
          const gone: Allocation = { ...(first as Allocation), ClientStatus: 'unknown', ModifyIndex: tx.index };
          tx.put(allocations, gone);
          return ok(undefined);
        })
        .andThen(() => storage.write(work));
    },
  };
  (await reconcileSummaries(engineOver(changing), hostPrincipal))._unsafeUnwrap();
  expect(await running('b')).toEqual({ ...right, Running: COUNT - 1, Unknown: 1 });
});
