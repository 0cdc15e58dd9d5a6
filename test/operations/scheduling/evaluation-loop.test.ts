import { ok } from 'neverthrow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { jobRuns } from '../../../src/jobs/runs/job-run.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { commit } from '../../../src/operations/commit.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { readSchedulerConfiguration } from '../../../src/operations/records/declared-rows.js';
import { watchOf } from '../../../src/operations/records/scheduling/plan-basis.js';
import { writeInTurns } from '../../../src/operations/scheduling/evaluation-loop.js';
import {
  beginEvaluation,
  type DecidedPlan,
  processEvaluation,
  type WrittenSoFar,
  writeDecided,
} from '../../../src/operations/scheduling/process-evaluation.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import type { Transaction } from '../../../src/operations/write-transaction.js';
import type { ReadView } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { deployments } from '../../../src/scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { partsInSteps } from '../../../src/scheduler/plan/outcome.js';
import { schedulerConfigurations } from '../../../src/scheduler/scheduler-configuration.js';
import { finish } from '../../../src/scheduler/steps.js';
import { hour, second } from '../../../src/shared/duration.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const failure = { type: 'storage_failed', reason: 'io', message: 'The disk does not answer.' } as const;

it('waits for a store that fails, for as long as it takes, and gives no evaluation up for it', async () => {
  let failing = false;
  const storage = flaky(memoryStorage(), { write: { calls: () => failing, error: failure as never } });
  const clock = manualClock();
  await using engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery() });
  await registerNode(engine, hostPrincipal, nodeFrom('n1'));
  const job = { ID: 'web', Datacenters: ['*'], TaskGroups: [groupDocument()] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  failing = true;
  engine.start();
  await clock.advance(250);
  await clock.advance(60_000);
  failing = false;
  await clock.advance(1000);
  const stored = await storage.read((view) => view.list(evaluations).map(({ record }) => record.Status));
  expect(stored._unsafeUnwrap()).toEqual(['complete']);
});

it('tells a store that fails once, and again when it fails after a success', async () => {
  let allowed = 0;
  const storage = flaky(memoryStorage(), { write: { calls: () => allowed-- <= 0, error: failure as never } });
  const clock = manualClock();
  const logged: unknown[] = [];
  const note = (level: string) => (fields: object, message: string) => void logged.push([level, message, fields]);
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  await using engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery(), logger });
  engine.start();
  const told = () => logged.filter((entry) => JSON.stringify(entry).includes('Evaluations wait'));
  for (let second = 0; second < 60; second += 1) await clock.advance(1000);
  expect(told()).toEqual([['error', 'Evaluations wait: the store fails', { error: failure.message }]]);
  allowed = Number.POSITIVE_INFINITY;
  await clock.advance(1000);
  expect(told()).toHaveLength(1);
  allowed = 1;
  await registerNode(engine, hostPrincipal, nodeFrom('n1'));
  await clock.advance(5000);
  expect(told()).toHaveLength(2);
});

