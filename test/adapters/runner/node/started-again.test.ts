import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, hostPrincipal } from '../../../../src/index.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { allocations } from '../../../../src/scheduler/allocation.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';
import { settled } from '../../../support/settled.js';
import { afterwards, endVirtualRunners } from './virtual-runner.js';

endVirtualRunners();

/** A runner that is started and stopped by the test; its job's one task ends by itself at once. */
function restartable(where: 'with a directory' | 'without one') {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-again-'));
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  let runs = 0;
  const count = async (): Promise<void> => {
    runs += 1;
  };
  const drivers = [functionDriver({ count })];
  const kept = where === 'without one' ? {} : { directory: folder };
  const runner = createRunner(agentPorts(engine), { drivers, onStop: 'kill', ...kept });
  const over = async <T>(work: PromiseLike<T>): Promise<T> => {
    let isOver = false;
    const watched = Promise.resolve(work).finally(() => {
      isOver = true;
    });
    const limit = performance.now() + patience;
    while (!isOver && performance.now() < limit) {
      await settled();
      await clock.advance(second / 10);
    }
    return watched;
  };
  afterwards(async () => {
    await over(runner.stop({ deadline: 0 }));
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const register = async (): Promise<void> => {
    const group = groupDocument({}, { Driver: 'function', Config: { function: 'count' } });
    const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], TaskGroups: [group] };
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    for (let passed = 0; passed < 20; passed += 1) {
      await settled();
      await clock.advance(second / 10);
    }
  };
  const seen = async () =>
    (
      await engine.storage.read((view) => ({
        runs,
        statuses: view.list(allocations).map(({ record }) => record.ClientStatus),
        nodes: view.list(nodes).map(({ record }) => record.Status),
      }))
    )._unsafeUnwrap();
  return { runner, over, register, seen };
}

it.each(['with a directory', 'without one'] as const)(
  'a runner that was stopped can be started again: %s',
  async (where) => {
    const { runner, over, register, seen } = restartable(where);
    (await over(runner.start()))._unsafeUnwrap();
    await over(runner.stop({ deadline: 0 }));
    (await over(runner.start()))._unsafeUnwrap();
    await register();
    expect(await seen()).toEqual({ runs: 1, statuses: ['complete'], nodes: ['ready'] });
  },
);

it.each(['with a directory', 'without one'] as const)('a start during the stop waits for it: %s', async (where) => {
  const { runner, over, register, seen } = restartable(where);
  (await over(runner.start()))._unsafeUnwrap();
  const stopped = runner.stop({ deadline: 0 });
  const started = runner.start();
  await over(stopped);
  (await over(started))._unsafeUnwrap();
  await register();
  expect(await seen()).toEqual({ runs: 1, statuses: ['complete'], nodes: ['ready'] });
});

it('a start that waits for a stop begins nothing after another stop', async () => {
  const { runner, over, register, seen } = restartable('without one');
  (await over(runner.start()))._unsafeUnwrap();
  const stopped = runner.stop({ deadline: 0 });
  const started = runner.start();
  await over(runner.stop({ deadline: 0 }));
  await over(stopped);
  (await over(started))._unsafeUnwrap();
  await register();
  expect(await seen()).toEqual({ runs: 0, statuses: [], nodes: ['down'] });
});
