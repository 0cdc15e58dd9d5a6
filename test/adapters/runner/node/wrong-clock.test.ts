import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import type { Clock } from '../../../../src/ports/clock.js';
import type { Allocation } from '../../../../src/scheduler/allocation.js';
import { day, second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { afterwards, endVirtualRunners, type VirtualRunner, virtualRunner } from './virtual-runner.js';

const nanos = (milliseconds: number): number => milliseconds * 1_000_000;
endVirtualRunners();

/** A runner whose host shows a time that is wrong by so much. */
function wrongRunner(wrongBy = 0): Promise<VirtualRunner> {
  const wait = ({ signal }: { readonly signal: AbortSignal }): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  const wrong = (clock: Clock): Clock => ({ ...clock, now: () => clock.now() + wrongBy });
  return virtualRunner({ wait, ports: (given) => ({ ...given, clock: wrong(given.clock) }) });
}

/** A job of one task, which runs until it is ended. */
async function register(
  { engine }: VirtualRunner,
  group: object,
  Type: 'service' | 'batch' = 'service',
): Promise<void> {
  const driven = { Driver: 'function', Config: { function: 'wait' } };
  const job = { ID: 'work', Type, Datacenters: ['*'], TaskGroups: [groupDocument({ ...group }, driven)] } as JobInput;
  const registered = await registerJob(engine, hostPrincipal, { job });
  if (registered.isErr()) throw new Error(JSON.stringify(registered.error));
}

/** Lets time pass until the one allocation is so. */
function until(runner: VirtualRunner, holds: (allocation: Allocation) => boolean): Promise<number> {
  return runner.until(([allocation]) => allocation !== undefined && holds(allocation));
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
  afterwards(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

describe.each([
  ['a day ahead', day],
  ['a day behind', -day],
])('an agent whose clock is %s of the server', (_what, wrongBy) => {
  it('ends an allocation after its max_run_duration, and not at once', async () => {
    const runner = await wrongRunner(wrongBy);
    await register(runner, { MaxRunDuration: nanos(10 * second) }, 'batch');
    await until(runner, is('running'));
    await until(runner, is('complete'));
    const [allocation] = await runner.allocations();
    const lasted = ((allocation?.ModifyTime ?? 0) - (allocation?.CreateTime ?? 0)) / 1_000_000;
    expect(lasted).toBeGreaterThanOrEqual(10 * second);
    expect(lasted).toBeLessThan(15 * second);
  });

  it('judges health by the deadline, counted from the creation of the allocation', async () => {
    const runner = await wrongRunner(wrongBy);
    const Update = {
      HealthCheck: 'checks',
      MinHealthyTime: nanos(2 * second),
      HealthyDeadline: nanos(20 * second),
      ProgressDeadline: nanos(60 * second),
    };
    const Networks = [{ ReservedPorts: [{ Label: 'http', Value: await openPort() }] }];
    const Services = [{ Provider: 'nomad', PortLabel: 'http', Checks: [check] }];
    await register(runner, { Update, Networks, Services });
    const took = await until(runner, ({ DeploymentStatus }) => typeof DeploymentStatus?.Healthy === 'boolean');
    expect(took).toBeLessThan(5 * second);
    await until(runner, ({ DeploymentStatus }) => DeploymentStatus?.Healthy === true);
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
    const runner = await wrongRunner();
    await register(runner, unhealthy(second, 5 * second));
    await until(runner, is('running'));
    await runner.clock.step(-day);
    expect(await until(runner, hasRestarted)).toBeLessThan(10 * second);
  });

  it('leaves a new task its grace, although the clock was set forward by a day', async () => {
    const runner = await wrongRunner();
    await register(runner, unhealthy(second, 10 * second));
    await until(runner, is('running'));
    await runner.clock.step(day);
    expect(await until(runner, hasRestarted)).toBeGreaterThan(5 * second);
  });

  it('counts the grace from the start, and not from the decision to restart', async () => {
    const runner = await wrongRunner();
    await register(runner, unhealthy(20 * second, 10 * second));
    await until(runner, hasRestarted);
    await until(runner, ({ TaskStates }) => TaskStates?.['main']?.State === 'running');
    const again = ({ TaskStates }: Allocation): boolean => (TaskStates?.['main']?.Restarts ?? 0) > 1;
    expect(await until(runner, again)).toBeGreaterThan(5 * second);
  });
});
