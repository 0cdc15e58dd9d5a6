import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.js';
import { patience } from '../../support/patience.js';
import { endAll, signalbox, temporaryFolder } from '../cli/cli-process.js';
import { type PostgresServer, postgresServer } from './postgres-server.js';

/*
 * `signalbox serve` while the server of its database is away for longer than requests wait, and many of them come.
 * `SIGNALBOX_AWAY_SECONDS=30` for a longer absence.
 */
const awayMs = Number(process.env['SIGNALBOX_AWAY_SECONDS'] ?? 3) * 1000;
const callers = 40;

let server: PostgresServer;
beforeAll(async () => {
  server = await postgresServer(['-c fsync=off']);
});
afterAll(() => {
  endAll();
  server.remove();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('requests wait and are then 503, the log has a line a second, and all goes on when it is back', async () => {
  const options = ['--set', 'storeTimeout=500ms', '--set', `node.directory=${join(temporaryFolder(), 'work')}`];
  const child = signalbox(['serve', '--listen', '127.0.0.1:0', '--store', server.url, ...options]);
  const origin = await child.origin();
  const token = await child.printed(/management token, shown this once: (\S+)/);
  const box = connect({ url: origin, token });
  const ready = async (): Promise<number> => (await fetch(`${origin}/ready`)).status;
  expect(await ready()).toBe(200);
  const { index } = (await box.namespaces.list())._unsafeUnwrap();
  let isAnswered = false;
  const parked = box.namespaces.list({ index, wait: '5m' }).map(({ value }) => {
    isAnswered = true;
    return value.map(({ Name }) => Name);
  });
  const flood = new Flood(origin, token);
  await expect.poll(() => flood.answered(200)).toBeGreaterThan(callers);
  const before = child.error().length;
  server.stop('immediate');
  const since = performance.now();
  const seconds = (): number => (performance.now() - since) / 1000;
  const lines = (): readonly string[] => child.error().slice(before).split('\n').slice(0, -1);
  await expect.poll(ready).toBe(503);
  await expect.poll(() => flood.answered(503)).toBeGreaterThan(callers);
  await pause(awayMs - 1000 * seconds());
  expect(lines().length, lines().join('\n')).toBeLessThanOrEqual(Math.ceil(seconds()));
  expect(lines().length).toBeGreaterThan(0);
  expect(isAnswered).toBe(false);
  await server.start();
  await expect.poll(ready, { timeout: patience }).toBe(200);
  (await box.namespaces.put('after'))._unsafeUnwrap();
  expect((await parked)._unsafeUnwrap()).toEqual(['after', 'default']);
  await flood.end();
  expect(flood.unexpected).toEqual([]);
  if (process.env['SIGNALBOX_AWAY_SECONDS'] !== undefined) console.info(seconds(), lines().length, flood.statuses);
});

/** Callers that read and register jobs, one request after the other each. */
class Flood {
  readonly statuses = new Map<number, number>();
  /** Answers that are neither a success nor a 503. */
  readonly unexpected: string[] = [];
  #isOver = false;
  readonly #callers: Promise<void>[];

  constructor(origin: string, token: string) {
    const headers = { 'x-svc-token': token };
    this.#callers = Array.from({ length: callers }, async (_, at) => {
      for (let n = 0; !this.#isOver; n += 1) {
        const body = JSON.stringify({ Job: jobOf(`job-${at}`, n) });
        const options = at % 2 === 0 ? { headers } : { headers, method: 'POST', body };
        const { status, said } = await answerTo(fetch(`${origin}/v1/jobs`, options));
        this.statuses.set(status, this.answered(status) + 1);
        if (status !== 200 && status !== 503) this.unexpected.push(`${status} ${said}`);
        if (status === 503 && !/the store is busy.*database server has been away/.test(said))
          this.unexpected.push(said);
        await pause(20);
      }
    });
  }

  answered(status: number): number {
    return this.statuses.get(status) ?? 0;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }
}

async function answerTo(request: Promise<Response>): Promise<{ status: number; said: string }> {
  try {
    const response = await request;
    return { status: response.status, said: await response.text() };
  } catch (error) {
    return { status: 0, said: String(error) };
  }
}

function jobOf(id: string, n: number): object {
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } };
  const groups = [{ Name: 'g', Tasks: [task] }];
  return { ID: id, Type: 'batch', Datacenters: ['nowhere'], Meta: { n: String(n) }, TaskGroups: groups };
}
