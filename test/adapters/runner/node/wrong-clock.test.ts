import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal, registerJob } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/input/index.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { day, second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';

const nanos = (milliseconds: number): number => milliseconds * 1_000_000;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface House {
  readonly engine: Engine;
  readonly clock: ManualClock;
}

/** An engine and a runner on one virtual clock, of which the runner's host shows a time that is wrong by so much. */
async function house(wrongBy = 0): Promise<House> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-wrong-clock-'));
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  const wait = ({ signal }: { readonly signal: AbortSignal }): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  const runner = createRunner(
    { ...agentPorts(engine), clock: { ...clock, now: () => clock.now() + wrongBy } },
    { directory, drivers: [functionDriver({ wait })], onStop: 'kill' },
  );
  const starting = runner.start();
  await clock.advance(second);
  (await starting)._unsafeUnwrap();
  cleanups.push(async () => {
    const stopped = runner.stop({ deadline: 0 });
    await clock.advance(60 * second);
    await stopped;
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return { engine, clock };
}

/** A job of one task, which runs until it is ended. */
async function register({ engine }: House, group: object, Type: 'service' | 'batch' = 'service'): Promise<void> {
  const driven = { Driver: 'function', Config: { function: 'wait' } };
  const job = { ID: 'work', Type, Datacenters: ['*'], TaskGroups: [groupDocument({ ...group }, driven)] } as JobInput;
  const registered = await registerJob(engine, hostPrincipal, { job });
  if (registered.isErr()) throw new Error(JSON.stringify(registered.error));
}

async function allocationsOf({ engine }: House): Promise<readonly Allocation[]> {
  const read = await engine.storage.read((view) => view.list(allocations).map(({ record }) => record));
  return read._unsafeUnwrap();
}

/** Lets time pass a little at a time until the allocation is so: real folders are made meanwhile. Gives the time that passed. */
async function until(home: House, holds: (allocation: Allocation) => boolean): Promise<number> {
  const limit = performance.now() + 20_000;
  for (let passed = 0; ; passed += second / 4) {
    const [allocation] = await allocationsOf(home);
    if (allocation !== undefined && holds(allocation)) return passed;
    if (performance.now() > limit) throw new Error(JSON.stringify(allocation));
    await pause(5);
    await home.clock.advance(second / 4);
  }
}

const is =
  (status: string) =>
  ({ ClientStatus }: Allocation): boolean =>
    ClientStatus === status;

const hasRestarted = ({ TaskStates }: Allocation): boolean => (TaskStates?.['main']?.Restarts ?? 0) > 0;

const check = { Name: 'up', Type: 'tcp', Interval: nanos(second), Timeout: nanos(second) };

/** The number of a port at which somebody listens. */
async function openPort(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, () => resolve()));
  cleanups.push(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

describe.each([
  ['a day ahead', day],
  ['a day behind', -day],
])('an agent whose clock is %s of the server', (_what, wrongBy) => {
  it('ends an allocation after its max_run_duration, and not at once', async () => {
    const home = await house(wrongBy);
    await register(home, { MaxRunDuration: nanos(10 * second) }, 'batch');
    await until(home, is('running'));
    await until(home, is('complete'));
    const [allocation] = await allocationsOf(home);
    const lasted = ((allocation?.ModifyTime ?? 0) - (allocation?.CreateTime ?? 0)) / 1_000_000;
    expect(lasted).toBeGreaterThanOrEqual(10 * second);
    expect(lasted).toBeLessThan(15 * second);
  });

  it('judges health by the deadline, counted from the creation of the allocation', async () => {
    const home = await house(wrongBy);
    const Update = {
      HealthCheck: 'checks',
      MinHealthyTime: nanos(2 * second),
      HealthyDeadline: nanos(20 * second),
      ProgressDeadline: nanos(60 * second),
    };
    const Networks = [{ ReservedPorts: [{ Label: 'http', Value: await openPort() }] }];
    const Services = [{ Provider: 'nomad', PortLabel: 'http', Checks: [check] }];
    await register(home, { Update, Networks, Services });
    const took = await until(home, ({ DeploymentStatus }) => typeof DeploymentStatus?.Healthy === 'boolean');
    expect(took).toBeLessThan(5 * second);
    await until(home, ({ DeploymentStatus }) => DeploymentStatus?.Healthy === true);
  });
});

describe('check_restart, after the clock was set', () => {
  /** Nobody listens at the port, so the check fails. */
  const unhealthy = (delay: number, grace: number): object => ({
    RestartPolicy: { Attempts: 5, Interval: nanos(600 * second), Delay: nanos(delay), Mode: 'fail' },
    Networks: [{ DynamicPorts: [{ Label: 'http' }] }],
    Services: [
      {
        Provider: 'nomad',
        PortLabel: 'http',
        Checks: [{ ...check, CheckRestart: { Limit: 2, Grace: nanos(grace) } }],
      },
    ],
  });

  it('restarts an unhealthy task after its grace, although the clock was set back by a day', async () => {
    const home = await house();
    await register(home, unhealthy(second, 5 * second));
    await until(home, is('running'));
    await home.clock.step(-day);
    expect(await until(home, hasRestarted)).toBeLessThan(10 * second);
  });

  it('leaves a new task its grace, although the clock was set forward by a day', async () => {
    const home = await house();
    await register(home, unhealthy(second, 10 * second));
    await until(home, is('running'));
    await home.clock.step(day);
    expect(await until(home, hasRestarted)).toBeGreaterThan(5 * second);
  });

  it('counts the grace from the start, and not from the decision to restart', async () => {
    const home = await house();
    await register(home, unhealthy(20 * second, 10 * second));
    await until(home, hasRestarted);
    await until(home, ({ TaskStates }) => TaskStates?.['main']?.State === 'running');
    const again = ({ TaskStates }: Allocation): boolean => (TaskStates?.['main']?.Restarts ?? 0) > 1;
    expect(await until(home, again)).toBeGreaterThan(5 * second);
  });
});
