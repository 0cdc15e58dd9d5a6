import { afterEach, describe, expect, test } from 'vitest';
import { manualClock, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine, type Engine } from '../../../src/engine.js';
import { defineFunction, type FunctionDefinition } from '../../../src/functions/define-function.js';
import { runs } from '../../../src/functions/run.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { clockOver, StoreClock } from '../../../src/operations/context/store-clock.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { listDeliveries } from '../../../src/operations/notifications/log/list-deliveries.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { heartbeatNode, registerNode } from '../../../src/operations/scheduling/register-node.js';
import { type PutVariableInput, putVariable } from '../../../src/operations/variables/write-variable.js';

import type { Storage } from '../../../src/ports/storage.js';
import { nodes } from '../../../src/scheduler/node.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { clockConformance } from '../../conformance/clock/index.js';
import { mortal } from '../../support/function-processes.js';
import { type HostClock, type Hosts, hostsOverOneStore } from '../../support/hosts.js';
import { nodeFrom } from '../../support/nodes.js';
import { batchJob } from '../jobs/world.js';
import { create, must, owner, publish, workspaceInput } from '../notifications/engine-setup.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) void end();
});

describe('the clock of an engine over a store with a clock', () => {
  const made = new Map<object, ReturnType<typeof manualClock>>();
  const storeOf = (clock: object) => made.get(clock) as ReturnType<typeof manualClock>;
  clockConformance(test, {
    create: () => {
      const store = manualClock();
      const { hold: _, ...host } = manualClock();
      // Both pass alike; only the one of the store is set.
      const clock = new StoreClock({ ...host, monotonic: store.monotonic, sleep: store.sleep }, () => store.now());
      made.set(clock, store);
      return clock;
    },
    pass: (clock, by) => storeOf(clock).advance(by),
    step: async (clock, by) => {
      await storeOf(clock).step(by);
      await storeOf(clock).advance(second);
    },
  });

  test('is the clock of the host when the store has none, or when tests move it', async () => {
    const { storage, host } = await hostsOverOneStore();
    const { now: _, ...without } = storage;
    const clock = host(0);
    expect(clockOver(clock, without)).toBe(clock);
    const manual = manualClock();
    expect(clockOver(manual, storage)).toBe(manual);
    expect(clockOver(clock, storage)).toBeInstanceOf(StoreClock);
  });
});

interface Pair {
  readonly world: Hosts;
  readonly hosts: readonly HostClock[];
  readonly engines: readonly [Engine, Engine];
  readonly sent: () => number;
  readonly answer: (status: number) => void;
}

/** Two engines on hosts whose clocks are an hour ahead and an hour behind. */
async function pair(): Promise<Pair> {
  const world = await hostsOverOneStore();
  const hosts = [world.host(hour), world.host(-hour)];
  const ids = sequentialIds();
  const deliveries = hosts.map(() => recordingDelivery());
  const engines = hosts.map((clock, at) =>
    createEngine({ storage: world.storage, clock, ids, delivery: deliveries[at] as (typeof deliveries)[number] }),
  ) as [Engine, Engine];
  ends.push(...engines.map((engine) => () => engine.stop({ deadline: 0 })));
  return {
    ...{ world, hosts, engines },
    sent: () => deliveries.reduce((sum, { requests }) => sum + requests.length, 0),
    answer: (status) => {
      for (const delivery of deliveries) delivery.answer({ status });
    },
  };
}

async function withFunctions(
  { engines: [first, other], world }: Pair,
  definitions: readonly FunctionDefinition<never, unknown>[],
) {
  const both = [createFunctions(first, definitions), createFunctions(other, definitions)] as const;
  for (const functions of both) await functions.start();
  ends.push(...both.map((functions) => () => functions.stop({ deadline: 0 })));
  await world.clock.settle();
  return both;
}

/** Steps of the clock of a host, which mean nothing, and of the store, which mean the same to all. */
const steps = [
  ['nothing is set', () => undefined],
  ['a host is set forward', ({ hosts }: Pair) => hosts[0]?.step(hour)],
  ['a host is set back', ({ hosts }: Pair) => hosts[0]?.step(-2 * hour)],
  ['both hosts are set', ({ hosts }: Pair) => hosts.map((host) => host.step(3 * hour))],
] as const;

