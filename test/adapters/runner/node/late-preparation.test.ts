import { ok, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { restartAllocation } from '../../../../src/operations/allocations/steer-allocation.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';

import type { Download } from '../../../../src/ports/download.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { settled } from '../../../support/settled.js';
import { endVirtualRunners, virtualRunner } from './virtual-runner.js';

endVirtualRunners();

it('a preparation that was given up does not start the task and the next one begins after it', async () => {
  const ends: (() => void)[] = [];
  // It does not listen to its signal.
  const download: Download = {
    fetch: () => new ResultAsync(new Promise((resolve) => ends.push(() => resolve(ok(undefined as never))))),
  };
  let started = 0;
  const runner = await virtualRunner({
    wait: ({ signal }) => {
      started += 1;
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    options: { download },
  });
  const Artifacts = [{ GetterSource: 'https://files.example.org/a.txt', RelativeDest: 'local/' }];
  const group = groupDocument(
    { Update: { MaxParallel: 0 } },
    { Driver: 'function', Config: { function: 'wait' }, Artifacts },
  );
  const job = { ID: 'work', Datacenters: ['*'], TaskGroups: [group] };
  (await registerJob(runner.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await runner.until(() => ends.length === 1);
  const [allocation] = await runner.allocations();
  const restart = { allocationId: allocation?.ID ?? '', all: true };
  (await restartAllocation(runner.engine, hostPrincipal, restart))._unsafeUnwrap();
  // For so long an answer is waited for, and then the task counts as killed and begins anew.
  await runner.clock.advance(16 * second);
  await settled();
  expect({ downloads: ends.length, started }).toEqual({ downloads: 1, started: 0 });
  ends[0]?.();
  await settled();
  expect({ downloads: ends.length, started }).toEqual({ downloads: 2, started: 0 });
  ends[1]?.();
  await runner.until(([first]) => first?.ClientStatus === 'running');
  expect(started).toBe(1);
});
