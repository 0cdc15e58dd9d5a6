import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errAsync } from 'neverthrow';
import { afterEach, expect, it } from 'vitest';

import { type ManualClock, manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal, registerJob } from '../../../../src/index.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { second } from '../../../../src/shared/duration.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';

const nanos = (milliseconds: number): number => milliseconds * 1_000_000;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface House {
  readonly engine: Engine;
  readonly clock: ManualClock;
  /** Nothing gets from the runner to the server any more, or does so again. */
  cut(isCut: boolean): void;
  /** Starts of the task, and how many of them have been ended. */
  readonly task: { started: number; ended: number };
}

/** An engine and a runner on one virtual clock; the job has one task, which runs until it is ended. */
async function house(Type: 'service' | 'batch', Disconnect: object): Promise<House> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-lost-server-'));
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
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
  const ports = agentPorts(engine);
  const runner = createRunner(
    { ...ports, link: cuttable(ports.link, () => isCut) },
    { directory, drivers: [functionDriver({ wait })], onStop: 'kill' },
  );
  const starting = runner.start();
  await clock.advance(second);
  (await starting)._unsafeUnwrap();
  const driven = { Driver: 'function', Config: { function: 'wait' } };
  const TaskGroups = [
    groupDocument({ Disconnect, ...(Type === 'service' ? { Update: { MaxParallel: 0 } } : {}) }, driven),
  ];
  (
    await registerJob(engine, hostPrincipal, { job: { ID: 'work', Type, Datacenters: ['*'], TaskGroups } })
  )._unsafeUnwrap();
  cleanups.push(async () => {
    isCut = false;
    const stopped = runner.stop({ deadline: 0 });
    await clock.advance(60 * second);
    await stopped;
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const cut = (now: boolean): void => {
    isCut = now;
  };
  return { engine, clock, task, cut };
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

/**
 * Lets time pass a little at a time until the allocations are so. Folders of tasks are made on a real disk, so each step of virtual time waits
 * for some real time.
 */
async function until(
  { engine, clock }: House,
  holds: (all: readonly Allocation[]) => boolean,
): Promise<readonly Allocation[]> {
  const limit = performance.now() + patience;
  for (;;) {
    const read = await engine.storage.read((view) => view.list(allocations).map(({ record }) => record));
    const all = read._unsafeUnwrap();
    if (holds(all)) return all;
    if (performance.now() > limit)
      throw new Error(JSON.stringify(all.map(({ ClientStatus, TaskStates }) => [ClientStatus, TaskStates])));
    await pause(10);
    await clock.advance(second / 10);
  }
}

const nodeStatus = async ({ engine }: House) =>
  (await engine.storage.read((view) => view.list(nodes).map(({ record }) => record.Status)))._unsafeUnwrap();
const are = (status: string) => (all: readonly Allocation[]) =>
  all.length > 0 && all.every(({ ClientStatus }) => ClientStatus === status);

it('a runner that comes back tells what went on meanwhile, and nothing is started again', async () => {
  const home = await house('service', { LostAfter: nanos(600 * second), Replace: false });
  await until(home, are('running'));
  home.cut(true);
  await home.clock.advance(35 * second);
  await until(home, are('unknown'));
  expect(await nodeStatus(home)).toEqual(['disconnected']);
  home.cut(false);
  const [allocation] = await until(home, are('running'));
  expect(await nodeStatus(home)).toEqual(['ready']);
  expect(allocation).toMatchObject({ DesiredStatus: 'run', TaskStates: { main: { State: 'running', Restarts: 0 } } });
  expect(home.task).toEqual({ started: 1, ended: 0 });
});

const away = { StopOnClientAfter: nanos(8 * second) };

it.each(['service', 'batch'] as const)(
  'an allocation runs on with the server, however short it would without: %s',
  async (type) => {
    const home = await house(type, away);
    await until(home, are('running'));
    for (let at = 0; at < 60; at += 1) await home.clock.advance(second);
    await until(home, are('running'));
    expect(home.task).toEqual({ started: 1, ended: 0 });
  },
);

it('an allocation ends without the server after stop_on_client_after, and is begun again when the server is back', async () => {
  const home = await house('batch', away);
  await until(home, are('running'));
  home.cut(true);
  await home.clock.advance(5 * second);
  expect(home.task.ended).toBe(0);
  for (let at = 0; at < 40; at += 1) await home.clock.advance(second / 10);
  expect(home.task.ended).toBe(1);
  home.cut(false);
  const all = await until(
    home,
    (rows) => rows.length > 1 && rows.some(({ ClientStatus }) => ClientStatus === 'running'),
  );
  expect(all.find(({ ClientStatus }) => ClientStatus === 'failed')).toMatchObject({
    ClientDescription: 'Stopped because its node had lost the server',
    TaskStates: { main: { State: 'dead', Failed: false } },
  });
  expect(home.task).toEqual({ started: 2, ended: 1 });
});