describe('hosts whose clocks are two hours apart', () => {
  test.each(steps)('start a delayed run at its time by the clock of the store, once: %s', async (_name, set) => {
    const both = await pair();
    const { clock } = both.world;
    const began: number[] = [];
    const work = defineFunction<void, void, void>({ name: 'work' }, () => void began.push(clock.now()));
    const [first, other] = await withFunctions(both, [work]);
    const due = clock.now() + 30 * minute;
    await first.enqueue(work, undefined, { delay: '30m' });
    await other.enqueue(work, undefined, { runAt: new Date(due) });
    set(both);
    await clock.advance(29 * minute);
    expect(began).toEqual([]);
    await clock.advance(2 * minute);
    expect(began).toHaveLength(2);
    for (const at of began) expect(at - due).toBeLessThanOrEqual(second);
  });

  test.each(steps)('launch a schedule once, and repeat what has failed at its time: %s', async (_name, set) => {
    const both = await pair();
    const { clock } = both.world;
    const began: string[] = [];
    const note = (what: string): void =>
      void began.push(`${what} ${new Date(clock.now()).toISOString().slice(11, 16)}`);
    const hourly = defineFunction<void, void, void>({ name: 'hourly', cron: '15 * * * *' }, () => note('hourly'));
    const retry = { attempts: 2, backoff: 'fixed', delay: '40m', jitter: 0 } as const;
    const failing = defineFunction<void, void, void>({ name: 'failing', retry }, () => {
      note('failing');
      throw new Error('not now');
    });
    const [first] = await withFunctions(both, [hourly, failing]);
    await first.enqueue(failing, undefined);
    await clock.advance(10 * minute);
    set(both);
    await clock.advance(2 * hour);
    expect(began).toEqual(['failing 00:00', 'hourly 00:15', 'failing 00:40', 'hourly 01:15']);
  });

  test.each([hour, -hour])('keep what is under way when the clock of the store is set by %d ms', async (by) => {
    const both = await pair();
    const { clock } = both.world;
    let began = 0;
    let finish = (): void => undefined;
    const long = defineFunction<void, void, void>({ name: 'long' }, () => {
      began += 1;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    const [first] = await withFunctions(both, [long]);
    await first.enqueue(long, undefined);
    await clock.advance(minute);
    await clock.step(by);
    await clock.advance(10 * minute);
    expect(began).toBe(1);
    finish();
    await clock.advance(second);
    const states = await must(both.world.storage.read((view) => view.list(runs).map(({ record }) => record.state)));
    expect(states).toEqual(['succeeded']);
    expect(began).toBe(1);
  });

  test.each([0, hour, -hour])('a killed process loses what it held, when the store is set by %d ms too', async (by) => {
    const world = await hostsOverOneStore();
    const { clock } = world;
    const ids = sequentialIds();
    const life = mortal(world.storage);
    const began: string[] = [];
    const processOn = async (name: string, storage: Storage, host: HostClock) => {
      const engine = createEngine({ storage, clock: host, ids, delivery: recordingDelivery() });
      const work = defineFunction<void, void, void>({ name: 'work' }, () => {
        began.push(name);
        return name === 'first' ? new Promise(() => undefined) : undefined;
      });
      const functions = createFunctions(engine, [work]);
      await functions.start();
      ends.push(() => functions.stop({ deadline: 0 }));
      await functions.enqueue(work, undefined);
    };
    await processOn('first', { ...life.storage, now: () => clock.now() }, world.host(hour));
    await clock.advance(second);
    await processOn('second', world.storage, world.host(-hour));
    await clock.advance(second);
    expect(began).toEqual(['first', 'second']);
    life.kill();
    await clock.step(by);
    await clock.advance(10 * second);
    expect(began).toEqual(['first', 'second', 'second']);
  });

  // Whoever waits for an interval notices that the clock was set back, so only a step forward shortens it.
  test.each([
    [hour, [30, 40]],
    [-hour, [40, 60]],
  ])('a due time is off by a step of the store clock at most, once: %d ms', async (by, minutes) => {
    const both = await pair();
    const { clock } = both.world;
    const began: number[] = [];
    const work = defineFunction<void, void, void>({ name: 'work' }, () => void began.push(clock.monotonic()));
    const [first] = await withFunctions(both, [work]);
    const from = clock.monotonic();
    await first.enqueue(work, undefined, { delay: '1h' });
    await clock.advance(30 * minute);
    await clock.step(by);
    await first.enqueue(work, undefined, { delay: '10m' });
    await clock.advance(4 * hour);
    expect(began.map((at) => Math.round((at - from) / minute))).toEqual(minutes);
  });

  test.each(steps)('repeat a delivery at its time, once: %s', async (_name, set) => {
    const both = await pair();
    const { clock } = both.world;
    const [first, other] = both.engines;
    await must(putWorkspace(first, hostPrincipal, workspaceInput));
    const { id } = await must(create(first));
    const before = both.sent();
    both.answer(503);
    first.start();
    other.start();
    await clock.settle();
    await publish(other);
    await clock.advance(second);
    expect(both.sent()).toBe(before + 1);
    const [delivery] = (await must(listDeliveries(first, owner, { configurationId: id }))).items;
    const next = Date.parse(String(delivery?.nextAttemptAt));
    expect(next).toBeGreaterThan(clock.now());
    set(both);
    both.answer(204);
    await clock.advanceTo(next - second);
    expect(both.sent()).toBe(before + 1);
    await clock.advanceTo(next + 2 * second);
    await clock.advance(hour);
    expect(both.sent()).toBe(before + 2);
    const [ended] = (await must(listDeliveries(other, owner, { configurationId: id }))).items;
    expect(ended?.outcome).toBe('delivered');
  });

  test('launch a periodic job once for each of its times', async () => {
    const both = await pair();
    const { clock, storage } = both.world;
    const [first, other] = both.engines;
    const job = batchJob('report', { Periodic: { Specs: ['0 * * * *'] } });
    await must(registerJob(first, hostPrincipal, { job }));
    first.start();
    other.start();
    await clock.advance(90 * minute);
    both.hosts[0]?.step(hour);
    await clock.advance(hour);
    const query = { index: 'by_parent', prefix: ['default', 'report'] };
    const children = await must(storage.read((view) => view.list(jobs, query).map(({ record }) => record.ID)));
    const times = children.map((id) => new Date(Number(id.split('-').at(-1)) * 1000).toISOString());
    expect(times).toEqual(['2026-01-01T01:00:00.000Z', '2026-01-01T02:00:00.000Z']);
  });

  test.each([0, hour, -hour])('a node is down after its silence and not before, the store set by %d ms', async (by) => {
    const both = await pair();
    const { clock, storage } = both.world;
    const [first, other] = both.engines;
    first.start();
    other.start();
    await must(registerNode(first, hostPrincipal, nodeFrom('n1')));
    const status = () => must(storage.read((view) => view.get(nodes, ['n1'])?.record.Status));
    for (let beat = 0; beat < 20; beat += 1) {
      await clock.advance(5 * second);
      if (beat === 10) await clock.step(by);
      await must(heartbeatNode(beat % 2 === 0 ? first : other, hostPrincipal, 'n1'));
    }
    expect(await status()).toBe('ready');
    await clock.advance(2 * minute);
    expect(await status()).toBe('down');
  });
});

describe('a lock of a variable, between hosts whose clocks are two hours apart', () => {
  const ttl = 20 * 1e9;
  const put = async (engine: Engine, input: Partial<PutVariableInput>) =>
    must(putVariable(engine, hostPrincipal, { path: 'leader', items: { k: 'v' }, ...input }));

  test.each([0, hour, -hour])('is neither lost while it is renewed nor held for ever: %d ms', async (by) => {
    const both = await pair();
    const { clock } = both.world;
    const [first, other] = both.engines;
    first.start();
    other.start();
    const held = await put(first, { lock: 'acquire', ttl, lockDelay: 1e9 });
    const lockId = (held.value as { Lock?: { ID: string } }).Lock?.ID ?? '';
    expect(lockId).not.toBe('');
    const isFree = async () => !(await put(other, { lock: 'acquire', lockId: 'mine', ttl, lockDelay: 1e9 })).conflict;
    for (let beat = 0; beat < 8; beat += 1) {
      await clock.advance(10 * second);
      if (beat === 4) await clock.step(by);
      expect(await isFree()).toBe(false);
      expect((await put(first, { lock: 'acquire', lockId, ttl, lockDelay: 1e9 })).conflict).toBe(false);
    }
    await clock.advance(19 * second);
    expect(await isFree()).toBe(false);
    await clock.advance(3 * second);
    expect(await isFree()).toBe(true);
  });
});
