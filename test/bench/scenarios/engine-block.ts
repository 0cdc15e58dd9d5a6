import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { commit } from '../../../src/operations/commit.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import type { Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';
import type { Measured } from './store-slices.js';
import { watchLoop } from './watch-loop.js';

const NODES = 5_000;
const LIVE = 10_000;
const ROUNDS = 2;

/** How long the engine keeps the event loop from other work while it brings a large job to another version. */
export async function run(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const sqlite = (await sqliteStorage(join(folder, 'block.db'), { durability: 'relaxed' }))._unsafeUnwrap();
  try {
    return [await blockOver('memory', memoryStorage()), await blockOver('SQLite', sqlite)];
  } finally {
    await sqlite.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function blockOver(store: string, storage: Storage): Promise<Measured> {
  const engine = createEngine({ storage, clock: systemClock(), ids: sequentialIds(), delivery: recordingDelivery() });
  await furnish(engine);
  engine.start();
  await settled(engine, 50);
  await runAll(engine);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const watch = watchLoop();
    await settled(engine, 50 + round);
    best = Math.min(best, await watch.end());
  }
  await engine.stop();
  const name = `engine: ${LIVE} allocations updated in place, the longest block (${store})`;
  return { name, ours: best, floor: Number.NaN, unit: 'ms', ratio: best, limit: {} };
}

async function furnish(engine: Engine): Promise<void> {
  for (let from = 0; from < NODES; from += 500) {
    const written = await commit(engine, hostPrincipal, (tx) => {
      for (let at = from; at < from + 500; at += 1) tx.put(nodes, nodeFrom(`n${at}`, { CreateIndex: at }));
      return ok(undefined);
    });
    written._unsafeUnwrap();
  }
}

/** Registers a version of the job that differs in its priority, and waits until the scheduler is done with it. */
async function settled(engine: Engine, Priority: number): Promise<void> {
  const TaskGroups = [groupDocument({ Count: LIVE, Update: { MaxParallel: LIVE } })];
  const job = { ID: 'large', Type: 'service', Priority, Datacenters: ['*'], TaskGroups };
  const { evalId } = (await registerJob(engine, hostPrincipal, { job: job as never }))._unsafeUnwrap();
  for (let after = 1; ; ) {
    const status = await engine.storage.read((view) => view.get(evaluations, [evalId])?.record.Status);
    if (status._unsafeUnwrap() === 'complete') return;
    after = await engine.storage.waitForChange([evaluations], after, new AbortController().signal);
  }
}

/** Every allocation runs. */
async function runAll(engine: Engine): Promise<void> {
  const written = await commit(engine, hostPrincipal, (tx) => {
    for (const { record } of tx.list(allocations)) tx.put(allocations, { ...record, ClientStatus: 'running' });
    return ok(undefined);
  });
  written._unsafeUnwrap();
}
