import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { jobRuns } from '../../../src/jobs/runs/job-run.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { deleteEvaluations } from '../../../src/operations/jobs/delete-evaluations.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { evaluateJob } from '../../../src/operations/jobs/evaluate-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { setSchedulerConfiguration } from '../../../src/operations/nodes/scheduler-configuration.js';
import { listNodeWork } from '../../../src/operations/scheduling/list-node-work.js';
import { leaveNode, registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodeFrom } from '../../support/nodes.js';
import { batchJob, group, parameterizedJob, serviceJob, type World, world } from './world.js';

async function started(): Promise<World> {
  const made = world();
  made.engine.start();
  (await registerNode(made.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  return made;
}

async function register({ engine, clock }: World, job: object): Promise<void> {
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.settle();
}

/** The node reports this of everything that is assigned to it. */
async function report({ engine, clock }: World, clientStatus: 'running' | 'complete' | 'failed'): Promise<void> {
  const { work } = (await listNodeWork(engine, { nodeId: 'n1' }))._unsafeUnwrap().value;
  const reports = work.map(({ allocation }) => ({
    allocationId: allocation.ID,
    clientStatus,
    clientDescription: '',
    taskStates: {},
  }));
  (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports }))._unsafeUnwrap();
  await clock.settle();
}

const statusOf = async ({ rows }: World, id: string) => (await rows(jobs)).find(({ ID }) => ID === id)?.Status;

describe('the status of a job', () => {
  it('is pending again while a dead job has an evaluation because of its node', async () => {
    const it = await started();
    await register(it, serviceJob('web'));
    await report(it, 'running');
    (await stopJob(it.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    await it.clock.settle();
    expect(await statusOf(it, 'web')).toBe('dead');
    await it.engine.stop();
    // Nobody works on evaluations now, and the node has not yet ended what it runs.
    (await leaveNode(it.engine, hostPrincipal, 'n1'))._unsafeUnwrap();
    expect((await it.rows(evaluations)).filter(({ Status }) => Status === 'pending')).toHaveLength(1);
    expect(await statusOf(it, 'web')).toBe('pending');
    it.engine.start();
    await it.clock.settle();
    expect(await statusOf(it, 'web')).toBe('dead');
    await it.engine.stop();
  });

  it('is dead when the only evaluation of a job that waits is deleted', async () => {
    const { engine, rows } = world({ runNotifications: [{ namespace: 'default', workspace: 'ws-1' }] });
    const statuses: string[] = [];
    engine.events.on('job.status', ({ jobId, status }) => statuses.push(`${jobId} ${status}`));
    (await registerJob(engine, hostPrincipal, { job: parameterizedJob('work') }))._unsafeUnwrap();
    const { evalId, dispatchedJobId } = (await dispatchJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
    expect(await rows(jobRuns)).toHaveLength(1);
    const configuration = { PauseEvalBroker: true };
    (await setSchedulerConfiguration(engine, hostPrincipal, configuration))._unsafeUnwrap();
    const index = (await deleteEvaluations(engine, hostPrincipal, { evalIds: [evalId] }))._unsafeUnwrap().index;
    expect((await rows(jobs)).find(({ ID }) => ID === dispatchedJobId)).toMatchObject({
      Status: 'dead',
      ModifyIndex: index,
    });
    expect((await rows(jobSummaries)).find(({ JobID }) => JobID === 'work')).toMatchObject({
      Children: { Pending: 0, Running: 0, Dead: 1 },
    });
    expect(statuses.at(-1)).toBe(`${dispatchedJobId} dead`);
    expect(await rows(jobRuns)).toEqual([]);
  });
});

describe('the children that a parent counts', () => {
  const childrenOf = async ({ rows }: World) =>
    (await rows(jobSummaries)).find(({ JobID }) => JobID === 'work')?.Children;

  it('are dead after they were purged, whatever they were at', async () => {
    const it = await started();
    await register(it, parameterizedJob('work'));
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push((await dispatchJob(it.engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap().dispatchedJobId);
    }
    await it.clock.settle();
    expect(await childrenOf(it)).toEqual({ Pending: 0, Running: 3, Dead: 0 });
    for (const jobId of ids.slice(0, 2)) {
      (await stopJob(it.engine, hostPrincipal, { jobId, purge: true }))._unsafeUnwrap();
      await it.clock.settle();
    }
    expect(await childrenOf(it)).toEqual({ Pending: 0, Running: 1, Dead: 2 });
    await report(it, 'complete');
    expect(await childrenOf(it)).toEqual({ Pending: 0, Running: 0, Dead: 3 });
    await it.engine.stop();
  });

  it('are those that are there when the parent was purged and comes back', async () => {
    const it = await started();
    await register(it, parameterizedJob('work'));
    for (let n = 0; n < 2; n += 1) (await dispatchJob(it.engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
    await it.clock.settle();
    (await stopJob(it.engine, hostPrincipal, { jobId: 'work', purge: true }))._unsafeUnwrap();
    await it.clock.settle();
    await register(it, parameterizedJob('work'));
    expect(await childrenOf(it)).toEqual({ Pending: 0, Running: 2, Dead: 0 });
    await report(it, 'complete');
    expect(await childrenOf(it)).toEqual({ Pending: 0, Running: 0, Dead: 2 });
    await it.engine.stop();
  });
});

describe('a forced reschedule', () => {
  it('replaces a failed allocation where the policy has no attempts left', async () => {
    const it = await started();
    const policy = {
      Attempts: 1,
      Interval: 86_400_000_000_000,
      Delay: 5_000_000_000,
      DelayFunction: 'constant',
      Unlimited: false,
    };
    await register(it, batchJob('work', { TaskGroups: [group({ ReschedulePolicy: policy })] }));
    await report(it, 'failed');
    await it.clock.advance(6000);
    await report(it, 'failed');
    await it.clock.advance(20_000);
    const replaced = async (): Promise<Allocation[]> =>
      (await it.rows(allocations)).filter(({ NextAllocation }) => NextAllocation);
    expect(await it.rows(allocations)).toHaveLength(2);
    expect(await statusOf(it, 'work')).toBe('dead');
    (await evaluateJob(it.engine, hostPrincipal, { jobId: 'work', forceReschedule: true }))._unsafeUnwrap();
    await it.clock.settle();
    expect(await it.rows(allocations)).toHaveLength(3);
    expect(await replaced()).toHaveLength(2);
    expect(await statusOf(it, 'work')).toBe('running');
    await it.engine.stop();
  });
});
