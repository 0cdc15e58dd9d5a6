import { errAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import type { Allocation } from '../../../../src/scheduler/allocation.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { afterwards, endVirtualRunners, type VirtualRunner, virtualRunner } from './virtual-runner.js';

const nanos = (milliseconds: number): number => milliseconds * 1_000_000;
endVirtualRunners();

interface LosableRunner extends VirtualRunner {
  /** Nothing gets from the runner to the server any more, or does so again. */
  cut(isCut: boolean): void;
  /** Starts of the task, and how many of them have been ended. */
  readonly task: { started: number; ended: number };
}

/** The job has one task, which runs until it is ended. */
async function losableRunner(Type: 'service' | 'batch', Disconnect: object): Promise<LosableRunner> {
  let isCut = false;
  const task = { started: 0, ended: 0 };
  const wait = ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    task.started += 1;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        task.ended += 1;
        resolve();
      });
    });
  };
  const runner = await virtualRunner({
    wait,
    ports: (given) => ({ ...given, link: cuttable(given.link, () => isCut) }),
  });
  const cut = (now: boolean): void => {
    isCut = now;
  };
  afterwards(async () => cut(false));
  const driven = { Driver: 'function', Config: { function: 'wait' } };
  const TaskGroups = [
    groupDocument({ Disconnect, ...(Type === 'service' ? { Update: { MaxParallel: 0 } } : {}) }, driven),
  ];
  const job = { ID: 'work', Type, Datacenters: ['*'], TaskGroups };
  (await registerJob(runner.engine, hostPrincipal, { job }))._unsafeUnwrap();
  return { ...runner, task, cut };
}

/** The link, of which nothing gets through while this holds. */
function cuttable(link: AgentLink, isCut: () => boolean): AgentLink {
  const error = { type: 'link_failed', message: 'cut off' } as const;
  return {
    ...link,
    register: (node) => (isCut() ? errAsync(error) : link.register(node)),
    heartbeat: (nodeId) => (isCut() ? errAsync(error) : link.heartbeat(nodeId)),
    report: (told) => (isCut() ? errAsync(error) : link.report(told)),
  };
}

const nodeStatus = async ({ engine }: VirtualRunner) =>
  (await engine.storage.read((view) => view.list(nodes).map(({ record }) => record.Status)))._unsafeUnwrap();
const are = (status: string) => (all: readonly Allocation[]) =>
  all.length > 0 && all.every(({ ClientStatus }) => ClientStatus === status);

it('a runner that comes back tells what went on meanwhile, and nothing is started again', async () => {
  const runner = await losableRunner('service', { LostAfter: nanos(600 * second), Replace: false });
  await runner.until(are('running'));
  runner.cut(true);
  await runner.clock.advance(35 * second);
  await runner.until(are('unknown'));
  expect(await nodeStatus(runner)).toEqual(['disconnected']);
  runner.cut(false);
  await runner.until(are('running'));
  const [allocation] = await runner.allocations();
  expect(await nodeStatus(runner)).toEqual(['ready']);
  expect(allocation).toMatchObject({ DesiredStatus: 'run', TaskStates: { main: { State: 'running', Restarts: 0 } } });
  expect(runner.task).toEqual({ started: 1, ended: 0 });
});

const away = { StopOnClientAfter: nanos(8 * second) };

it.each(['service', 'batch'] as const)(
  'an allocation runs on with the server, however short it would without: %s',
  async (type) => {
    const runner = await losableRunner(type, away);
    await runner.until(are('running'));
    for (let at = 0; at < 60; at += 1) await runner.clock.advance(second);
    await runner.until(are('running'));
    expect(runner.task).toEqual({ started: 1, ended: 0 });
  },
);

it('an allocation ends without the server after stop_on_client_after, and is begun again when the server is back', async () => {
  const runner = await losableRunner('batch', away);
  await runner.until(are('running'));
  runner.cut(true);
  await runner.clock.advance(5 * second);
  expect(runner.task.ended).toBe(0);
  for (let at = 0; at < 40; at += 1) await runner.clock.advance(second / 10);
  expect(runner.task.ended).toBe(1);
  runner.cut(false);
  await runner.until((rows) => rows.length > 1 && rows.some(({ ClientStatus }) => ClientStatus === 'running'));
  const all = await runner.allocations();
  expect(all.find(({ ClientStatus }) => ClientStatus === 'failed')).toMatchObject({
    ClientDescription: 'Stopped because its node had lost the server',
    TaskStates: { main: { State: 'dead', Failed: false } },
  });
  expect(runner.task).toEqual({ started: 2, ended: 1 });
});