it.each([
  ['while the engine works', false],
  ['while no engine works', true],
])('keeps the delays of reschedules when the clock is set back %s', async (_when, restarted) => {
  await using cluster = fakeCluster({
    behaviour: ({ RescheduleTracker }) => (RescheduleTracker ? {} : { ends: 'failed' }),
  });
  const { engine, clock } = cluster;
  await cluster.addNode('n1');
  const policy = { Delay: 30e9, DelayFunction: 'constant' as const, MaxDelay: 0, Unlimited: true };
  const group = { ...groupDocument({ ReschedulePolicy: policy, RestartPolicy: { Attempts: 0, Mode: 'fail' } }) };
  const job = { ID: 'web', Type: 'service' as const, Datacenters: ['*'], TaskGroups: [group] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(5 * second);
  const waiting = async () =>
    (await cluster.rows(evaluations)).filter(({ WaitUntil, Status }) => WaitUntil && Status === 'pending');
  expect(await waiting()).toHaveLength(1);
  if (restarted) await engine.stop();
  await clock.step(-hour);
  if (restarted) engine.start();
  await clock.advance(20 * second);
  expect(await waiting()).toHaveLength(1);
  await clock.advance(20 * second);
  expect(await waiting()).toEqual([]);
  const statuses = (await cluster.rows(allocations)).map(({ ClientStatus }) => ClientStatus);
  expect(statuses.sort()).toEqual(['failed', 'running']);
});

const ports = () => ({
  storage: memoryStorage(),
  clock: manualClock(),
  ids: sequentialIds(),
  delivery: recordingDelivery(),
});
const settings = { scheduling: { decidedAtOnce: 0, writtenAtOnce: 2 }, runNotifications: [{ workspace: 'ws-1' }] };
let engine: Engine;
beforeEach(() => {
  engine = createEngine(ports(), settings);
});
afterEach(() => engine.stop());

async function write<T>(work: (tx: Transaction) => T): Promise<T> {
  return (await commit(engine, hostPrincipal, (tx) => ok(work(tx))))._unsafeUnwrap().value;
}

async function register(document: Record<string, unknown>, ID = 'web'): Promise<void> {
  const job = { ID, Datacenters: ['*'], ...document };
  (await registerJob(engine, hostPrincipal, { job: job as never }))._unsafeUnwrap();
}

const service = (Count: number, Priority: number): Record<string, unknown> => ({
  Priority,
  TaskGroups: [groupDocument({ Count, Update: { MaxParallel: Count } })],
});
const pending = (view: ReadView) =>
  view.list(evaluations, { index: 'open_by_job', prefix: ['default', 'web'] })[0]!.record;
const ofJob = (view: ReadView, job = 'web'): Allocation[] =>
  view.list(allocations, { index: 'by_job', prefix: ['default', job] }).map(({ record }) => record);

/** The second version of `web`: five allocations that run go on under it, and two more are placed. */
async function decided(first = service(5, 50), second = service(7, 60), nodeCount = 1): Promise<DecidedPlan> {
  for (let at = 1; at <= nodeCount; at += 1)
    (await registerNode(engine, hostPrincipal, nodeFrom(`n${at}`)))._unsafeUnwrap();
  await register(first);
  await write((tx) => processEvaluation(tx, pending(tx)));
  await write((tx) => {
    for (const before of ofJob(tx)) changed(tx, before, { ClientStatus: 'running' });
  });
  await register(second);
  const begun = await write((tx) => beginEvaluation(tx, pending(tx), { known: undefined, atMost: 0 }));
  if (begun.type === 'processed') throw new Error('the evaluation was to be begun only');
  return write((tx) => {
    for (;;) {
      const step = begun.next(tx);
      if (step.done === true) return step.value;
    }
  });
}

/** Writes the next part; undefined when it does not hold any more. */
async function writePart(plan: DecidedPlan, at: number, before: WrittenSoFar) {
  const part = finish(partsInSteps(plan.result, 2))[at]!;
  const written = await write((tx) => writeDecided(tx, plan, { part, before }));
  return written && { known: written.cluster, watch: written.watch };
}

const start = ({ known, basis }: DecidedPlan): WrittenSoFar => ({ known, watch: watchOf(basis) });

it('leaves a whole state after each part, and ends the evaluation with the last one', async () => {
  const made = await decided();
  const { ID } = made.basis.evaluation;
  let before = start(made);
  for (let at = 0; at < 4; at += 1) {
    before = (await writePart(made, at, before))!;
    const { all, deployment, summary, evaluation } = await write((tx) => ({
      all: ofJob(tx),
      deployment: tx.list(deployments, { index: 'by_job', prefix: ['default', 'web'] }).at(-1)!.record,
      summary: tx.get(jobSummaries, ['default', 'web'])!.record.Summary['app'],
      evaluation: tx.get(evaluations, [ID])!.record,
    }));
    const moved = all.filter(({ JobVersion }) => JobVersion === 1);
    expect(moved).toHaveLength(Math.min(2 * (at + 1), 7));
    expect(moved.every(({ DeploymentID }) => DeploymentID === deployment.ID)).toBe(true);
    expect(deployment.TaskGroups['app']).toMatchObject({ DesiredTotal: 7, PlacedAllocs: moved.length });
    expect(summary).toMatchObject({ Running: 5, Starting: all.length - 5 });
    expect(evaluation.Status).toBe(at < 3 ? 'pending' : 'complete');
  }
});

it('is decided on again from what is written, by an engine that comes after', async () => {
  const made = await decided();
  await writePart(made, 1, (await writePart(made, 0, start(made)))!);
  const ids = await write((tx) => tx.list(deployments).map(({ record }) => record.ID));
  await write((tx) => processEvaluation(tx, pending(tx)));
  const after = await write((tx) => ({ all: ofJob(tx), made: tx.list(deployments).map(({ record }) => record) }));
  expect(after.all.map(({ JobVersion }) => JobVersion)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  expect(after.made.map(({ ID }) => ID)).toEqual(ids);
  expect(after.made.at(-1)?.TaskGroups['app']).toMatchObject({ DesiredTotal: 7, PlacedAllocs: 7 });
});

it.each<[string, (tx: Transaction, later: Allocation) => unknown, boolean, boolean]>([
  ['nothing has changed', () => undefined, true, true],
  [
    'one that was written was reported',
    (tx) => changed(tx, ofJob(tx).find(isNew)!, { ClientDescription: 'x' }),
    true,
    false,
  ],
  [
    'one that is to be written was reported',
    (tx, later) => changed(tx, later, { ClientDescription: 'x' }),
    false,
    false,
  ],
  [
    'the scheduler of another engine has changed one',
    (tx) => changed(tx, ofJob(tx)[0], { AllocModifyIndex: tx.index }),
    false,
    false,
  ],
  ['a node has changed', (tx) => tx.put(nodes, { ...tx.list(nodes)[0]!.record, StatusUpdatedAt: 9 }), false, false],
])('goes on after a part when %s', async (_why, change, goesOn, ends) => {
  const made = await decided();
  const [later] = finish(partsInSteps(made.result, 2))[1]!.allocations;
  let before = (await writePart(made, 0, start(made)))!;
  await write((tx) => change(tx, ofJob(tx).find(({ ID }) => ID === later?.ID)!));
  const second = await writePart(made, 1, before);
  expect(second !== undefined).toBe(goesOn);
  if (second === undefined) return;
  before = (await writePart(made, 2, second))!;
  expect((await writePart(made, 3, before)) !== undefined).toBe(ends);
});

it('does not place where another job has taken room since', async () => {
  const made = await decided();
  const parts = finish(partsInSteps(made.result, 2));
  let before: WrittenSoFar | undefined = start(made);
  before = await writePart(made, 0, before);
  await write((tx) => {
    const [one] = ofJob(tx);
    changed(tx, undefined, { ...one!, ID: 'taken', JobID: 'other', CreateIndex: tx.index });
  });
  expect(parts).toHaveLength(4);
  expect(await writePart(made, 1, before!)).toBeUndefined();
});

it('stops between two parts when it is told to, with the evaluation open', async () => {
  const plan = await decided();
  const stopping = new AbortController();
  const written = writeInTurns(engine, plan, stopping.signal, () => 'end');
  await Promise.resolve();
  stopping.abort();
  expect((await written)._unsafeUnwrap()).toMatchObject({ end: 'stopped', parts: 1 });
  expect(await write((tx) => ofJob(tx).filter(isNew).length)).toBe(2);
  expect(await write((tx) => pending(tx).ID)).toBe(plan.basis.evaluation.ID);
});

it('takes a run for up when all of its plan is written, not before', async () => {
  const workspace = { id: 'ws-1', name: 'runs', organization: 'acme' };
  (await putWorkspace(engine, hostPrincipal, workspace))._unsafeUnwrap();
  const system = (Priority: number) => ({ Type: 'system', Priority, TaskGroups: [groupDocument()] });
  const made = await decided(system(50), system(60), 5);
  const stage = () => write((tx) => tx.get(jobRuns, ['default', 'web'])?.record.stage);
  let before = start(made);
  for (const at of [0, 1]) {
    before = (await writePart(made, at, before))!;
    expect(await stage()).toBe('applying');
  }
  await writePart(made, 2, before);
  expect(await stage()).toBe('completed');
});

const isNew = ({ JobVersion }: Allocation): boolean => JobVersion === 1;

function changed(tx: Transaction, before: Allocation | undefined, change: Partial<Allocation>): void {
  tx.put(allocations, { ...(before ?? {}), ...change, ModifyIndex: tx.index } as Allocation);
}

describe('a plan that preempts', () => {
  const low = (view: ReadView): Allocation[] => ofJob(view, 'low');
  const ofLow = (view: ReadView) =>
    view.list(evaluations, { index: 'by_job', prefix: ['default', 'low'] }).map(({ record }) => record);

  /** `web` takes the nodes of three allocations of `low`; each part has one of each. */
  async function preempting(): Promise<DecidedPlan> {
    await write((tx) => {
      const before = readSchedulerConfiguration(tx);
      const PreemptionConfig = { ...before.PreemptionConfig, ServiceSchedulerEnabled: true };
      tx.put(schedulerConfigurations, { ...before, PreemptionConfig });
    });
    for (const id of ['n1', 'n2', 'n3']) (await registerNode(engine, hostPrincipal, nodeFrom(id)))._unsafeUnwrap();
    const [task] = (groupDocument() as { readonly Tasks: readonly object[] }).Tasks;
    const whole = { Tasks: [{ ...task, Resources: { CPU: 900, MemoryMB: 100 } }] };
    const TaskGroups = [groupDocument({ Count: 3, ...whole })];
    await register({ Priority: 20, TaskGroups }, 'low');
    await write((tx) => processEvaluation(tx, openOf(tx, 'low')));
    await register({ Priority: 80, TaskGroups });
    const begun = await write((tx) => beginEvaluation(tx, pending(tx), { known: undefined, atMost: 0 }));
    if (begun.type === 'processed') throw new Error('the evaluation was to be begun only');
    return write((tx) => {
      for (;;) {
        const step = begun.next(tx);
        if (step.done === true) return step.value;
      }
    });
  }

  const openOf = (view: ReadView, job: string) =>
    view.list(evaluations, { index: 'open_by_job', prefix: ['default', job] })[0]!.record;

  it('is written in parts, each with an evaluation for whom it takes from, unless one waits', async () => {
    const made = await preempting();
    let before = (await writePart(made, 0, start(made)))!;
    const first = await write((tx) => ({
      evicted: low(tx).filter(isEvicted).length,
      waiting: ofLow(tx).filter(isPending),
    }));
    expect(first.evicted).toBe(1);
    expect(first.waiting).toMatchObject([{ TriggeredBy: 'preemption', Priority: 20, Type: 'service', JobID: 'low' }]);
    before = (await writePart(made, 1, before))!;
    expect((await write((tx) => ofLow(tx).filter(isPending))).map(({ ID }) => ID)).toEqual([first.waiting[0]?.ID]);
    await write((tx) => tx.put(evaluations, { ...first.waiting[0]!, Status: 'complete', ModifyIndex: tx.index }));
    await writePart(made, 2, before);
    const last = await write((tx) => ({
      evicted: low(tx).filter(isEvicted).length,
      waiting: ofLow(tx).filter(isPending),
    }));
    expect(last.evicted).toBe(3);
    expect(last.waiting).toMatchObject([{ TriggeredBy: 'preemption' }]);
    expect(last.waiting[0]?.ID).not.toBe(first.waiting[0]?.ID);
  });

  it('keeps what was reported of a preempted allocation since it was decided', async () => {
    const made = await preempting();
    await write((tx) => {
      for (const before of low(tx)) changed(tx, before, { ClientStatus: 'complete' });
    });
    await writePart(made, 0, start(made));
    const statuses = await write((tx) =>
      low(tx).map(({ DesiredStatus, ClientStatus }) => [DesiredStatus, ClientStatus]),
    );
    expect(statuses.sort()).toEqual([
      ['evict', 'complete'],
      ['run', 'complete'],
      ['run', 'complete'],
    ]);
  });
});

const isEvicted = ({ DesiredStatus }: Allocation): boolean => DesiredStatus === 'evict';
const isPending = ({ Status }: Evaluation): boolean => Status === 'pending';
