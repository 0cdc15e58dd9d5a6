import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { heartbeatNode, registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { nodeFrom } from '../../support/nodes.js';
import { group } from '../jobs/world.js';

const job = (ID: string, Disconnect?: object) => ({
  ID,
  Datacenters: ['*'],
  Update: { MaxParallel: 0 },
  TaskGroups: [group(Disconnect === undefined ? {} : { Disconnect })],
});
const waiting = (more: object = {}) => ({ LostAfter: 10 * minute * 1_000_000, ...more });

/** Node n1, which runs an allocation of each job, and n2, which came later. */
async function running(...jobs: object[]): Promise<FakeCluster> {
  const cluster = fakeCluster();
  await cluster.addNode('n1');
  for (const document of jobs) (await registerJob(cluster.engine, hostPrincipal, { job: document }))._unsafeUnwrap();
  await cluster.clock.advance(5 * second);
  await cluster.addNode('n2');
  await cluster.clock.advance(5 * second);
  return cluster;
}

async function silent(cluster: FakeCluster): Promise<void> {
  cluster.silence('n1');
  await cluster.clock.advance(40 * second);
}

const statusOf = async (cluster: FakeCluster) => (await cluster.rows(nodes)).find(({ ID }) => ID === 'n1')?.Status;

/** Of each allocation its job, its node and what is known of it, in the order of their creation. */
async function outline(cluster: FakeCluster): Promise<readonly string[]> {
  const all = [...(await cluster.rows(allocations))].sort((left, right) => left.CreateIndex - right.CreateIndex);
  return all.map(
    ({ JobID, NodeID, DesiredStatus, ClientStatus }) => `${JobID} ${NodeID} ${DesiredStatus} ${ClientStatus}`,
  );
}

describe('a node that is silent', () => {
  it('is disconnected while a group waits for it; the groups that do not are replaced', async () => {
    await using cluster = await running(job('patient', waiting({ Replace: false })), job('hasty'));
    await silent(cluster);
    expect(await statusOf(cluster)).toBe('disconnected');
    expect(await outline(cluster)).toEqual(['patient n1 run unknown', 'hasty n1 stop lost', 'hasty n2 run running']);
    const later = (await cluster.rows(evaluations)).filter(({ Status }) => Status === 'pending');
    expect(later).toMatchObject([{ JobID: 'patient', TriggeredBy: 'max-disconnect-timeout' }]);
  });

  it('is down when no group waits for it', async () => {
    await using cluster = await running(job('hasty'));
    await silent(cluster);
    expect(await statusOf(cluster)).toBe('down');
  });

  it('is down when the group that would wait has nothing there any more', async () => {
    await using cluster = await running(job('patient', waiting()));
    const TaskGroups = [group({ Disconnect: waiting(), Count: 0 })];
    const smaller = { ...job('patient'), TaskGroups };
    (await registerJob(cluster.engine, hostPrincipal, { job: smaller }))._unsafeUnwrap();
    await cluster.clock.advance(5 * second);
    await silent(cluster);
    expect(await statusOf(cluster)).toBe('down');
  });

  it('has lost what was waited for when its time is over', async () => {
    await using cluster = await running(job('patient', waiting({ Replace: false })));
    await silent(cluster);
    await cluster.clock.advance(9 * minute);
    expect(await outline(cluster)).toEqual(['patient n1 run unknown']);
    await cluster.clock.advance(minute);
    expect(await outline(cluster)).toEqual(['patient n1 stop lost', 'patient n2 run running']);
  });

  it('is unknown to the servers until it registers again', async () => {
    await using cluster = await running(job('patient', waiting()));
    await silent(cluster);
    const { engine } = cluster;
    const [allocation] = await cluster.rows(allocations);
    const report = {
      allocationId: allocation?.ID ?? '',
      clientStatus: 'running' as const,
      clientDescription: '',
      taskStates: {},
    };
    const told = await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports: [report] });
    expect(told._unsafeUnwrapErr().type).toBe('node_not_found');
    expect((await heartbeatNode(engine, hostPrincipal, 'n1'))._unsafeUnwrapErr().type).toBe('node_not_found');
  });

  it('registers again, and the jobs that have waited are looked at when it reports', async () => {
    await using cluster = await running(job('patient', waiting({ Reconcile: 'keep_original' })), job('hasty'));
    await silent(cluster);
    await cluster.clock.advance(30 * second);
    const before = await outline(cluster);
    const made = (await cluster.rows(evaluations)).length;
    (await registerNode(cluster.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
    await cluster.clock.advance(second);
    expect(await statusOf(cluster)).toBe('ready');
    expect(await outline(cluster)).toEqual(before);
    expect(await cluster.rows(evaluations)).toHaveLength(made);
  });

  it.each([
    ['keep_original', ['patient n1 run running', 'patient n2 stop complete']],
    ['keep_replacement', ['patient n1 stop complete', 'patient n2 run running']],
  ])('is back in time, and the job has one allocation again: %s', async (Reconcile, expected) => {
    await using cluster = await running(job('patient', waiting({ Replace: true, Reconcile })));
    await silent(cluster);
    // The replacement comes after the delay of the reschedule policy.
    await cluster.clock.advance(30 * second);
    expect(await outline(cluster)).toEqual(['patient n1 run unknown', 'patient n2 run running']);
    cluster.silence('n1', false);
    await cluster.clock.advance(10 * second);
    expect(await statusOf(cluster)).toBe('ready');
    expect(await outline(cluster)).toEqual(expected);
    const later = (await cluster.rows(evaluations)).filter(({ WaitUntil }) => WaitUntil !== undefined);
    expect(later.find(({ TriggeredBy }) => TriggeredBy === 'max-disconnect-timeout')?.Status).toBe('canceled');
    expect((await cluster.rows(allocations)).map(({ FollowupEvalID }) => FollowupEvalID)).not.toContain(
      expect.anything(),
    );
    await cluster.clock.advance(20 * minute);
    expect(await outline(cluster)).toEqual(expected);
    const triggers = (await cluster.rows(evaluations)).map(({ TriggeredBy }) => TriggeredBy);
    expect(triggers).toContain('reconnect');
  });

  it('is waited for by the other allocations of the job when one is back', async () => {
    const both = { ...job('patient'), TaskGroups: [group({ Count: 2, Disconnect: waiting({ Replace: false }) })] };
    await using cluster = await running(both);
    await silent(cluster);
    const [first, second] = await cluster.rows(allocations);
    const { engine } = cluster;
    (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
    const wait = async () => {
      await cluster.clock.advance(1);
      const all = await cluster.rows(evaluations);
      return all.find(({ TriggeredBy }) => TriggeredBy === 'max-disconnect-timeout')?.Status;
    };
    const report = async (allocationId = '') => {
      const told = { allocationId, clientStatus: 'running' as const, clientDescription: '', taskStates: {} };
      (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports: [told] }))._unsafeUnwrap();
    };
    await report(first?.ID);
    expect(await wait()).toBe('pending');
    await report(second?.ID);
    expect(await wait()).toBe('canceled');
  });

  it('is back, and what fails there afterwards is replaced', async () => {
    const policy = { Delay: 5 * second * 1_000_000, DelayFunction: 'constant', Unlimited: true };
    const patient = group({ Disconnect: waiting({ Replace: false }), ReschedulePolicy: policy });
    await using cluster = await running({ ...job('patient'), TaskGroups: [patient] });
    await silent(cluster);
    (await registerNode(cluster.engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
    const [allocation] = await cluster.rows(allocations);
    for (const clientStatus of ['running', 'failed'] as const) {
      const told = { allocationId: allocation?.ID ?? '', clientStatus, clientDescription: '', taskStates: {} };
      (await reportAllocations(cluster.engine, hostPrincipal, { nodeId: 'n1', reports: [told] }))._unsafeUnwrap();
      await cluster.clock.advance(second);
    }
    await cluster.clock.advance(20 * second);
    expect((await outline(cluster)).at(-1)).toBe('patient n2 run running');
  });
});
