import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import type { NodeDescription } from '../../../src/agent/link/node-work.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { listNodeWork } from '../../../src/operations/scheduling/list-node-work.js';
import { heartbeatNode, registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';

import { type Allocation, allocations, type TaskState } from '../../../src/scheduler/allocation.js';
import { blockedRequirements } from '../../../src/scheduler/blocked/blocked-requirement.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { nodeUsages } from '../../../src/scheduler/node-tables.js';
import { serviceRegistrations } from '../../../src/services/service-registration.js';
import { minute, second } from '../../../src/shared/duration.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

let engine: Engine;
let clock: ManualClock;
afterEach(() => engine.stop());

function open(): void {
  clock = manualClock();
  engine = createEngine({
    storage: memoryStorage(),
    clock,
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
  });
  engine.start();
}

const describeNode = (id: string): NodeDescription => {
  const {
    Status: _s,
    StatusDescription: _d,
    StatusUpdatedAt: _u,
    CreateIndex: _c,
    ModifyIndex: _m,
    ...description
  } = nodeFrom(id);
  return description;
};

async function join(id: string): Promise<void> {
  (await registerNode(engine, hostPrincipal, describeNode(id)))._unsafeUnwrap();
  await clock.settle();
}

async function register(document: Record<string, unknown>): Promise<void> {
  const registered = await registerJob(engine, hostPrincipal, {
    job: { ID: 'web', Datacenters: ['*'], TaskGroups: [groupDocument()], ...document },
  });
  if (registered.isErr()) throw new Error(JSON.stringify(registered.error));
  await clock.settle();
}

async function stored(): Promise<{
  allocations: Allocation[];
  evaluations: Evaluation[];
  usage: Record<string, number>;
  blocked: number;
}> {
  const read = await engine.storage.read((view) => ({
    allocations: view.list(allocations).map(({ record }) => record),
    evaluations: view.list(evaluations).map(({ record }) => record),
    usage: Object.fromEntries(view.list(nodeUsages).map(({ record }) => [record.ID, record.cpu])),
    blocked: view.list(blockedRequirements).length,
  }));
  return read._unsafeUnwrap();
}

const dead = (failed: boolean): TaskState => ({
  State: 'dead',
  Failed: failed,
  Restarts: 0,
  LastRestart: null,
  StartedAt: new Date(clock.now()).toISOString(),
  FinishedAt: new Date(clock.now()).toISOString(),
  Events: null,
  Paused: '',
});

async function report(
  nodeId: string,
  which: readonly Allocation[],
  clientStatus: 'running' | 'complete' | 'failed',
  states: Readonly<Record<string, TaskState>> = clientStatus === 'running'
    ? {}
    : { main: dead(clientStatus === 'failed') },
): Promise<void> {
  const reports = which.map(({ ID }) => ({
    allocationId: ID,
    clientStatus,
    clientDescription: '',
    taskStates: states,
  }));
  (await reportAllocations(engine, hostPrincipal, { nodeId, reports }))._unsafeUnwrap();
  await clock.settle();
}

describe('placement', () => {
  it('waits for a node, and happens when one comes', async () => {
    open();
    await register({});
    expect(await stored()).toMatchObject({ allocations: [], blocked: 1 });
    await join('n1');
    const { allocations: placed, evaluations: all, blocked } = await stored();
    expect(placed).toMatchObject([{ NodeID: 'n1', ClientStatus: 'pending', DesiredStatus: 'run' }]);
    expect(blocked).toBe(0);
    expect(all.every(({ Status }) => Status === 'complete' || Status === 'canceled')).toBe(true);
  });

  it("keeps each node's usage equal to what its unfinished allocations use", async () => {
    open();
    await join('n1');
    await register({ TaskGroups: [groupDocument({ Count: 3 })] });
    expect((await stored()).usage).toEqual({ n1: 300 });
    const [first] = (await stored()).allocations;
    await report('n1', [first as Allocation], 'failed');
    expect((await stored()).usage).toEqual({ n1: 200 });
    (await stopJob(engine, hostPrincipal, { jobId: 'web', purge: true }))._unsafeUnwrap();
    await clock.settle();
    expect((await stored()).usage).toEqual({ n1: 0 });
  });

  it('runs a long queue of dispatches through a small node, in the order of their coming', async () => {
    open();
    await join('n1');
    await register({ ID: 'work', Type: 'batch', ParameterizedJob: {} });
    const ids: string[] = [];
    for (let n = 0; n < 200; n += 1) {
      const dispatched = (await dispatchJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
      ids.push(dispatched.dispatchedJobId);
    }
    await clock.settle();
    expect(await stored()).toMatchObject({ usage: { n1: 1000 }, blocked: 190 });
    const ran: string[] = [];
    for (let open = true; open; ) {
      const work = (await listNodeWork(engine, { nodeId: 'n1' }))._unsafeUnwrap().value.work;
      ran.push(...work.map(({ allocation }) => allocation.JobID).filter((id) => !ran.includes(id)));
      await report(
        'n1',
        work.map(({ allocation }) => allocation),
        'complete',
      );
      open = work.length > 0;
    }
    expect(ran.length).toBe(200);
    for (let wave = 0; wave < 20; wave += 1) {
      expect([...ran.slice(wave * 10, wave * 10 + 10)].sort()).toEqual(
        [...ids.slice(wave * 10, wave * 10 + 10)].sort(),
      );
    }
    expect(await stored()).toMatchObject({ usage: { n1: 0 }, blocked: 0 });
  });

  it('lets a job that fits pass one that does not', async () => {
    open();
    await join('n1');
    await register({ ID: 'huge', TaskGroups: [groupDocument({}, { Resources: { CPU: 5000, MemoryMB: 10 } })] });
    await register({ ID: 'small' });
    expect((await stored()).allocations.map(({ JobID }) => JobID)).toEqual(['small']);
  });
});

describe('time', () => {
  it('reschedules a failed service after the delay of its policy, by virtual time', async () => {
    open();
    await join('n1');
    await register({});
    const [first] = (await stored()).allocations;
    await report('n1', [first as Allocation], 'failed');
    await clock.advance(29_000);
    expect((await stored()).allocations).toHaveLength(1);
    for (let beat = 0; beat < 2; beat += 1) (await heartbeatNode(engine, hostPrincipal, 'n1'))._unsafeUnwrap();
    await clock.advance(2000);
    const all = (await stored()).allocations;
    expect(all).toHaveLength(2);
    expect(all.find(({ ID }) => ID === first?.ID)?.NextAllocation).not.toBe('');
  });

  it('takes a silent node for down, and moves its work', async () => {
    open();
    await join('n1');
    await register({});
    await join('n2');
    for (let third = 0; third < 4; third += 1) {
      await clock.advance(10_000);
      (await heartbeatNode(engine, hostPrincipal, 'n2'))._unsafeUnwrap();
    }
    await clock.settle();
    const { allocations: all } = await stored();
    const statuses = await engine.storage.read((view) =>
      view.list(nodes).map(({ record }) => [record.ID, record.Status]),
    );
    expect(statuses._unsafeUnwrap()).toEqual([
      ['n1', 'down'],
      ['n2', 'ready'],
    ]);
    expect(all.find(({ NodeID }) => NodeID === 'n1')).toMatchObject({ ClientStatus: 'lost', DesiredStatus: 'stop' });
    expect(all.find(({ NodeID }) => NodeID === 'n2')).toMatchObject({ DesiredStatus: 'run', Name: 'web.app[0]' });
    expect((await heartbeatNode(engine, hostPrincipal, 'n1'))._unsafeUnwrapErr().type).toBe('node_not_found');
  });
});

describe('work that is asked for after an index which the store has not reached', () => {
  it('is everything, when the wait is over: the store is an older copy', async () => {
    open();
    await join('n1');
    await register({});
    const asked = listNodeWork(engine, {
      nodeId: 'n1',
      waiting: { after: 1_000_000, wait: second },
    });
    await clock.advance(2 * second);
    const { value } = (await asked)._unsafeUnwrap();
    expect(value).toMatchObject({ complete: true, work: [{ allocation: { JobID: 'web' } }] });
    expect(value.index).toBeLessThan(1_000_000);
  });
});

describe('reports', () => {
  it('names allocations that the node should not have', async () => {
    open();
    await join('n1');
    const reports = [{ allocationId: 'gone', clientStatus: 'running' as const, clientDescription: '', taskStates: {} }];
    const outcome = (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports }))._unsafeUnwrap();
    expect(outcome.unknown).toEqual(['gone']);
  });

  it('of one allocation in one message count as one change: the last before its end', async () => {
    open();
    await join('n1');
    await register({ Type: 'batch', TaskGroups: [groupDocument({ Count: 2 })] });
    const [first, second] = (await stored()).allocations as [Allocation, Allocation];
    const saying = ({ ID }: Allocation, clientStatus: 'running' | 'complete' | 'failed') => ({
      allocationId: ID,
      clientStatus,
      clientDescription: '',
      taskStates: {},
    });
    const reports = [
      saying(first, 'running'),
      saying(first, 'complete'),
      saying(second, 'running'),
      saying(first, 'failed'),
      saying(first, 'complete'),
    ];
    (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports }))._unsafeUnwrap();
    await clock.settle();
    const after = await stored();
    expect(after.usage).toEqual({ n1: 100 });
    expect(after.allocations.map(({ ClientStatus }) => ClientStatus).sort()).toEqual(['complete', 'running']);
    const read = await engine.storage.read((view) => view.get(jobSummaries, ['default', 'web'])?.record.Summary);
    expect(read._unsafeUnwrap()).toMatchObject({ app: { Complete: 1, Running: 1, Failed: 0, Starting: 0 } });
  });

  it.each([
    ['a day ahead', 24 * 60 * minute],
    ['a day behind', -24 * 60 * minute],
  ])('of a node whose clock is %s are taken for what is possible', async (_clock, off) => {
    open();
    await join('n1');
    const ReschedulePolicy = { Unlimited: true, Delay: 30 * 1_000_000_000, DelayFunction: 'constant' };
    await register({ TaskGroups: [groupDocument({ ReschedulePolicy })] });
    const [first] = (await stored()).allocations as [Allocation];
    await clock.advance(10 * second);
    const at = new Date(clock.now() + off).toISOString();
    const main = { ...dead(true), StartedAt: at, LastRestart: at, FinishedAt: at };
    const failed = {
      allocationId: first.ID,
      clientStatus: 'failed',
      clientDescription: '',
      taskStates: { main },
    } as const;
    (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports: [failed] }))._unsafeUnwrap();
    await clock.advance(15 * second);
    expect((await stored()).allocations).toHaveLength(1);
    (await heartbeatNode(engine, hostPrincipal, 'n1'))._unsafeUnwrap();
    await clock.advance(20 * second);
    expect((await stored()).allocations).toHaveLength(2);
  });

  it('register the services of the group before those of its tasks, in one write, and only what changed later', async () => {
    open();
    const node = describeNode('n1');
    const Attributes = { ...node.Attributes, 'nomad.service_discovery': 'true' };
    (await registerNode(engine, hostPrincipal, { ...node, Attributes }))._unsafeUnwrap();
    const service = (Name: string) => ({ Name, Provider: 'nomad' });
    const group = groupDocument({ Services: [service('outer')], Count: 2 }, { Services: [service('inner')] });
    await register({ TaskGroups: [group] });
    const placed = (await stored()).allocations;
    const rows = async () => {
      const read = await engine.storage.read((view) => ({
        index: view.tableIndex(serviceRegistrations),
        rows: view.list(serviceRegistrations).map(({ record, modifyIndex }) => ({ ...record, modifyIndex })),
      }));
      return read._unsafeUnwrap();
    };
    const before = (await engine.storage.read((view) => view.index))._unsafeUnwrap();
    const running = { main: { ...dead(false), State: 'running' as const, FinishedAt: null } };
    await report('n1', placed, 'running', running);
    const { index, rows: all } = await rows();
    const indexes = (of: string) => all.filter(({ ServiceName }) => ServiceName === of).map((row) => row.CreateIndex);
    expect(indexes('outer')).toEqual([before + 1, before + 1]);
    expect(indexes('inner')).toEqual([before + 2, before + 2]);
    expect(index).toBe(before + 2);
    expect(
      all.every(
        ({ ModifyIndex, CreateIndex, modifyIndex }) => ModifyIndex === CreateIndex && modifyIndex === ModifyIndex,
      ),
    ).toBe(true);
    await report('n1', placed, 'running', running);
    expect(await rows()).toEqual({ index, rows: all });
    await report('n1', placed.slice(0, 1), 'running', { main: dead(false) });
    expect((await rows()).rows.map(({ ServiceName }) => ServiceName)).toEqual(['inner', 'outer', 'outer']);
  });

  it('keep states of tasks that the allocation has, and of no others', async () => {
    const reported = fc.dictionary(
      fc.oneof(fc.constantFrom('main', 'Main', 'main ', '__proto__', 'constructor'), fc.string()),
      fc.constant(dead(false)),
      { maxKeys: 50 },
    );
    await fc.assert(
      fc.asyncProperty(reported, async (states) => {
        open();
        await join('n1');
        await register({ Type: 'batch' });
        await report('n1', (await stored()).allocations, 'complete', states);
        const [allocation] = (await stored()).allocations;
        expect(allocation?.ClientStatus).toBe('complete');
        expect(Object.keys(allocation?.TaskStates ?? {})).toEqual(Object.hasOwn(states, 'main') ? ['main'] : []);
        await engine.stop();
      }),
      { numRuns: 30 },
    );
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`task-${n}`, dead(false)]));
    open();
    await join('n1');
    await register({ Type: 'batch' });
    await report('n1', (await stored()).allocations, 'complete', { ...many, main: dead(false) });
    expect(Object.keys((await stored()).allocations[0]?.TaskStates ?? {})).toEqual(['main']);
  });

  it('never bring a finished allocation back', async () => {
    open();
    await join('n1');
    await register({ Type: 'batch' });
    const all = (await stored()).allocations;
    await report('n1', all, 'complete');
    await report('n1', all, 'running');
    expect((await stored()).allocations).toMatchObject([{ ClientStatus: 'complete' }]);
  });
});
