import { afterEach, describe, expect, it } from 'vitest';
import {
  flaky,
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { heartbeatNode, registerNode } from '../../../src/operations/scheduling/register-node.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { NodeDescription } from '../../../src/ports/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const second = 1000;
const hour = 3_600_000;
const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

function start(storage: Storage, clock: Clock): Engine {
  const engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery() });
  engines.push(engine);
  engine.start();
  return engine;
}

const description = (id: string): NodeDescription => nodeFrom(id);
const join = async (engine: Engine, id: string) =>
  (await registerNode(engine, hostPrincipal, description(id)))._unsafeUnwrap();

/** A node that runs one allocation of a service, and was heard of just now. */
async function running(storage = memoryStorage()): Promise<{ engine: Engine; clock: ManualClock; storage: Storage }> {
  const clock = manualClock();
  const engine = start(storage, clock);
  await join(engine, 'n1');
  const job = { ID: 'web', Datacenters: ['*'], TaskGroups: [groupDocument()] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await clock.settle();
  return { engine, clock, storage };
}

async function stateOf(storage: Storage): Promise<{ node: string | undefined; allocations: readonly string[] }> {
  const read = await storage.read((view) => ({
    node: view.get(nodes, ['n1'])?.record.Status,
    allocations: view.list(allocations).map(({ record }) => record.ClientStatus),
  }));
  return read._unsafeUnwrap();
}

const alive = { node: 'ready', allocations: ['pending'] };

describe('a node that is silent', () => {
  it('is down after the time to live, and what it ran is lost', async () => {
    const { clock, storage } = await running();
    await clock.advance(30 * second - 1);
    expect(await stateOf(storage)).toEqual(alive);
    await clock.advance(1);
    expect(await stateOf(storage)).toEqual({ node: 'down', allocations: ['lost'] });
  });

  it('is not down while its heartbeats come', async () => {
    const { engine, clock, storage } = await running();
    for (let beat = 0; beat < 20; beat += 1) {
      await clock.advance(29 * second);
      expect((await heartbeatNode(engine, hostPrincipal, 'n1')).isOk()).toBe(true);
    }
    expect(await stateOf(storage)).toEqual(alive);
  });

  it.each([5, 36, 3600, 86_400])('has one full time to live after the server was away for %d s', async (away) => {
    const { engine, clock, storage } = await running();
    await clock.advance(20 * second);
    await engine.stop();
    await clock.advance(away * second);
    const next = start(storage, clock);
    await clock.advance(30 * second - 1);
    expect(await stateOf(storage)).toEqual(alive);
    await heartbeatNode(next, hostPrincipal, 'n1');
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
    await clock.advance(second);
    expect((await stateOf(storage)).node).toBe('down');
  });

  it('has one full time to live after the host was started again, whose clock counts from elsewhere', async () => {
    const { engine, clock, storage } = await running();
    await engine.stop();
    const other = { ...clock, timeline: 'another run of the host', monotonic: () => clock.monotonic() - 1e9 };
    const next = start(storage, other);
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
    await heartbeatNode(next, hostPrincipal, 'n1');
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
    await clock.advance(2 * second);
    expect((await stateOf(storage)).node).toBe('down');
  });

  it.each([hour, -hour])('is judged by how long it is silent, not by a clock that was set by %d ms', async (by) => {
    const { engine, clock, storage } = await running();
    await clock.advance(20 * second);
    await clock.step(by);
    await clock.advance(9 * second);
    expect(await stateOf(storage)).toEqual(alive);
    await heartbeatNode(engine, hostPrincipal, 'n1');
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
    await clock.advance(second);
    expect((await stateOf(storage)).node).toBe('down');
  });

  it('is not charged with the time for which the server itself was stopped', async () => {
    const { engine, clock, storage } = await running();
    await clock.advance(10 * second);
    await clock.pause(hour);
    expect(await stateOf(storage)).toEqual(alive);
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
    await heartbeatNode(engine, hostPrincipal, 'n1');
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
  });

  it('is not charged with the time for which the store failed', async () => {
    let failing = false;
    const error = { type: 'storage_failed', reason: 'full', message: 'The disk is full.' } as const;
    const storage = flaky(memoryStorage(), { write: { calls: () => failing, error: error as never } });
    const { engine, clock } = await running(storage);
    failing = true;
    for (let beat = 0; beat < 6; beat += 1) {
      await clock.advance(10 * second);
      expect((await heartbeatNode(engine, hostPrincipal, 'n1')).isErr()).toBe(true);
    }
    failing = false;
    await clock.advance(20 * second);
    expect(await stateOf(storage)).toEqual(alive);
    expect((await heartbeatNode(engine, hostPrincipal, 'n1')).isOk()).toBe(true);
    await clock.advance(29 * second);
    expect(await stateOf(storage)).toEqual(alive);
  });

  it('is watched by several engines on one store, each by what it hears itself', async () => {
    const { clock, storage } = await running();
    await clock.advance(20 * second);
    start(storage, clock);
    await clock.advance(10 * second);
    expect((await stateOf(storage)).node).toBe('down');
    await clock.advance(hour);
    expect((await stateOf(storage)).allocations).toEqual(['lost']);
  });
});
