import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../../adapters/compat/index.js';
import { hostPrincipal } from '../../../../src/access/principal.js';
import { exceededDuration, type RunOutcome, stoppedEarly } from '../../../../src/jobs/runs/job-run.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import { registerNode } from '../../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../../src/operations/scheduling/report-allocations.js';
import { allocations } from '../../../../src/scheduler/allocation.js';
import { nodeFrom } from '../../../support/nodes.js';
import { batchJob, group, serviceJob, type World, world } from '../world.js';

const running: World[] = [];
afterEach(async () => {
  for (const w of running.splice(0)) await w.engine.stop();
});

async function ready(settings: Parameters<typeof world>[0] = {}): Promise<World> {
  const w = world(settings);
  running.push(w);
  w.engine.start();
  (await registerNode(w.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  return w;
}

async function report(w: World, clientStatus: 'running' | 'complete' | 'failed', clientDescription: string) {
  const [row] = await w.rows(allocations);
  const reports = [{ allocationId: row?.ID ?? '', clientStatus, clientDescription, taskStates: {} }];
  (await reportAllocations(w.engine, hostPrincipal, { nodeId: row?.NodeID ?? '', reports }))._unsafeUnwrap();
  await w.clock.advance(1000);
}

/** How each reading shows the end: lists of jobs with and without their meta, statuses, lists of allocations, one allocation. */
async function readings(w: World): Promise<(string | undefined)[]> {
  const box = w.engine.as(hostPrincipal);
  const [plain, meta, statuses, listed, ofJob] = await Promise.all([
    box.jobs.list(),
    box.jobs.list({ meta: true }),
    box.jobs.statuses(),
    box.allocations.list(),
    box.jobs.allocations('b'),
  ]);
  const one = await box.allocations.read(listed._unsafeUnwrap().value.items[0]?.ID ?? '');
  return [
    plain._unsafeUnwrap().value.items[0],
    meta._unsafeUnwrap().value.items[0],
    statuses._unsafeUnwrap().value.items[0],
    listed._unsafeUnwrap().value.items[0],
    ofJob._unsafeUnwrap().value[0],
    one._unsafeUnwrap().value,
  ].map((entry) => entry?.Outcome);
}

const oneShot = { RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: { Attempts: 0, Unlimited: false } };
const job = batchJob('b', { TaskGroups: [group(oneShot)] });

describe('the outcome of a run', () => {
  it.each<['complete' | 'failed', string, RunOutcome]>([
    ['complete', 'All tasks have completed', 'succeeded'],
    ['failed', 'Failed tasks', 'failed'],
    ['complete', exceededDuration, 'timed_out'],
    ['complete', stoppedEarly, 'stopped'],
  ])('%s, "%s" is %s in each reading', async (status, description, outcome) => {
    const w = await ready();
    (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await w.clock.advance(1000);
    await report(w, 'running', 'Tasks are running');
    expect(await readings(w)).toEqual(Array(6).fill(undefined));
    await report(w, status, description);
    expect(await readings(w)).toEqual(Array(6).fill(outcome));
  });

  it('stays what it was when the job is stopped afterwards', async () => {
    const w = await ready();
    (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await w.clock.advance(1000);
    await report(w, 'complete', 'All tasks have completed');
    (await stopJob(w.engine, hostPrincipal, { jobId: 'b' }))._unsafeUnwrap();
    await w.clock.advance(1000);
    expect(await readings(w)).toEqual(Array(6).fill('succeeded'));
  });

  it('is stopped from the stop on, and stays so while its allocation ends', async () => {
    const w = await ready();
    (await registerJob(w.engine, hostPrincipal, { job: serviceJob('b') }))._unsafeUnwrap();
    await w.clock.advance(1000);
    await report(w, 'running', 'Tasks are running');
    (await stopJob(w.engine, hostPrincipal, { jobId: 'b' }))._unsafeUnwrap();
    await w.clock.advance(1000);
    expect((await readings(w)).slice(0, 3)).toEqual(Array(3).fill('stopped'));
    await report(w, 'failed', 'Failed tasks');
    expect(await readings(w)).toEqual([...Array(3).fill('stopped'), ...Array(3).fill('failed')]);
  });

  it('is gone when the job runs again', async () => {
    const w = await ready();
    (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await w.clock.advance(1000);
    await report(w, 'failed', 'Failed tasks');
    const changed = { ...job, Meta: { again: '1' } };
    (await registerJob(w.engine, hostPrincipal, { job: changed }))._unsafeUnwrap();
    expect((await readings(w)).slice(0, 3)).toEqual(Array(3).fill(undefined));
  });

  it('is no member of answers with the names of Nomad, and one of those beside them, whatever the notifications are called', async () => {
    const w = await ready({ notifications: { names: 'upstream' } });
    (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await w.clock.advance(1000);
    const [row] = await w.rows(allocations);
    const lists = ['/v1/jobs', '/v1/jobs?meta=true', '/v1/jobs/statuses', '/v1/allocations', '/v1/job/b/allocations'];
    const all = [...lists, `/v1/allocation/${row?.ID}`];
    const asked = (names: 'neutral' | 'upstream', index?: number) => {
      const handle = createHttpHandler(w.engine, { access: 'open', names });
      const waits = (target: string) => `${target}${target.includes('?') ? '&' : '?'}index=${index}&wait=60s`;
      return all.map((target) =>
        handle(requestFrom({ method: 'GET', target: index === undefined ? target : waits(target) })),
      );
    };
    const saysOutcome = async (answers: ReturnType<typeof asked>) =>
      (await Promise.all(answers)).map(({ body }) => String(body).includes('Outcome'));
    const index = (await w.engine.storage.read((view) => view.index))._unsafeUnwrap();
    const waiting = { upstream: asked('upstream', index), neutral: asked('neutral', index) };
    await report(w, 'complete', 'All tasks have completed');
    expect(await readings(w)).toEqual(Array(6).fill('succeeded'));
    for (const of of [asked('upstream'), waiting.upstream]) expect(await saysOutcome(of)).toEqual(Array(6).fill(false));
    for (const of of [asked('neutral'), waiting.neutral]) expect(await saysOutcome(of)).toEqual(Array(6).fill(true));
  });
});
