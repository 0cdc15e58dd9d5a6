import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { commit } from '../../../src/operations/commit.js';
import { planJob } from '../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import type { Transaction } from '../../../src/operations/write-transaction.js';
import type { Ids } from '../../../src/ports/ids.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';
import type { Measured } from './store-slices.js';
import { watchLoop } from './watch-loop.js';

const NODES = 500;
const MANY = 100_000;
const written = 1000;

/** What an engine costs that starts over 100,000 allocations and their evaluations, beside one that starts over one. */
export async function run(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  try {
    const fresh = await furnished(join(folder, 'fresh.db'), 0, 'running');
    const ended = await furnished(join(folder, 'ended.db'), MANY, 'complete');
    const live = await furnished(join(folder, 'live.db'), MANY, 'running');
    // The first start loads and compiles code.
    await startOver(fresh);
    const least = await startOver(fresh);
    const over = await startOver(live);
    return [
      ...rowsOf(`engine: start over ${MANY} ended allocations`, await startOver(ended), least, {
        time: 1.5,
        heap: 1.5,
      }),
      ...rowsOf(`engine: start over ${MANY} live allocations`, over, least, {}),
      row(`engine: start over ${MANY} live allocations, longest block`, over.block, Number.NaN, 'ms', undefined),
      row(`engine: plan over ${MANY} live allocations`, over.plan, least.plan, 'ms', 2),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(
  name: string,
  ours: Cost,
  least: Cost,
  limits: { readonly time?: number; readonly heap?: number },
): Measured[] {
  return [
    row(`${name}, to the first evaluation`, ours.milliseconds, least.milliseconds, 'ms', limits.time),
    row(`${name}, heap`, ours.megabytes, least.megabytes, 'MB', limits.heap),
  ];
}

function row(name: string, ours: number, floor: number, unit: string, max: number | undefined): Measured {
  const ratio = Number.isNaN(floor) ? ours : ours / floor;
  return { name, ours, floor, unit, ratio, limit: max === undefined ? {} : { max } };
}

interface Cost {
  readonly milliseconds: number;
  readonly megabytes: number;
  /** The longest turn of the event loop until the job was placed, in milliseconds of processor time. */
  readonly block: number;
  /** One plan of a new job afterwards, in milliseconds of processor time. */
  readonly plan: number;
}

/** Processor time until a new job is placed by an engine that has just started, and the heap then. */
async function startOver(path: string): Promise<Cost> {
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const before = process.cpuUsage();
  const storage = (await sqliteStorage(path, { durability: 'relaxed' }))._unsafeUnwrap();
  const engine = engineOver(storage, randomIds());
  const watch = watchLoop();
  engine.start();
  await placed(engine, `job-${process.hrtime.bigint()}`, 1);
  const { user, system } = process.cpuUsage(before);
  const block = await watch.end();
  const plan = await costOfPlan(engine);
  // What the evaluation has read is let go when its write has ended.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.();
  const megabytes = (process.memoryUsage().heapUsed - heap) / 2 ** 20;
  await engine.stop();
  await storage.close();
  return { milliseconds: (user + system) / 1000, megabytes, block, plan };
}

const plans = 20;

async function costOfPlan(engine: Engine): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 0; at < plans; at += 1) {
    const job = { ID: `planned-${at}`, Datacenters: ['*'], TaskGroups: [groupDocument({ Count: 1 })] };
    (await planJob(engine, hostPrincipal, { job: job as never }))._unsafeUnwrap();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / plans;
}

function engineOver(storage: Storage, ids: Ids): Engine {
  return createEngine({ storage, clock: systemClock(), ids, delivery: recordingDelivery() });
}

/** A store with one allocation that the scheduler has placed, and so many of another job in this state. */
async function furnished(path: string, count: number, ClientStatus: 'complete' | 'running'): Promise<string> {
  const storage = (await sqliteStorage(path, { durability: 'relaxed' }))._unsafeUnwrap();
  const engine = engineOver(storage, sequentialIds());
  await writeAll(engine, NODES, (tx, at) => tx.put(nodes, nodeFrom(`n${at}`, { CreateIndex: at })));
  engine.start();
  await placed(engine, 'first', 1);
  await engine.stop();
  const view = await storage.read((each) => [each.list(allocations, { limit: 1 })[0], each.list(evaluations)[0]]);
  const [pattern, asked] = view._unsafeUnwrap().map((row) => row?.record) as [Allocation, Evaluation];
  const DesiredStatus = ClientStatus === 'complete' ? 'stop' : 'run';
  await writeAll(engine, count, (tx, at) => {
    const stamps = { JobID: 'many', CreateIndex: tx.index, ModifyIndex: tx.index };
    const own = { ID: `a-${at}`, EvalID: `e-${at}`, NodeID: `n${at % NODES}`, DesiredStatus, ClientStatus } as const;
    tx.put(allocations, { ...pattern, ...stamps, ...own });
    tx.put(evaluations, { ...asked, ...stamps, ID: `e-${at}` });
  });
  await storage.close();
  return path;
}

async function writeAll(engine: Engine, count: number, put: (tx: Transaction, at: number) => void): Promise<void> {
  for (let from = 0; from < count; from += written) {
    const stored = await commit(engine, hostPrincipal, (tx) => {
      for (let at = from; at < Math.min(count, from + written); at += 1) put(tx, at);
      return ok(undefined);
    });
    stored._unsafeUnwrap();
  }
}

/** Registers a job and waits until the scheduler is done with it. */
async function placed(engine: Engine, ID: string, Count: number): Promise<void> {
  const TaskGroups = [groupDocument({ Count, Update: { MaxParallel: 0 } })];
  const registered = await registerJob(engine, hostPrincipal, { job: { ID, Datacenters: ['*'], TaskGroups } });
  const { evalId } = registered._unsafeUnwrap();
  for (let after = 1; ; ) {
    const status = await engine.storage.read((view) => view.get(evaluations, [evalId])?.record.Status);
    if (status._unsafeUnwrap() === 'complete') return;
    after = await engine.storage.waitForChange([evaluations], after, new AbortController().signal);
  }
}
