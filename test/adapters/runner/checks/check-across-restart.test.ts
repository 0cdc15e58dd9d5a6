import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import type { AllocationWork } from '../../../../adapters/runner/allocation/allocation-work.js';
import type { RunnerContext } from '../../../../adapters/runner/allocation/runner-context.js';
import { AllocationChecks } from '../../../../adapters/runner/checks/allocation-checks.js';
import { ServerTime } from '../../../../adapters/runner/node/registration.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import type { Allocation } from '../../../../src/scheduler/allocation.js';
import { second } from '../../../../src/shared/duration.js';
import { canonicalJob } from '../../../jobs/canonical-job.js';
import { eventually } from '../../../support/installation.js';
import { patience } from '../../../support/patience.js';

const nanos = 1_000_000_000;
const nothing = (): void => undefined;

/** A service of one task whose check is answered by the test; a single failure restarts the task. */
async function heldChecks() {
  const answers: ServerResponse[] = [];
  const server = createServer((_request, response) => void answers.push(response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const check = { Type: 'http', Path: '/', Interval: nanos, Timeout: 60 * nanos, CheckRestart: { Limit: 1, Grace: 0 } };
  const job = canonicalJob({
    ID: 'web',
    TaskGroups: [
      {
        Name: 'g',
        Tasks: [{ Name: 'main', Driver: 'function', Services: [{ PortLabel: `${port}`, Checks: [check] }] }],
      },
    ],
  });
  const clock = manualClock();
  const group = job.TaskGroups[0]!;
  const allocation = {
    ID: 'a',
    Name: 'web.g[0]',
    TaskGroup: 'g',
    CreateTime: 0,
    AllocatedResources: { Tasks: {}, Shared: { Networks: null, Ports: null } },
  } as unknown as Allocation;
  const background = new Background({ debug: nothing, info: nothing, warn: nothing, error: nothing });
  const restarts: string[] = [];
  const run: { since: number | undefined } = { since: 0 };
  const checks = new AllocationChecks(
    { allocation, job, group } as AllocationWork,
    {
      clock,
      background,
      serverTime: new ServerTime(clock),
      node: { ID: 'n', Attributes: {}, Meta: {} },
    } as unknown as RunnerContext,
    {
      tasks: () => 'up',
      since: () => run.since,
      run: () => Promise.reject(new Error('no script')),
      restart: (task) => void restarts.push(task ?? ''),
      changed: nothing,
    },
  );
  checks.begin();
  const end = async (): Promise<void> => {
    checks.end();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  /** The next look begins; the function that it gives answers it, and resolves when the next one is waited for. */
  const looks = async (): Promise<(status: number) => Promise<void>> => {
    await clock.advance(second);
    await eventually(patience, () => answers.length > 0);
    const answer = answers.pop();
    return async (status) => {
      answer?.writeHead(status).end('seen');
      await eventually(patience, () => clock.sleepers > 0);
    };
  };
  return { checks, run, restarts, looks, end };
}

it('a look at a run that has ended meanwhile counts neither against the next run nor for it', async () => {
  const { checks, run, restarts, looks, end } = await heldChecks();
  try {
    const first = await looks();
    run.since = undefined;
    await first(500);
    run.since = 1100;
    const next = await looks();
    run.since = 1500;
    await next(500);
    expect({ restarts, results: Object.values(checks.results()) }).toMatchObject({
      restarts: [],
      results: [{ Status: 'pending', Output: '' }],
    });
    const last = await looks();
    await last(500);
    expect(restarts).toEqual(['main']);
  } finally {
    await end();
  }
});
