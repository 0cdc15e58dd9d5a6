import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, type RecoverOutcome, type Runner, type TaskDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, hostPrincipal } from '../../../../src/index.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { settled } from '../../../support/settled.js';
import { afterwards, endVirtualRunners } from './virtual-runner.js';

endVirtualRunners();

/** Tasks that go on without their runner, and are found again only when `found` resolves. */
function slowToFind(found: Promise<RecoverOutcome>, started: string[]): TaskDriver {
  const never = new Promise<never>(() => undefined);
  const nothing = (): void => undefined;
  return {
    name: 'slow',
    survives: true,
    start: ({ allocationId }) => {
      started.push(allocationId);
      const task = { exited: never, signal: nothing, destroy: nothing, release: nothing };
      return Promise.resolve({ type: 'running', task });
    },
    recover: () => found,
  };
}

/** The link of an agent whose node another one has got, from the moment on at which this holds. */
function takenLink(link: AgentLink, isTaken: () => boolean): AgentLink {
  return {
    ...link,
    register: (node, agent) =>
      isTaken() ? errAsync({ type: 'node_taken', message: 'another agent has it' }) : link.register(node, agent),
    heartbeat: (nodeId, instance) =>
      isTaken() ? errAsync({ type: 'node_not_found', nodeId }) : link.heartbeat(nodeId, instance),
  };
}

async function clearingUp() {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-clear-up-'));
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  afterwards(async () => {
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const started: string[] = [];
  let isTaken = false;
  let find = (_: RecoverOutcome): void => undefined;
  const found = new Promise<RecoverOutcome>((resolve) => {
    find = resolve;
  });
  const begin = async (): Promise<Runner> => {
    const ports = agentPorts(engine);
    const link = takenLink(ports.link, () => isTaken);
    const runner = createRunner({ ...ports, link }, { directory, drivers: [slowToFind(found, started)] });
    const starting = runner.start();
    await clock.advance(second);
    (await starting)._unsafeUnwrap();
    await settled();
    return runner;
  };
  const register = async (ID: string): Promise<void> => {
    const group = groupDocument({ Update: { MaxParallel: 0 } }, { Driver: 'slow' });
    (
      await registerJob(engine, hostPrincipal, { job: { ID, Datacenters: ['*'], TaskGroups: [group] } })
    )._unsafeUnwrap();
    await clock.advance(second);
    await settled();
  };
  const first = await begin();
  await register('old');
  await first.stop({ deadline: 0 });
  (await stopJob(engine, hostPrincipal, { jobId: 'old', purge: true }))._unsafeUnwrap();
  await register('new');
  const runner = await begin();
  const take = async (): Promise<void> => {
    isTaken = true;
    await clock.advance(30 * second);
  };
  const folders = (): readonly string[] => readdirSync(join(directory, 'allocations'));
  return { runner, started, folders, take, find: () => find({ type: 'never_started' }) };
}

it('a runner that is stopped while it ends what an earlier one has left takes no work after that', async () => {
  const { runner, started, folders, find } = await clearingUp();
  expect(started).toHaveLength(1);
  await runner.stop({ deadline: 0 });
  find();
  await settled();
  expect(folders()).toEqual(started);
});

it('nor does one whose node another agent has got meanwhile', async () => {
  const { runner, started, folders, take, find } = await clearingUp();
  await take();
  find();
  await settled();
  expect(started).toHaveLength(1);
  expect(folders()).toEqual(started);
  await runner.stop({ deadline: 0 });
});
