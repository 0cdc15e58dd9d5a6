import { ok, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  flaky,
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  rerunning,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { commit } from '../../../src/operations/commit.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { drainNode } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { drainLoop } from '../../../src/operations/nodes/drain-loop.js';
import type { ReadView, Storage, WriteView } from '../../../src/ports/storage.js';
import { type Allocation, allocations, isTerminalAllocation } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { group } from '../jobs/world.js';

const COUNT = 60;
/** More than one write marks. */
const PARALLEL = 24;
const migrate = { MaxParallel: PARALLEL, HealthCheck: 'task_states', MinHealthyTime: 10e9, HealthyDeadline: 300e9 };

/** What one run of a work has read and changed. */
interface Run {
  /** How many allocations each of its lists gave. */
  readonly listed: number[];
  /** Allocations that it has asked to leave, by ID. */
  readonly marked: string[];
}

/** The storage, with a note of each run. */
function noted(storage: Storage, runs: Run[]): Storage {
  const over = <V extends ReadView>(view: V, run: Run): V =>
    new Proxy(view, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          if (name === 'put') noteMark(target, args, run);
          const answer: unknown = Reflect.apply(member, target, args);
          if (name === 'list' && args[0] === allocations) run.listed.push((answer as unknown[]).length);
          return answer;
        };
      },
    });
  const begun = (): Run => {
    const run: Run = { listed: [], marked: [] };
    runs.push(run);
    return run;
  };
  return {
    read: (work) => storage.read((view) => work(over(view, begun()))),
    write: (work) => storage.write((view) => work(over<WriteView>(view, begun()))),
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
}

function noteMark(view: ReadView, [table, record]: readonly unknown[], run: Run): void {
  if (table !== allocations) return;
  const { ID, DesiredStatus, DesiredTransition } = record as Allocation;
  const before = view.get(allocations, [ID])?.record;
  const asked = DesiredTransition.Migrate === true && before?.DesiredStatus === 'run' && DesiredStatus === 'run';
  if (asked && before.ClientStatus === (record as Allocation).ClientStatus) run.marked.push(ID);
}

