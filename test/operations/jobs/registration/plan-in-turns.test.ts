import { afterEach, describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import { type JobPlan, planJob } from '../../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { registerNode } from '../../../../src/operations/scheduling/register-node.js';
import { evaluations } from '../../../../src/scheduler/evaluation.js';
import { groupDocument } from '../../../support/jobs.js';
import { nodeFrom } from '../../../support/nodes.js';

const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

/** Three nodes on which `web` runs twice. Jobs with more than `decidedAtOnce` allocations are large. */
async function running(decidedAtOnce: number): Promise<Engine> {
  const ports = { storage: memoryStorage(), clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery() };
  const engine = createEngine(ports, { scheduling: { decidedAtOnce } });
  engines.push(engine);
  for (const id of ['n1', 'n2', 'n3']) (await registerNode(engine, hostPrincipal, nodeFrom(id)))._unsafeUnwrap();
  engine.start();
  await registered(engine, web(2));
  return engine;
}

function web(Count: number, change: object = {}) {
  return {
    ID: 'web',
    Datacenters: ['*'],
    TaskGroups: [groupDocument({ Count, Update: { MaxParallel: 1 } })],
    ...change,
  };
}

async function registered(engine: Engine, job: ReturnType<typeof web>): Promise<void> {
  const { evalId } = (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  for (let after = 1; ; ) {
    const status = await engine.storage.read((view) => view.get(evaluations, [evalId])?.record.Status);
    if (status._unsafeUnwrap() === 'complete') return;
    after = await engine.storage.waitForChange([evaluations], after, new AbortController().signal);
  }
}

async function planned(engine: Engine, job: ReturnType<typeof web>): Promise<JobPlan> {
  return (await planJob(engine, hostPrincipal, { job, diff: true }))._unsafeUnwrap();
}

/** Does something in every round of the event loop until the plan is there. */
async function meanwhile(plan: Promise<JobPlan>, inRound: (round: number) => unknown): Promise<JobPlan> {
  let made = false;
  const ended = plan.finally(() => {
    made = true;
  });
  for (let round = 1; !made; round += 1) {
    await inRound(round);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

describe('a plan of a large job', () => {
  it.each([
    ['the same document', web(2)],
    ['more allocations', web(7)],
    ['another version', web(2, { Priority: 60 })],
    ['nothing left', web(0)],
    ['more than there is room for', web(2_000)],
  ])('is the one that a small job would get: %s', async (_what, job) => {
    const whole = await planned(await running(1_000_000), job);
    const inTurns = await planned(await running(0), job);
    expect(inTurns).toEqual(whole);
  });

  it('refuses what a registration would refuse', async () => {
    const engine = await running(0);
    const plan = await planJob(engine, hostPrincipal, { job: web(-1) });
    expect(plan._unsafeUnwrapErr().type).toBe('invalid_job');
  });

  it('lets other work go on, and stores nothing', async () => {
    const engine = await running(0);
    const before = (await engine.storage.read((view) => view.index))._unsafeUnwrap();
    let rounds = 0;
    await meanwhile(planned(engine, web(5_000)), (round) => {
      rounds = round;
    });
    expect(rounds).toBeGreaterThan(3);
    expect((await engine.storage.read((view) => view.index))._unsafeUnwrap()).toBe(before);
  });

  it('is made anew when the job changes meanwhile', async () => {
    const engine = await running(0);
    const before = await planned(engine, web(5_000));
    const plan = await meanwhile(planned(engine, web(5_000)), async (round) => {
      if (round === 2) await registered(engine, web(3));
    });
    const after = await planned(engine, web(5_000));
    const { annotations, jobModifyIndex } = after;
    expect(plan).toMatchObject({ annotations, jobModifyIndex });
    expect(jobModifyIndex).toBeGreaterThan(before.jobModifyIndex);
  });

  it('is made at once in the end, when something changes all the time', async () => {
    const engine = await running(0);
    const plan = await meanwhile(planned(engine, web(5_000)), async (round) => {
      (await registerNode(engine, hostPrincipal, nodeFrom(`late-${round}`)))._unsafeUnwrap();
    });
    expect(plan.failedPlacements).not.toBeNull();
  });
});
