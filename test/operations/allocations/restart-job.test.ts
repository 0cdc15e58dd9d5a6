import { errAsync, okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import type { CommandPerformer } from '../../../src/agent/link/node-command.js';
import { createEngine } from '../../../src/engine.js';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { jobRestarts } from '../../../src/jobs/changes/job-restart.js';
import { day, minute, second } from '../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { muchRoom } from '../../support/nodes.js';
import { group, serviceJob } from '../jobs/world.js';

const never = new AbortController().signal;

/** A node that restarts an allocation in ten seconds, or fails to. */
class Restarts {
  readonly begun: string[] = [];
  most = 0;
  #underWay = 0;
  fault: ((allocationId: string) => string | undefined) | undefined;

  performer({ clock }: Pick<FakeCluster, 'clock'>, after: number = 10 * second): CommandPerformer {
    return (command) => {
      if (command.type !== 'restart') throw new Error(command.type);
      const { allocationId } = command;
      this.begun.push(allocationId);
      this.#underWay += 1;
      this.most = Math.max(this.most, this.#underWay);
      const over = () => {
        this.#underWay -= 1;
      };
      const message = this.fault?.(allocationId);
      if (message !== undefined) {
        over();
        return errAsync({ type: 'command_failed', message } as const);
      }
      return okAsync(
        (async function* () {
          await clock.sleep(after, never);
          over();
          yield { type: 'value', value: null } as const;
        })(),
      );
    };
  }
}

const jobsOf = ({ engine }: Pick<FakeCluster, 'engine'>, principal = hostPrincipal) => engine.as(principal).jobs;

async function clusterOf(count: number, storage = memoryStorage()) {
  const cluster = fakeCluster({ storage });
  await cluster.addNode('n1', muchRoom);
  (await jobsOf(cluster).register(serviceJob('web', { TaskGroups: [group({ Count: count })] })))._unsafeUnwrap();
  await cluster.clock.advance(minute);
  const restarts = new Restarts();
  cluster.engine.agents.attach('n1', restarts.performer(cluster));
  const state = async () => (await jobsOf(cluster).readRestart('web'))._unsafeUnwrap().value;
  return { cluster, restarts, state };
}

describe('the restart of a job', () => {
  it('restarts each running allocation once, as many at a time as asked, and tells its progress', async () => {
    const { cluster, restarts, state } = await clusterOf(5);
    const begun = (await jobsOf(cluster).restart('web', { atOnce: 2 }))._unsafeUnwrap();
    expect(begun).toMatchObject({ state: 'running', total: 5, restarted: 0, failed: 0, atOnce: 2 });
    await cluster.clock.advance(15 * second);
    expect(await state()).toMatchObject({ state: 'running', restarted: 2, underWay: restarts.begun.slice(2, 4) });
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({
      state: 'done',
      restarted: 5,
      failed: 0,
      underWay: [],
      endedAt: expect.any(String),
    });
    expect([new Set(restarts.begun).size, restarts.begun.length, restarts.most]).toEqual([5, 5, 2]);
    await cluster[Symbol.asyncDispose]();
  });

  it('waits between batches, and answers who waits for its progress', async () => {
    const { cluster, restarts, state } = await clusterOf(3);
    (await jobsOf(cluster).restart('web', { wait: 5 * minute }))._unsafeUnwrap();
    await cluster.clock.advance(second);
    const { index } = (await jobsOf(cluster).readRestart('web'))._unsafeUnwrap();
    const waiting = jobsOf(cluster).readRestart('web', { index, wait: '10m' });
    await cluster.clock.advance(4 * minute);
    expect((await waiting)._unsafeUnwrap().value).toMatchObject({ restarted: 1, underWay: [] });
    expect(restarts.begun).toHaveLength(1);
    await cluster.clock.advance(12 * minute);
    expect(await state()).toMatchObject({ state: 'done', restarted: 3 });
    await cluster[Symbol.asyncDispose]();
  });

  it('ends with the first failure, or goes on if asked', async () => {
    const { cluster, restarts, state } = await clusterOf(3);
    restarts.fault = () => 'no such process';
    (await jobsOf(cluster).restart('web'))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({
      ...{ state: 'failed', restarted: 0, failed: 1 },
      failures: [{ allocationId: restarts.begun[0], message: 'no such process' }],
    });
    (await jobsOf(cluster).restart('web', { continues: true }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({ state: 'done', restarted: 0, failed: 3 });
    await cluster[Symbol.asyncDispose]();
  });

  it('may be cancelled, and is one at a time', async () => {
    const { cluster, restarts, state } = await clusterOf(3);
    (await jobsOf(cluster).restart('web'))._unsafeUnwrap();
    await cluster.clock.advance(second);
    expect((await jobsOf(cluster).restart('web'))._unsafeUnwrapErr().type).toBe('restart_under_way');
    expect((await jobsOf(cluster).cancelRestart('web'))._unsafeUnwrap().state).toBe('cancelled');
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({ state: 'cancelled', restarted: 0 });
    expect(restarts.begun).toHaveLength(1);
    expect((await jobsOf(cluster).cancelRestart('web'))._unsafeUnwrap().state).toBe('cancelled');
    (await jobsOf(cluster).restart('web'))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({ state: 'done', restarted: 3 });
    await cluster.clock.advance(day + minute);
    expect(await cluster.rows(jobRestarts)).toEqual([]);
    await cluster[Symbol.asyncDispose]();
  });

  it('is shared by processes on one store, and goes on when one of them is gone', async () => {
    const storage = memoryStorage();
    const { cluster, restarts, state } = await clusterOf(6, storage);
    const ports = { storage, clock: cluster.clock, ids: cluster.engine.ids, delivery: cluster.engine.delivery };
    const other = createEngine(ports);
    other.agents.attach('n1', restarts.performer(cluster));
    other.start();
    (await jobsOf(cluster).restart('web', { atOnce: 2 }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({ state: 'done', restarted: 6 });
    expect([new Set(restarts.begun).size, restarts.begun.length, restarts.most]).toEqual([6, 6, 2]);
    await other.stop();
    // The process takes up an allocation and is not heard of again.
    const silent = new Restarts();
    cluster.engine.agents.attach('n1', silent.performer(cluster, day));
    (await jobsOf(cluster).restart('web'))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    await cluster.engine.stop();
    const heir = createEngine(ports);
    const later = new Restarts();
    heir.agents.attach('n1', later.performer(cluster));
    heir.start();
    await cluster.clock.advance(8 * minute);
    expect(later.begun).toEqual([]);
    await cluster.clock.advance(5 * minute);
    expect(later.begun[0]).toBe(silent.begun[0]);
    expect(await state()).toMatchObject({ state: 'done', restarted: 6 });
    await heir.stop();
    await cluster[Symbol.asyncDispose]();
  });

  it('waits for a node that is not connected, for a minute', async () => {
    const { cluster, restarts, state } = await clusterOf(2);
    const detach = cluster.engine.agents.attach('n1', restarts.performer(cluster));
    detach();
    (await jobsOf(cluster).restart('web'))._unsafeUnwrap();
    await cluster.clock.advance(40 * second);
    expect(await state()).toMatchObject({ state: 'running', restarted: 0, failed: 0 });
    cluster.engine.agents.attach('n1', restarts.performer(cluster));
    await cluster.clock.advance(minute);
    expect(await state()).toMatchObject({ state: 'done', restarted: 2 });
    cluster.engine.agents.attach('n1', restarts.performer(cluster))();
    (await jobsOf(cluster).restart('web'))._unsafeUnwrap();
    await cluster.clock.advance(2 * minute);
    const message = expect.stringContaining('No path to node');
    expect(await state()).toMatchObject({ state: 'failed', failures: [{ message }] });
    await cluster[Symbol.asyncDispose]();
  });

  it('is refused without the right, without the job, and with wrong values', async () => {
    const { cluster } = await clusterOf(1);
    const reader: Principal = {
      ...hostPrincipal,
      management: false,
      namespaces: { default: { capabilities: ['read-job'] } },
    };
    expect((await jobsOf(cluster, reader).restart('web'))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await jobsOf(cluster, reader).cancelRestart('web'))._unsafeUnwrapErr().type).toBe('permission_denied');
    expect((await jobsOf(cluster, reader).readRestart('web'))._unsafeUnwrap().value).toBeUndefined();
    expect((await jobsOf(cluster).restart('none'))._unsafeUnwrapErr().type).toBe('job_not_found');
    expect((await jobsOf(cluster).cancelRestart('none'))._unsafeUnwrapErr().type).toBe('job_not_found');
    for (const options of [{ atOnce: 0 }, { atOnce: 101 }, { wait: 2 * 60 * minute }, { wait: -1 }])
      expect((await jobsOf(cluster).restart('web', options))._unsafeUnwrapErr().type).toBe('invalid_request');
    await cluster[Symbol.asyncDispose]();
  });
});
