import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import type { Download } from '../../../../src/ports/download.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';
import { settled } from '../../../support/settled.js';

it('a disk that is full for longer than a start waits is left to the restart policy, and what is waited for is told', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-shortage-'));
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  let isFull = true;
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const download: Download = {
    fetch: () => new ResultAsync(isFull ? Promise.reject(full) : Promise.resolve(ok(0))),
  };
  const runner = createRunner(agentPorts(engine), {
    directory,
    download,
    drivers: [functionDriver({ work: () => undefined })],
    onStop: 'kill',
  });
  const starting = runner.start();
  await clock.advance(second);
  (await starting)._unsafeUnwrap();
  const RestartPolicy = { Attempts: 1, Interval: 3600e9, Delay: 1e9, Mode: 'fail' };
  const task = {
    Driver: 'function',
    Config: { function: 'work' },
    Artifacts: [{ GetterSource: 'https://files.example.org/f' }],
  };
  const TaskGroups = [groupDocument({ RestartPolicy, ReschedulePolicy: { Attempts: 0, Unlimited: false } }, task)];
  const job = { ID: 'work', Type: 'batch', Datacenters: ['*'], TaskGroups } as JobInput;
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  const until = async (holds: (allocation: Allocation) => boolean): Promise<Allocation> => {
    const limit = performance.now() + patience;
    for (;;) {
      const read = await engine.storage.read((view) => view.list(allocations).map(({ record }) => record));
      const [allocation] = read._unsafeUnwrap();
      if (allocation !== undefined && holds(allocation)) return allocation;
      if (performance.now() > limit) throw new Error(JSON.stringify(allocation?.TaskStates));
      // What is done on the disk takes none of the virtual time.
      await settled();
      await clock.advance(5 * second);
    }
  };
  const told = ({ TaskStates }: Allocation) =>
    (TaskStates?.['main']?.Events ?? []).map((event) => event.DisplayMessage);
  try {
    await until((allocation) => told(allocation).includes(`The task waits: ${full.message}`));
    const waited = await until(({ TaskStates }) => TaskStates?.['main']?.Restarts === 1);
    expect(told(waited).filter((text) => text.startsWith('Downloading')).length).toBe(1);
    expect(waited.TaskStates?.['main']?.State).not.toBe('dead');
    isFull = false;
    await until(({ ClientStatus }) => ClientStatus === 'complete');
  } finally {
    const stopped = runner.stop({ deadline: 0 });
    await clock.advance(60 * second);
    await stopped;
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  }
});