/** The storage, which tells after each write how many allocations run that are to stay. */
function watched(storage: Storage, tell: (staying: number) => void): Storage {
  return {
    read: (work) => storage.read(work),
    write: (work) =>
      storage.write(work).andThen((written) =>
        storage
          .read((view) => view.list(allocations).filter(({ record }) => stays(record)).length)
          .map((staying) => {
            tell(staying);
            return written;
          }),
      ),
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
}

function stays(allocation: Allocation): boolean {
  return (
    allocation.ClientStatus === 'running' &&
    !isTerminalAllocation(allocation) &&
    allocation.DesiredTransition.Migrate !== true
  );
}

interface SettledStore {
  readonly storage: Storage;
  readonly clock: ManualClock;
}

/** A store in which all allocations of a service run on n1, and a clock that has gone so far. */
async function settledStore(Count = COUNT, MaxParallel = PARALLEL): Promise<SettledStore> {
  const [storage, clock] = [memoryStorage(), manualClock()];
  await using cluster = fakeCluster({ storage, clock });
  await cluster.addNode('n1', muchRoom);
  const job = {
    ID: 'web',
    Type: 'service' as const,
    Datacenters: ['*'],
    Update: { MaxParallel: 0 },
    TaskGroups: [group({ Count, Migrate: { ...migrate, MaxParallel } })],
  };
  (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.advance(30 * second);
  expect(await onNode(storage, 'n1')).toHaveLength(Count);
  return { storage, clock };
}

async function onNode(storage: Storage, nodeId: string): Promise<readonly Allocation[]> {
  const read = await storage.read((view) => view.list(allocations).map(({ record }) => record));
  return read._unsafeUnwrap().filter(({ NodeID, ClientStatus }) => NodeID === nodeId && ClientStatus === 'running');
}

async function lastDrain({ storage }: Pick<FakeCluster, 'storage'>): Promise<string | undefined> {
  const read = await storage.read((view) => view.get(nodes, ['n1'])?.record.LastDrain?.Status);
  return read._unsafeUnwrap();
}

const drain = (engine: Engine, deadline: number) =>
  drainNode(engine, hostPrincipal, { nodeId: 'n1', spec: { Deadline: deadline * 1e6, IgnoreSystemJobs: false } });

function engineOver({ storage, clock }: SettledStore, after: number): Engine {
  return createEngine({ storage, clock, ids: sequentialIds({ after }), delivery: recordingDelivery() });
}

/** The IDs of all allocations that were asked to leave, in the runs that counted. */
const markedIn = (runs: readonly Run[]): readonly string[] => runs.flatMap(({ marked }) => marked);

describe('a drain of a large job', () => {
  it('marks few allocations at a time, and has the job evaluated once', async () => {
    const { storage, clock } = await settledStore(200, 100);
    const runs: Run[] = [];
    const engine = engineOver({ storage: noted(storage, runs), clock }, 1e6);
    (await drain(engine, hour))._unsafeUnwrap();
    engine.start();
    await clock.advance(2 * second);
    await engine.stop();
    expect(markedIn(runs)).toHaveLength(100);
    expect(Math.max(...runs.map(({ marked }) => marked.length))).toBeLessThanOrEqual(16);
    const made = await storage.read((view) => view.list(evaluations).map(({ record }) => record));
    const own = made._unsafeUnwrap().filter(({ TriggeredBy }) => TriggeredBy === 'node-drain');
    expect(own).toMatchObject([{ Status: 'complete' }]);
    expect(own[0]?.WaitUntil).toBeUndefined();
  });

  it('never reads all of its allocations at once, and after the first look only what has changed', async () => {
    const { storage, clock } = await settledStore(200, 1);
    const runs: Run[] = [];
    const engine = engineOver({ storage: noted(storage, runs), clock }, 1e6);
    (await drain(engine, hour))._unsafeUnwrap();
    runs.length = 0;
    const ended = new AbortController();
    const looked = drainLoop.run(engine, ended.signal);
    await clock.advance(10 * second);
    expect(markedIn(runs)).toHaveLength(1);
    expect(Math.max(...runs.flatMap(({ listed }) => listed))).toBeLessThanOrEqual(16);
    runs.length = 0;
    const [first] = await onNode(storage, 'n1');
    await commit(engine, hostPrincipal, (tx) =>
      ok(tx.put(allocations, { ...(first as Allocation), ModifyIndex: tx.index })),
    );
    await clock.advance(10 * second);
    const listed = runs.flatMap((run) => run.listed);
    expect(listed.reduce((sum, one) => sum + one, 0)).toBeLessThan(8);
    ended.abort();
    await looked;
  });

  it('at its deadline takes all of them, in parts, and ends', async () => {
    const { storage, clock } = await settledStore();
    const runs: Run[] = [];
    await using cluster = fakeCluster({ storage: noted(storage, runs), clock, ids: sequentialIds({ after: 1e6 }) });
    await cluster.addNode('n1', muchRoom);
    await cluster.addNode('n2', muchRoom);
    (await drain(cluster.engine, -1))._unsafeUnwrap();
    await clock.advance(10 * second);
    expect(new Set(markedIn(runs)).size).toBe(COUNT);
    expect(markedIn(runs)).toHaveLength(COUNT);
    expect(Math.max(...runs.map(({ marked }) => marked.length))).toBeLessThanOrEqual(16);
    expect(await onNode(storage, 'n2')).toHaveLength(COUNT);
    expect(await lastDrain(cluster)).toBe('complete');
  });
});

describe('the limit of a migrate block', () => {
  /** Follows the drain to its end. Other processes may do the same meanwhile. */
  async function follow({ storage, clock }: SettledStore, runs: readonly Run[]): Promise<FakeCluster> {
    const cluster = fakeCluster({ storage, clock, ids: sequentialIds({ after: 2e6 }) });
    await cluster.addNode('n1', muchRoom);
    await cluster.addNode('n2', muchRoom);
    await clock.advance(2 * minute);
    expect(await lastDrain(cluster)).toBe('complete');
    expect(await onNode(storage, 'n2')).toHaveLength(COUNT);
    expect(new Set(markedIn(runs)).size).toBe(COUNT);
    expect(markedIn(runs)).toHaveLength(COUNT);
    return cluster;
  }

  it('is kept by two engines over one store, and nothing leaves twice', async () => {
    const settled = await settledStore();
    const runs: Run[] = [];
    const staying: number[] = [];
    const storage = watched(noted(settled.storage, runs), (count) => staying.push(count));
    const other = engineOver({ storage, clock: settled.clock }, 1e6);
    (await drain(other, hour))._unsafeUnwrap();
    other.start();
    await using _cluster = await follow({ storage, clock: settled.clock }, runs);
    await other.stop();
    expect(Math.min(...staying)).toBe(COUNT - PARALLEL);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 8, 11, 15])('is kept when an engine is killed after %i writes', async (writes) => {
    const settled = await settledStore();
    const runs: Run[] = [];
    const staying: number[] = [];
    const storage = watched(noted(settled.storage, runs), (count) => staying.push(count));
    (await drain(engineOver({ storage, clock: settled.clock }, 1e6), hour))._unsafeUnwrap();
    // A write of a killed process neither begins nor is answered.
    const killed = flaky(storage, {
      write: { calls: (n) => n > writes, instead: () => new ResultAsync(new Promise<never>(() => undefined)) as never },
    });
    engineOver({ storage: killed, clock: settled.clock }, 1.5e6).start();
    await settled.clock.advance(second);
    await using _cluster = await follow({ storage, clock: settled.clock }, runs);
    expect(Math.min(...staying)).toBe(COUNT - PARALLEL);
  });

  /** Services of which two thirds may leave at a time. Their node is drained while another process asks the last third of b to leave. */
  async function drainedMeanwhile(
    counts: Readonly<Record<string, number>>,
    afterWrites: number,
  ): Promise<SettledStore> {
    const [storage, clock] = [memoryStorage(), manualClock()];
    {
      await using cluster = fakeCluster({ storage, clock });
      await cluster.addNode('n1', muchRoom);
      for (const [ID, Count] of Object.entries(counts)) {
        const TaskGroups = [group({ Count, Migrate: { ...migrate, MaxParallel: (Count * 2) / 3 } })];
        const job = { ID, Type: 'service' as const, Datacenters: ['*'], Update: { MaxParallel: 0 }, TaskGroups };
        (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
      }
      await clock.advance(30 * second);
    }
    const own = (await onNode(storage, 'n1')).filter(({ JobID }) => JobID === 'b').map(({ ID }) => ID);
    const last = own.sort().slice((own.length * 2) / 3);
    const askThemToLeave = (view: WriteView) => {
      for (const id of last) {
        const record = view.get(allocations, [id])?.record as Allocation;
        view.put(allocations, {
          ...record,
          DesiredTransition: { ...record.DesiredTransition, Migrate: true },
          ModifyIndex: view.index,
        });
      }
      return ok(undefined);
    };
    (await drain(engineOver({ storage, clock }, 1e6), hour))._unsafeUnwrap();
    let writes = 0;
    const interrupted: Storage = {
      read: (work) => storage.read(work),
      write: (work) => {
        writes += 1;
        return writes === afterWrites + 1
          ? storage.write(askThemToLeave).andThen(() => storage.write(work))
          : storage.write(work);
      },
      waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
      close: () => storage.close(),
    };
    const ended = new AbortController();
    const looked = drainLoop.run(engineOver({ storage: interrupted, clock }, 2e6), ended.signal);
    await clock.advance(2 * second);
    ended.abort();
    await looked;
    return { storage, clock };
  }

  it('is kept when a later part of a decision has lost what it was decided on before the first part was written', async () => {
    const { storage } = await drainedMeanwhile({ a: 12, b: 12 }, 0);
    const stay = (await onNode(storage, 'n1')).filter(stays);
    expect(stay.filter(({ JobID }) => JobID === 'a')).toHaveLength(4);
    expect(stay.filter(({ JobID }) => JobID === 'b')).toHaveLength(4);
  });

  it('leaves no evaluation waiting for parts that were not to leave after all', async () => {
    const { storage } = await drainedMeanwhile({ b: 24 }, 1);
    const stay = (await onNode(storage, 'n1')).filter(stays);
    expect(stay).toHaveLength(8);
    const made = await storage.read((view) => view.list(evaluations).map(({ record }) => record));
    const own = made._unsafeUnwrap().filter(({ TriggeredBy }) => TriggeredBy === 'node-drain');
    expect(own).toMatchObject([{ Status: 'pending' }]);
    expect(own[0]?.WaitUntil).toBeUndefined();
  });

  it('is kept on a store that runs works several times', async () => {
    const settled = await settledStore();
    const staying: number[] = [];
    const storage = watched(rerunning(settled.storage, 1), (count) => staying.push(count));
    (await drain(engineOver({ storage, clock: settled.clock }, 1e6), hour))._unsafeUnwrap();
    await using cluster = fakeCluster({ storage, clock: settled.clock, ids: sequentialIds({ after: 2e6 }) });
    await cluster.addNode('n1', muchRoom);
    await cluster.addNode('n2', muchRoom);
    await settled.clock.advance(2 * minute);
    expect(await lastDrain(cluster)).toBe('complete');
    expect(Math.min(...staying)).toBe(COUNT - PARALLEL);
  });
});
