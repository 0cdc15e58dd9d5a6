import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';

import type { Ids } from '../../../src/ports/ids.js';
import { type Allocation, allocations, isClientTerminal } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

let engine: Engine;
let clock: ManualClock;
beforeEach(() => {
  clock = manualClock();
  engine = createEngine({
    storage: memoryStorage(),
    clock,
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
  });
  engine.start();
});
afterEach(() => engine.stop());

async function join(id: string): Promise<void> {
  (await registerNode(engine, hostPrincipal, nodeFrom(id)))._unsafeUnwrap();
  await clock.settle();
}

async function register(ID: string, document: JobInput): Promise<void> {
  const job: JobInput = { ID, Type: 'batch', Datacenters: ['*'], ...document };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.settle();
}

const group = (Name: string, CPU: number) => groupDocument({ Name }, { Resources: { CPU, MemoryMB: 10 } });

async function running(): Promise<Allocation[]> {
  const read = await engine.storage.read((view) => view.list(allocations).map(({ record }) => record));
  return read._unsafeUnwrap().filter((allocation) => !isClientTerminal(allocation));
}

const names = async (): Promise<string[]> => (await running()).map(({ JobID, TaskGroup }) => `${JobID}.${TaskGroup}`);

/** Ends everything that runs of the jobs; gives what runs then. */
async function end(...jobIds: string[]): Promise<string[]> {
  const reports = (await running())
    .filter(({ JobID }) => jobIds.includes(JobID))
    .map(({ ID }) => ({ allocationId: ID, clientStatus: 'complete' as const, clientDescription: '', taskStates: {} }));
  (await reportAllocations(engine, hostPrincipal, { nodeId: 'n1', reports }))._unsafeUnwrap();
  await clock.settle();
  return names();
}

/** Later IDs come first. */
const inverted = (digits: string): string =>
  [...digits].map((digit) => (15 - Number.parseInt(digit, 16)).toString(16)).join('');

describe('work that waits for room', () => {
  it('resumes by priority, then by age, whatever its name', async () => {
    await join('n1');
    await register('first', { TaskGroups: [group('a', 1000)] });
    const waiting = [
      ['z-low', 20],
      ['m-old', 50],
      ['a-young', 50],
      ['b-low', 20],
      ['y-high', 80],
    ] as const;
    for (const [name, Priority] of waiting)
      await register(name, { Priority, TaskGroups: [group('a', 990 + Priority / 10)] });
    const order: string[] = [];
    for (let last = ['first.a']; last.length > 0; ) {
      last = await end((last[0] ?? '').slice(0, -2));
      order.push(...last);
    }
    expect(order).toEqual(['y-high.a', 'm-old.a', 'a-young.a', 'z-low.a', 'b-low.a']);
  });

  it('resumes so also where all ask for the same, whatever the IDs of their evaluations', async () => {
    await engine.stop();
    const ids = sequentialIds();
    const falling: Ids = { ...ids, next: (kind) => ids.next(kind).replace(/^[0-9a-f]{8}(?=-)/, inverted) };
    const ports = { storage: memoryStorage(), clock, ids: falling, delivery: recordingDelivery({ clock }) };
    engine = createEngine(ports);
    engine.start();
    await join('n1');
    await register('first', { TaskGroups: [group('a', 1000)] });
    const waiting = Object.entries({ 'z-low': 20, 'm-old': 50, 'a-young': 50, 'b-low': 20, 'y-high': 80 });
    for (const [name, Priority] of waiting) await register(name, { Priority, TaskGroups: [group('a', 900)] });
    const order: string[] = [];
    for (let last = ['first.a']; last.length > 0; ) {
      last = await end((last[0] ?? '').slice(0, -2));
      order.push(...last);
    }
    expect(order).toEqual(['y-high.a', 'm-old.a', 'a-young.a', 'z-low.a', 'b-low.a']);
  });

  it('does not wait behind a sibling that asks for more, after their parent has changed', async () => {
    await join('n1');
    await register('first', { TaskGroups: [group('a', 1000)] });
    const parent = { ParameterizedJob: {} };
    await register('work', { ...parent, TaskGroups: [group('a', 2000)] });
    const large = (await dispatchJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap().dispatchedJobId;
    await register('work', { ...parent, TaskGroups: [group('a', 400)] });
    const small = (await dispatchJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap().dispatchedJobId;
    await clock.settle();
    expect(await end('first')).toEqual([`${small}.a`]);
    expect(large < small).toBe(true);
  });

  it('gets room for each of its groups, also behind one that gets it for the other group only', async () => {
    await join('n1');
    await register('first', { TaskGroups: [group('small', 1000)] });
    await register('work', { ParameterizedJob: {}, TaskGroups: [group('large', 5000), group('small', 300)] });
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push((await dispatchJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap().dispatchedJobId);
    }
    await clock.settle();
    expect((await end('first')).sort()).toEqual(ids.map((id) => `${id}.small`).sort());
  });
});

describe('a start of an engine', () => {
  const again = async (): Promise<void> => {
    await engine.stop();
    const { storage, delivery } = engine;
    engine = createEngine({ storage, clock, ids: sequentialIds(), delivery });
    engine.start();
    await clock.settle();
  };
  const stored = async () =>
    (await engine.storage.read((view) => ({ index: view.index, rows: view.list(evaluations) })))._unsafeUnwrap();

  it('writes nothing for blocked evaluations for which there is still no room', async () => {
    await join('n1');
    await register('first', { TaskGroups: [group('a', 1000)] });
    await register('batch', { TaskGroups: [group('a', 500), group('b', 600)] });
    await register('service', { Type: 'service', TaskGroups: [group('a', 500)] });
    await register('system', { Type: 'system', TaskGroups: [group('a', 500)] });
    const before = await stored();
    expect(before.rows.filter(({ record }) => record.Status === 'blocked')).toHaveLength(3);
    await clock.advance(60_000);
    const settled = await stored();
    await again();
    const after = await stored();
    expect(after.rows.map(({ record, modifyIndex }) => [record, modifyIndex])).toEqual(
      settled.rows.map(({ record, modifyIndex }) => [record, modifyIndex]),
    );
    await again();
    expect((await stored()).index).toBe(after.index);
  });

  it('writes them when they have another reason', async () => {
    await join('n1');
    await register('first', { TaskGroups: [group('a', 1000)] });
    await register('waiting', { TaskGroups: [group('a', 900)] });
    const blocked = async () => (await stored()).rows.find(({ record }) => record.Status === 'blocked')?.record;
    expect((await blocked())?.FailedTGAllocs?.['a']?.NodesEvaluated).toBe(1);
    await join('n2');
    await register('second', { TaskGroups: [group('a', 1000)] });
    expect((await running()).map(({ JobID }) => JobID).sort()).toEqual(['first', 'waiting']);
    expect((await blocked())?.JobID).toBe('second');
  });
});
