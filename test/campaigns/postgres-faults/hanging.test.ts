import { fork } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type PostgresServer, postgresServer } from '../../adapters/postgres/postgres-server.js';
import { TcpProxy, type Way } from '../../adapters/postgres/tcp-proxy.js';
import { commit, look, things, valueFrom } from '../../conformance/storage/storage-subject.js';

/*
 * Connections that hang and processes that are stopped, while they hold the lock of the store or not. Others continue within two seconds;
 * the one that hung continues when it has given its connection up; no count is lost or made twice.
 */

let server: PostgresServer;
beforeAll(async () => {
  server = await postgresServer(['-c max_connections=100', '-c fsync=off']);
});
afterAll(() => server.remove());

let schemas = 0;

/** The content of a row, which only commits send. */
const inCommits = '"text":"';

interface Shared {
  readonly schema: string;
  readonly proxy: TcpProxy;
  /** Over the proxy. */
  readonly hanging: Storage;
  /** Of another process. */
  readonly other: Storage;
  close(): Promise<void>;
}

/** Two processes on one store, of which one has a network that can hang. */
async function shared(): Promise<Shared> {
  schemas += 1;
  const schema = `hanging${schemas}`;
  const proxy = new TcpProxy(server.port);
  const port = await proxy.open();
  const hanging = valueFrom(
    await postgresStorage(`postgres://postgres@127.0.0.1:${port}/postgres`, { schema, busyMs: 10_000 }),
  );
  const other = valueFrom(await postgresStorage(server.url, { schema }));
  await count(hanging);
  await count(other);
  // The connection that reads is open, too: one that hangs while it is made is waited for as long as callers are.
  await counted(hanging);
  return {
    ...{ schema, proxy, hanging, other },
    async close() {
      await Promise.all([hanging.close(), other.close()]);
      await proxy.close();
    },
  };
}

async function count(storage: Storage): Promise<number> {
  const { value } = await commit(storage, (view) => {
    const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
    view.put(things, { key: ['count'], text: String(next) });
    return next;
  });
  return value;
}

const counted = (storage: Storage) => look(storage, (view) => Number(view.get(things, ['count'])?.record.text));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts without a pause until it is ended; then gives the longest time that one took, in milliseconds, and their number. */
function counting(storage: Storage): () => Promise<{ longest: number; times: number }> {
  let isOver = false;
  let longest = 0;
  let times = 0;
  const working = (async () => {
    while (!isOver) {
      const began = performance.now();
      await count(storage);
      times += 1;
      longest = Math.max(longest, performance.now() - began);
    }
  })();
  return async () => {
    isOver = true;
    await working;
    return { longest, times };
  };
}

const ways: readonly (readonly Way[])[] = [['up'], ['down'], ['up', 'down']];

describe.concurrent('connections that hang', () => {
  test.for(ways)('while they are idle (%s)', async (held, { expect }) => {
    const { proxy, hanging, other, close } = await shared();
    proxy.holdOpen(...held);
    const began = performance.now();
    const [read, written] = await Promise.all([counted(hanging), count(hanging)]);
    expect(performance.now() - began).toBeLessThan(9000);
    expect(read).toBeGreaterThanOrEqual(2);
    expect(written).toBe(3);
    // What is delivered late has no effect.
    proxy.release();
    expect(await count(other)).toBe(4);
    await close();
  });

  test.for(ways)('while writers take turns (%s)', async (held, { expect }) => {
    const { proxy, hanging, other, close } = await shared();
    const ends = [counting(hanging), counting(other)] as const;
    await expect.poll(() => counted(other)).toBeGreaterThan(300);
    proxy.holdOpen(...held);
    // Longer than an answer is waited for.
    await pause(7000);
    const [hung, free] = await Promise.all([ends[0](), ends[1]()]);
    expect(free.longest).toBeLessThan(3000);
    proxy.release();
    expect(await counted(other)).toBe(2 + hung.times + free.times);
    await close();
  });

  test('in the middle of a commit, with the lock held', async ({ expect }) => {
    const { proxy, hanging, other, close } = await shared();
    const isHung = new Promise<void>((resolve) => {
      // The lock is executed, but the end of the pipeline does not arrive.
      proxy.splitNext(inCommits, 8, resolve);
    });
    const written = count(hanging);
    await isHung;
    const began = performance.now();
    expect(await count(other)).toBe(3);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(await written).toBe(4);
    proxy.release();
    expect(await count(other)).toBe(5);
    await close();
  });
});

describe.concurrent('a process that is stopped with the lock held', () => {
  test.for(['in a turn', 'in the middle of a commit'])(
    '%s: what it has decided is refused when it wakes',
    async (at, { expect }) => {
      const { proxy, schema, hanging, other, close } = await shared();
      const isInTurn = at === 'in a turn';
      const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
      const child = fork(join(import.meta.dirname, 'stopping-child.ts'), [url, schema, isInTurn ? 'turn' : 'run'], {
        execArgv: ['--import', 'tsx'],
      });
      const values: number[] = [];
      let stopped = (): void => undefined;
      const isStopped = new Promise<void>((resolve) => {
        stopped = resolve;
      });
      await new Promise((resolve) => child.once('message', resolve));
      child.on('message', (message: number | string) => {
        if (message === 'stopped') stopped();
        else values.push(message as number);
      });
      const end = counting(other);
      child.send('go');
      if (!isInTurn) {
        await expect.poll(() => values.length).toBeGreaterThan(20);
        proxy.splitNext(inCommits, 8, () => {
          child.kill('SIGSTOP');
          stopped();
        });
      }
      await isStopped;
      const before = values.length;
      await pause(3000);
      expect(values.length).toBeLessThan(before + 3);
      child.kill('SIGCONT');
      proxy.release();
      await expect.poll(() => values.length).toBeGreaterThan(before + 20);
      const { longest, times } = await end();
      expect(longest).toBeLessThan(3000);
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      expect(new Set(values).size).toBe(values.length);
      // Its last count may not have been reported.
      const total = 2 + times + values.length;
      expect([total, total + 1]).toContain(await counted(hanging));
      await close();
    },
  );
});
