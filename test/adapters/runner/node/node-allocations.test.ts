import { okAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import type { RunnerContext } from '../../../../adapters/runner/allocation/runner-context.js';
import { type TaskMemory, volatileTaskMemory } from '../../../../adapters/runner/disk/task-memory.js';
import type { RunningTask, TaskDriver } from '../../../../adapters/runner/index.js';
import { NodeAllocations } from '../../../../adapters/runner/node/node-allocations.js';
import { ServerTime } from '../../../../adapters/runner/node/registration.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import type { NodeReport, NodeWork } from '../../../../src/agent/link/node-work.js';
import { freshTaskRecord } from '../../../../src/agent/task/task-life.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';
import type { Allocation } from '../../../../src/scheduler/allocation.js';
import { second } from '../../../../src/shared/duration.js';
import { canonicalJob } from '../../../jobs/canonical-job.js';
import { settled } from '../../../support/settled.js';

const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** One task, which ends when the test says so. */
function heldTask() {
  const seen = { started: 0, recovered: 0, destroyed: 0 };
  let end = nothing;
  const exited = new Promise<{ type: 'exited'; code: number; signal: number }>((resolve) => {
    end = () => resolve({ type: 'exited', code: 0, signal: 0 });
  });
  const destroy = (): void => {
    seen.destroyed += 1;
  };
  const task: RunningTask = { exited, signal: nothing, destroy, release: nothing };
  const driver: TaskDriver = {
    name: 'held',
    survives: true,
    start: () => {
      seen.started += 1;
      return Promise.resolve({ type: 'running', task });
    },
    recover: () => {
      seen.recovered += 1;
      return Promise.resolve({ type: 'running', task });
    },
  };
  return { driver, seen, end };
}

/** The allocations of a node to which the test lists one, or none. */
function nodeWith(driver: TaskDriver, memory: TaskMemory) {
  const clock = manualClock();
  const told: NodeReport[] = [];
  const link: Partial<AgentLink> = {
    report: (report) => {
      told.push(report);
      return okAsync({ index: 1, unknown: [] });
    },
  };
  const context = {
    link,
    clock,
    ids: randomIds(),
    logger: quiet,
    background: new Background(quiet),
    serverTime: new ServerTime(clock),
    memory,
    disks: null,
    drivers: new Map([[driver.name, driver]]),
    node: { ID: 'n', Attributes: {}, Meta: {} },
    leavesTasks: true,
  } as unknown as RunnerContext;
  const allocationsOfNode = new NodeAllocations({
    link: link as AgentLink,
    context,
    keep: { newest: 10, failedFor: 0, failedRuns: 0 },
    stopping: new AbortController().signal,
    onDisconnectTimeout: nothing,
    onFailure: async () => undefined,
  });
  const job = canonicalJob({
    ID: 'web',
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 'main', Driver: 'held', KillTimeout: 600_000_000_000 }] }],
  });
  const allocation = {
    ID: 'a',
    Name: 'web.g[0]',
    TaskGroup: 'g',
    CreateTime: 0,
    ClientStatus: 'running',
    DesiredStatus: 'run',
    DesiredTransition: {},
    AllocatedResources: { Tasks: {}, Shared: { Networks: null, Ports: null } },
  } as unknown as Allocation;
  const list = async (...work: NodeWork[]): Promise<void> => {
    const gone = work.length === 0 ? ['a'] : [];
    allocationsOfNode.workIsAsked();
    allocationsOfNode.apply({ index: 1, complete: true, work, gone });
    await settled();
  };
  const ended = (): readonly string[] => told.flatMap((report) => report.ended ?? []);
  return { clock, told, ended, list, work: { allocation, job } };
}

it('an allocation that is listed again while it is being dropped is reported to its end', async () => {
  const { driver, seen, end } = heldTask();
  const { told, ended, list, work } = nodeWith(driver, volatileTaskMemory());
  await list(work);
  expect(seen.started).toBe(1);
  await list();
  await list(work);
  told.length = 0;
  end();
  await settled();
  expect(told.flatMap(({ reports }) => reports)).toMatchObject([{ allocationId: 'a', clientStatus: 'complete' }]);
  expect(ended()).toEqual([]);
});

it('nothing is left of an allocation that was not taken only when what an earlier agent had begun has ended', async () => {
  const { driver, seen, end } = heldTask();
  let isReadable = false;
  const memory = volatileTaskMemory();
  const readable = <T>(read: () => T): T => {
    if (isReadable) return read();
    throw Object.assign(new Error('no file handles'), { code: 'EMFILE' });
  };
  const unreadable: TaskMemory = {
    ...memory,
    has: () => true,
    load: (id, task) => readable(() => memory.load(id, task)),
    known: () => readable(() => memory.known()),
  };
  const moment = { now: 0, monotonic: 0, timeline: '', fraction: 0 } as unknown as Parameters<
    typeof freshTaskRecord
  >[1];
  memory.save('a', 'main', { ...freshTaskRecord(undefined, moment), attempt: 1 });
  const { clock, ended, list, work } = nodeWith(driver, unreadable);
  await list(work);
  await list();
  await list();
  expect({ ...seen, ended: ended() }).toEqual({ started: 0, recovered: 0, destroyed: 0, ended: [] });
  isReadable = true;
  await clock.advance(10 * second);
  await settled();
  expect({ ...seen, ended: ended() }).toEqual({ started: 0, recovered: 1, destroyed: 1, ended: [] });
  end();
  await settled();
  expect(ended()).toEqual(['a']);
});
