import { describe, expect, it } from 'vitest';
import { FunctionSlots } from '../../../../adapters/runner/allocation/function-slots.js';
import { createRunner } from '../../../../adapters/runner/index.js';
import { hostPrincipal } from '../../../../src/index.js';
import type { Allocation } from '../../../../src/scheduler/allocation.js';
import { endVirtualRunners, virtualRunner } from './virtual-runner.js';

endVirtualRunners();

const call = (name: string) => ({ Name: name, Driver: 'function', Config: { function: 'wait' } });
const job = (ID: string, Tasks: object[] = [call('t')]) =>
  ({ ID, Type: 'batch', TaskGroups: [{ Name: 'g', Tasks }] }) as never;

const statesOf = (all: readonly Allocation[]): string[] =>
  all.map(({ TaskStates }) => Object.values(TaskStates ?? {})[0]?.State ?? '').sort();

describe('functions of documents', () => {
  it('ask for nothing, and as many run at once as the runner takes; the others say what they wait for', async () => {
    const finish: (() => void)[] = [];
    const wait = (): Promise<void> => new Promise((resolve) => finish.push(resolve));
    // Far less than one of them asked for before.
    const { engine, until } = await virtualRunner({ wait, options: { concurrency: 2, cpu: 10, memory: 10, disk: 10 } });
    const box = engine.as(hostPrincipal);
    for (const id of ['a', 'b', 'c', 'd']) (await box.jobs.register(job(id)))._unsafeUnwrap();
    let seen: readonly Allocation[] = [];
    await until((all) => {
      seen = all;
      return statesOf(all).join() === 'pending,pending,running,running' && all.every(({ TaskStates }) => TaskStates);
    });
    expect(seen[0]?.AllocatedResources).toMatchObject({
      Tasks: { t: { Cpu: { CpuShares: 0 }, Memory: { MemoryMB: 0 } } },
      Shared: { DiskMB: 0 },
    });
    await until((all) => {
      const waiting = all.filter(({ TaskStates }) => TaskStates?.['t']?.State === 'pending');
      return waiting.every(({ TaskStates }) =>
        TaskStates?.['t']?.Events?.some(({ Message }) => /2 allocations run functions.*concurrency/.test(Message)),
      );
    });
    finish.shift()?.();
    await until((all) => {
      seen = all;
      return statesOf(all).join() === 'dead,pending,running,running';
    });
    const waits = seen.find(({ TaskStates }) => TaskStates?.['t']?.State === 'pending')?.JobID ?? '';
    (await box.jobs.stop(waits))._unsafeUnwrap();
    await until((all) => statesOf(all).join() === 'dead,dead,running,running');
    for (const end of finish.splice(0)) end();
    await until((all) => statesOf(all).join() === 'dead,dead,dead,dead');
    expect(finish).toHaveLength(0);
  });

  it('of one allocation count once', async () => {
    let running = 0;
    const wait = async (): Promise<void> => {
      running += 1;
      await new Promise(() => undefined);
    };
    const { engine, until } = await virtualRunner({ wait, options: { concurrency: 1 } });
    (await engine.as(hostPrincipal).jobs.register(job('two', [call('t'), call('u')])))._unsafeUnwrap();
    await until(() => running === 2);
  });

  it.each([0, -1, 1.5, '2', Number.NaN])('are not limited by %j', (concurrency) => {
    expect(() => createRunner({} as never, { drivers: [], concurrency: concurrency as number })).toThrow(TypeError);
  });
});

describe('slots', () => {
  const never = new AbortController().signal;
  const noWait = (): void => undefined;

  it('are given in the order of asking, and back when they are released once', async () => {
    const slots = new FunctionSlots(1);
    const first = await slots.take('a', never, noWait);
    const got: string[] = [];
    const takes = ['b', 'c'].map((id) =>
      slots.take(id, never, noWait).then((slot) => {
        got.push(id);
        return slot;
      }),
    );
    first?.release();
    first?.release();
    const second = await takes[0];
    expect(got).toEqual(['b']);
    second?.release();
    await takes[1];
    expect(got).toEqual(['b', 'c']);
  });

  it('are not lost by one that is given up while it waits', async () => {
    const slots = new FunctionSlots(1);
    const first = await slots.take('a', never, noWait);
    const over = new AbortController();
    const second = slots.take('b', over.signal, noWait);
    const third = slots.take('c', never, noWait);
    over.abort();
    expect(await second).toBeUndefined();
    first?.release();
    expect(await third).toBeDefined();
  });
});
