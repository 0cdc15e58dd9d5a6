import { ResultAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { restartAllocation } from '../../../../src/operations/allocations/steer-allocation.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';

import type { AgentLink } from '../../../../src/ports/agent-link.js';
import { groupDocument } from '../../../support/jobs.js';
import { settled } from '../../../support/settled.js';
import { endVirtualRunners, virtualRunner } from './virtual-runner.js';

endVirtualRunners();

/** Reports of an end are on their way until `until` resolves. */
function withSlowReports(link: AgentLink, until: Promise<void>): AgentLink {
  return {
    ...link,
    report: (told) =>
      told.reports.some(({ clientStatus }) => clientStatus === 'complete')
        ? ResultAsync.fromSafePromise(until).andThen(() => link.report(told))
        : link.report(told),
  };
}

it('an allocation whose end is being reported is not begun again by a restart of all its tasks', async () => {
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const ends: (() => void)[] = [];
  const runner = await virtualRunner({
    wait: () => new Promise<void>((resolve) => ends.push(resolve)),
    ports: (given) => ({ ...given, link: withSlowReports(given.link, arrived) }),
  });
  const group = groupDocument({}, { Driver: 'function', Config: { function: 'wait' } });
  const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], TaskGroups: [group] };
  (await registerJob(runner.engine, hostPrincipal, { job }))._unsafeUnwrap();
  const [allocation] = await runner.until(([first]) => first?.ClientStatus === 'running').then(runner.allocations);
  ends[0]?.();
  await settled();
  const restarted = await restartAllocation(runner.engine, hostPrincipal, {
    allocationId: allocation?.ID ?? '',
    all: true,
  });
  expect(restarted._unsafeUnwrapErr()).toMatchObject({ message: 'Task not running' });
  await settled();
  arrive();
  await runner.until(([first]) => first?.ClientStatus === 'complete');
  await settled();
  expect(ends).toHaveLength(1);
});
