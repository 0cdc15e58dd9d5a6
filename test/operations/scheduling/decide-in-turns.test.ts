import { ok } from 'neverthrow';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { commit } from '../../../src/operations/commit.js';
import { learnCluster } from '../../../src/operations/context/learn-cluster.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { newEvaluation } from '../../../src/operations/records/scheduling/new-evaluation.js';
import { evaluationLoop } from '../../../src/operations/scheduling/evaluation-loop.js';
import {
  beginEvaluation,
  type DecidedPlan,
  processEvaluation,
  writeDecided,
} from '../../../src/operations/scheduling/process-evaluation.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import type { Transaction } from '../../../src/operations/write-transaction.js';
import type { ReadView, Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { deployments } from '../../../src/scheduler/deployment/deployment.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { schedulerConfigurations } from '../../../src/scheduler/scheduler-configuration.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

let engine: Engine;
beforeEach(() => {
  const ports = { storage: memoryStorage(), clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery() };
  engine = createEngine(ports);
});
afterEach(() => engine.stop());

async function write<T>(work: (tx: Transaction) => T): Promise<T> {
  return (await commit(engine, hostPrincipal, (tx) => ok(work(tx))))._unsafeUnwrap().value;
}

async function register(ID: string, document: Record<string, unknown> = {}, at: Engine = engine): Promise<string> {
  const TaskGroups = [groupDocument({ Count: 2, Update: { MaxParallel: 1 } })];
  const job = { ID, Datacenters: ['*'], TaskGroups, ...document };
  return (await registerJob(at, hostPrincipal, { job }))._unsafeUnwrap().evalId;
}

const pendingOf = (view: ReadView, job: string) =>
  view.list(evaluations, { index: 'open_by_job', prefix: ['default', job] })[0]!.record;
const ofJob = (view: ReadView, job: string): Allocation[] =>
  view.list(allocations, { index: 'by_job', prefix: ['default', job] }).map(({ record }) => record);

/** Two jobs on two nodes: `other` runs, and the second version of `web` is decided and not yet written. */
async function decided(): Promise<DecidedPlan> {
  for (const id of ['n1', 'n2']) (await registerNode(engine, hostPrincipal, nodeFrom(id)))._unsafeUnwrap();
  for (const job of ['other', 'web']) {
    await register(job);
    await write((tx) => processEvaluation(tx, pendingOf(tx, job)));
  }
  await register('web', { Priority: 60, TaskGroups: [groupDocument({ Count: 4, Update: { MaxParallel: 4 } })] });
  const begun = await write((tx) => beginEvaluation(tx, pendingOf(tx, 'web'), { known: undefined, atMost: 0 }));
  if (begun.type === 'processed') throw new Error('the evaluation was to be begun only');
  return write((tx) => {
    for (;;) {
      const step = begun.next(tx);
      if (step.done === true) return step.value;
    }
  });
}

const first = (view: ReadView, job: string): Allocation => ofJob(view, job)[0]!;

it.each<[string, (tx: Transaction) => unknown]>([
  ['the job has another version', () => register('web', { Priority: 70 })],
  ['an allocation of the job was reported', (tx) => changed(tx, first(tx, 'web'), { ClientStatus: 'running' })],
  ['the deployment was changed', (tx) => changedDeployment(tx)],
  ['a node has changed', (tx) => tx.put(nodes, { ...tx.list(nodes)[0]!.record, SchedulingEligibility: 'ineligible' })],
  [
    'the settings have changed',
    (tx) => tx.put(schedulerConfigurations, tx.list(schedulerConfigurations)[0]?.record ?? ({ name: 'x' } as never)),
  ],
  ['another job has taken room there', (tx) => changed(tx, undefined, { ...first(tx, 'other'), ID: 'taken' })],
  ['the evaluation was worked on elsewhere', (tx) => processEvaluation(tx, pendingOf(tx, 'web'))],
  [
    'nothing but the evaluation has changed',
    (tx) => tx.put(evaluations, { ...pendingOf(tx, 'web'), Status: 'canceled' }),
  ],
  ['the evaluation is gone', (tx) => tx.remove(evaluations, [pendingOf(tx, 'web').ID])],
])('refuses a plan when %s', async (_why, change) => {
  const plan = await decided();
  await inOneWrite(change);
  const before = await write((tx) =>
    JSON.stringify([ofJob(tx, 'web'), tx.list(evaluations).map(({ record }) => record)]),
  );
  expect(await write((tx) => writeDecided(tx, plan))).toBeUndefined();
  const after = await write((tx) =>
    JSON.stringify([ofJob(tx, 'web'), tx.list(evaluations).map(({ record }) => record)]),
  );
  expect(after).toBe(before);
});

it.each<[string, (tx: Transaction) => unknown]>([
  ['nothing has changed', () => undefined],
  ['another job is registered', () => register('third')],
  ['an allocation of another job was reported', (tx) => changed(tx, first(tx, 'other'), { ClientStatus: 'running' })],
  ['an allocation of another job has ended', (tx) => changed(tx, first(tx, 'other'), { ClientStatus: 'complete' })],
])('writes a plan when %s, with the indexes of its write', async (_why, change) => {
  const plan = await decided();
  await inOneWrite(change);
  const index = await write((tx) => (writeDecided(tx, plan) === undefined ? 0 : tx.index));
  const written = await write((tx) => ofJob(tx, 'web'));
  expect(
    written.map(({ ModifyIndex, AllocModifyIndex, JobVersion }) => [ModifyIndex, AllocModifyIndex, JobVersion]),
  ).toEqual(Array.from({ length: 4 }, () => [index, index, 1]));
  expect(written.filter(({ CreateIndex }) => CreateIndex === index)).toHaveLength(2);
  const ended = await write((tx) => tx.get(evaluations, [plan.basis.evaluation.ID])?.record);
  expect(ended).toMatchObject({ Status: 'complete', ModifyIndex: index, SnapshotIndex: index });
  const made = await write(
    (tx) => tx.list(deployments, { index: 'by_job', prefix: ['default', 'web'] }).at(-1)?.record,
  );
  expect(made).toMatchObject({ CreateIndex: index, ModifyIndex: index, JobVersion: 1 });
});

it('leaves evaluations alone that were made while it decided', async () => {
  const plan = await decided();
  const later = await write((tx) => {
    const evaluation = newEvaluation(tx, plan.basis.snapshot.job!, { triggeredBy: 'alloc-failure' });
    tx.put(evaluations, evaluation);
    return evaluation.ID;
  });
  await write((tx) => writeDecided(tx, plan));
  expect(await write((tx) => tx.get(evaluations, [later])?.record.Status)).toBe('pending');
});

it('decides in its write once two plans have come to nothing', async () => {
  let disturbed = 0;
  const storage = memoryStorage();
  const clock = manualClock();
  // Only a plan that is decided in turns reads here: each time a node changes.
  const read: Storage['read'] = (work) => {
    disturbed += 1;
    void storage.write((tx) => ok(tx.put(nodes, { ...tx.list(nodes)[0]!.record, StatusUpdatedAt: disturbed })));
    return storage.read(work);
  };
  const ports = { storage: { ...storage, read }, clock, ids: sequentialIds(), delivery: recordingDelivery() };
  const disturbing = createEngine(ports, { scheduling: { decidedAtOnce: 0 } });
  (await registerNode(disturbing, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  await register('web', {}, disturbing);
  (await learnCluster(disturbing))._unsafeUnwrap();
  const before = disturbed;
  const ended = new AbortController();
  const loop = evaluationLoop.run(disturbing, ended.signal);
  await clock.settle();
  ended.abort();
  await loop;
  const stored = await storage.read((view) => [
    view.list(allocations).length,
    ...view.list(evaluations).map(({ record }) => record.Status),
  ]);
  expect(stored._unsafeUnwrap()).toEqual([2, 'complete']);
  expect(disturbed - before).toBe(2);
});

it('leaves the evaluation pending when it is stopped meanwhile, and the next engine takes it up', async () => {
  const storage = memoryStorage();
  const settings = { scheduling: { decidedAtOnce: 10 } };
  const ports = { storage, clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery() };
  const roomy = { CpuShares: 1_000_000, TotalCpuCores: 1, ReservableCpuCores: null };
  const NodeResources = { Cpu: roomy, Memory: { MemoryMB: 1_000_000 }, Disk: { DiskMB: 1_000_000 } };
  const stopped = createEngine(ports, settings);
  (await registerNode(stopped, hostPrincipal, nodeFrom('n1', { NodeResources })))._unsafeUnwrap();
  await register('web', { TaskGroups: [groupDocument({ Count: 500, Update: { MaxParallel: 500 } })] }, stopped);
  stopped.start();
  const counts = async () =>
    (
      await storage.read((view) => [
        view.list(allocations).length,
        view.list(evaluations, { index: 'due', prefix: ['pending'] }).length,
      ])
    )._unsafeUnwrap();
  await new Promise((resolve) => setImmediate(resolve));
  await stopped.stop();
  expect(await counts()).toEqual([0, 1]);
  await using next = createEngine(ports, settings);
  next.start();
  await ports.clock.settle();
  expect(await counts()).toEqual([500, 0]);
});

/** Some changes are operations of their own. */
async function inOneWrite(change: (tx: Transaction) => unknown): Promise<void> {
  let promised: unknown;
  await write((tx) => {
    promised = change(tx);
  });
  await promised;
}

function changed(tx: Transaction, before: Allocation | undefined, change: Partial<Allocation>): void {
  const stamps = { ModifyIndex: tx.index, ...(before === undefined ? { CreateIndex: tx.index } : {}) };
  tx.put(allocations, { ...(before ?? {}), ...change, ...stamps } as Allocation);
}

function changedDeployment(tx: Transaction): void {
  const { record } = tx.list(deployments, { index: 'by_job', prefix: ['default', 'web'] })[0]!;
  tx.put(deployments, { ...record, StatusDescription: 'changed', ModifyIndex: tx.index });
}
