import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHttpHandler, nodeListener } from '../../../../adapters/compat/index.js';
import { memoryStorage, recordingDelivery, sequentialIds } from '../../../../adapters/memory/index.js';
import { systemClock } from '../../../../adapters/node/index.js';
import { defineFunction } from '../../../../src/functions/define-function.js';
import { createEngine } from '../../../../src/index.js';
import { createFunctions } from '../../../../src/operations/functions/create-functions.js';
import type { Functions } from '../../../../src/operations/functions/functions-api.js';
import { type Given, typed } from '../typed-commands.js';

/** The commands of jobs and allocations against a server of a service that has functions. */

const send = (timeout: string) =>
  defineFunction(
    { name: 'send', input: z.object({ to: z.string() }), retry: { attempts: 1 }, timeout },
    ({ to }, run) => {
      run.log.info(`to ${to}`);
      run.log.error('slow');
      if (to === '') throw new Error('nobody');
      return { sent: to };
    },
  );
const nightly = defineFunction<void, void, string>({ name: 'reports/nightly', cron: '0 3 * * *' }, () => 'done');

const clock = systemClock();
const engine = createEngine({
  storage: memoryStorage(),
  clock,
  ids: sequentialIds(),
  delivery: recordingDelivery({ clock }),
});
let server: Server;
let functions: Functions;
let origin = '';
beforeAll(async () => {
  const before = createFunctions(engine, [send('30s')]);
  await before.start();
  await before.stop();
  functions = createFunctions(engine, [send('1m'), nightly]);
  await functions.start();
  server = createServer(nodeListener(createHttpHandler(engine, { access: 'open' })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await functions.stop({ deadline: 0 });
});

const run = (...words: readonly string[]) => typed(origin, {}, ...words);
const given = (from: Given, ...words: readonly string[]) => typed(origin, from, ...words);

/** Dispatches a run and waits for its end. */
async function dispatched(to: string): Promise<{ readonly id: string; readonly allocation: string }> {
  const { out } = await given({ files: { '-': JSON.stringify({ to }) } }, 'job', 'dispatch', '--detach', 'send', '-');
  const [id = ''] = /send\/dispatch-\d+/.exec(out) ?? [];
  await functions.run(`send/${id.slice('send/dispatch-'.length)}`).then((run) => run?.result().catch(() => undefined));
  const { allocations } = JSON.parse((await run('job', 'status', '-json', id)).out) as {
    allocations: { ID: string }[];
  };
  return { id, allocation: allocations[0]?.ID.slice(0, 8) ?? '' };
}

describe('a function', () => {
  it('is shown as a job with its latest runs, and its next launches', async () => {
    const first = await dispatched('ada');
    const second = await dispatched('bob');
    const { out } = await run('job', 'status', 'send');
    expect(out).toMatch(/Status += running\nVersion += 1\nPeriodic += false\nParameterized += true\n/);
    expect(out).toMatch(new RegExp(`Last instances .*\n${second.id} +succeeded .*\n${first.id} +succeeded .*\n`));
    expect(out).toContain('Instances: 0 pending, 0 running, 2 ended\n');
    expect((await run('job', 'status', 'reports/nightly')).out).toMatch(/Next launches: \S+ 03:00:00 UTC, /);
    expect((await run('status')).out).toMatch(/reports\/nightly +batch\/periodic .*\nsend +batch\/parameterized .*\n$/);
  });

  it('has a history that shows what a deploy has changed', async () => {
    expect((await run('job', 'history', '-p', 'send')).out).toContain('+/- timeout: "30s" => "1m0s"');
  });

  it('is paused by a stop, and resumed by a start', async () => {
    expect(await run('job', 'stop', 'send')).toMatchObject({ code: 0 });
    expect((await run('job', 'status', 'send')).out).toMatch(/Status += stopped\n/);
    expect(await given({ files: { '-': '{"to": ""}' } }, 'job', 'dispatch', 'send', '-')).toMatchObject({
      code: 1,
      error: expect.stringMatching(/"send" is stopped: the function is paused/),
    });
    expect(await run('job', 'start', 'send')).toMatchObject({ code: 0 });
    expect((await run('function', 'status', 'send')).out).toMatch(/Status += active/);
  });

  it('is launched on request', async () => {
    expect(await run('job', 'periodic', 'force', 'reports/nightly')).toMatchObject({ code: 0, error: '' });
    expect((await run('function', 'runs', 'reports/nightly')).out).toMatch(/reports\/nightly\/\d+ /);
  });

  it('is changed by its code only', async () => {
    for (const words of [
      ['scale', 'send', 'function', '3'],
      ['eval', 'send'],
      ['revert', 'send', '0'],
    ])
      expect(await run('job', ...words)).toMatchObject({
        code: 1,
        error: expect.stringMatching(/is a function, so it cannot be/),
      });
  });
});

describe('a run', () => {
  it('is shown as a job with one allocation', async () => {
    const { id, allocation } = await dispatched('ada');
    const { out } = await run('job', 'status', id);
    expect(out).toMatch(
      new RegExp(`^ID += ${id}\n(?:.|\n)*Status += succeeded\n(?:.|\n)*${allocation} +function .* complete`),
    );
    const status = (await run('alloc', 'status', allocation)).out;
    expect(status).toMatch(
      /Task "function" is dead; restarts: 0\n(?:.|\n)*Received(?:.|\n)*Started(?:.|\n)*Exit Code: 0/,
    );
  });

  it('has a log, of which the latest run of a function is the default', async () => {
    const { id, allocation } = await dispatched('eve');
    expect((await run('alloc', 'logs', allocation)).out).toBe('to eve\n');
    expect((await run('alloc', 'logs', '--stderr', '-n', '1', allocation)).out).toBe('slow\n');
    expect((await run('job', 'logs', '-f', id)).out).toBe('to eve\n');
    expect((await run('job', 'logs', 'send')).out).toBe('to eve\n');
  });

  it('that has failed says why', async () => {
    const { id, allocation } = await dispatched('');
    expect((await run('job', 'status', id)).out).toMatch(/Status += failed\nStatus description += nobody\n/);
    expect((await run('alloc', 'status', allocation)).out).toContain('Status     = failed: nobody\n');
  });

  it('has no processes and files', async () => {
    const { id, allocation } = await dispatched('ada');
    for (const words of [
      ['restart', allocation],
      ['fs', allocation],
    ])
      expect(await run('alloc', ...words)).toMatchObject({
        code: 1,
        error: expect.stringContaining(`"${id}", a run of a function`),
      });
  });
});
