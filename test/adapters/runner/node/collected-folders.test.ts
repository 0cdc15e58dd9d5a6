import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errAsync, ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';
import { settled } from '../../../support/settled.js';
import { endVirtualRunners, virtualRunner } from './virtual-runner.js';

endVirtualRunners();

/** The server takes the first report of an end, but its answer comes only when `until` resolves, and as a failure. */
function withLostAnswer(link: AgentLink, until: Promise<void>): AgentLink {
  let isLost = false;
  return {
    ...link,
    report(told) {
      if (isLost || !told.reports.some(({ clientStatus }) => clientStatus === 'complete')) return link.report(told);
      isLost = true;
      const lost = errAsync({ type: 'link_failed', message: 'the answer was lost' } as const);
      return link.report(told).andThen(() => ResultAsync.fromSafePromise(until).andThen(() => lost));
    },
  };
}

it('a folder goes with its job also when the server collected the allocation before its end was acknowledged', async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const runner = await virtualRunner({
    wait: () => Promise.resolve(),
    ports: (given) => ({ ...given, link: withLostAnswer(given.link, answered) }),
  });
  const group = groupDocument({}, { Driver: 'function', Config: { function: 'wait' } });
  const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], TaskGroups: [group] };
  (await registerJob(runner.engine, hostPrincipal, { job }))._unsafeUnwrap();
  await runner.until(([first]) => first?.ClientStatus === 'complete');
  const [allocation] = await runner.allocations();
  const folder = join(runner.directory, 'allocations', allocation?.ID ?? '');
  expect(existsSync(folder)).toBe(true);
  (await stopJob(runner.engine, hostPrincipal, { jobId: 'work', purge: true }))._unsafeUnwrap();
  await settled();
  answer();
  const limit = performance.now() + patience;
  while (existsSync(folder) && performance.now() < limit) {
    await runner.clock.advance(second);
    await settled();
  }
  expect(existsSync(folder)).toBe(false);
});
