import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { createRunner, rawExecDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { allocations } from '../../../../src/scheduler/allocation.js';
import { patience } from '../../../support/patience.js';

const second = 1_000_000_000;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function engineWithRunner(): Promise<Engine> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-checks-'));
  const ports = { clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
  const engine = createEngine({ storage: memoryStorage(), ...ports });
  engine.start();
  const runner = createRunner(agentPorts(engine), { directory, drivers: [rawExecDriver()], onStop: 'kill' });
  (await runner.start())._unsafeUnwrap();
  cleanups.push(async () => {
    await runner.stop();
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return engine;
}

/** The tasks that have restarted once, woken by changes of the store. */
async function restarted(engine: Engine, wanted: number): Promise<string[]> {
  const limit = AbortSignal.timeout(patience);
  for (;;) {
    const read = await engine.storage.read((view) => ({
      index: view.index,
      states: view.list(allocations).flatMap(({ record }) => Object.entries(record.TaskStates ?? {})),
    }));
    const { index, states } = read._unsafeUnwrap();
    const names = states.filter(([, { Restarts }]) => Restarts > 0).map(([name]) => name);
    if (names.length >= wanted || limit.aborted) return names.sort();
    await engine.storage.waitForChange([allocations], index, limit);
  }
}

describe('a service whose check keeps failing', () => {
  it.each<[string, object, string[]]>([
    ['the task that it names', { TaskName: 'first' }, ['first']],
    ['all tasks of its group, when it names none', {}, ['first', 'second']],
  ])('restarts %s', async (_what, named, expected) => {
    const engine = await engineWithRunner();
    const task = (Name: string) => ({
      Name,
      Driver: 'raw_exec',
      KillSignal: 'SIGTERM',
      KillTimeout: second / 10,
      Config: { command: '/bin/sleep', args: ['60'] },
      Resources: { CPU: 10, MemoryMB: 10 },
    });
    // A port at which nobody listens at the port.
    const check = { Type: 'tcp', Interval: second, Timeout: second, CheckRestart: { Limit: 1, Grace: 0 } };
    const job = {
      ID: 'web',
      Type: 'service',
      Datacenters: ['*'],
      TaskGroups: [
        {
          Name: 'g',
          EphemeralDisk: { SizeMB: 200 },
          Networks: [{ DynamicPorts: [{ Label: 'http' }] }],
          RestartPolicy: { Attempts: 5, Interval: 60 * second, Delay: 0, Mode: 'fail' },
          Services: [{ PortLabel: 'http', Provider: 'nomad', ...named, Checks: [check] }],
          Tasks: [task('first'), task('second')],
        },
      ],
    } as JobInput;
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    expect(await restarted(engine, expected.length)).toEqual(expected);
  });
});
