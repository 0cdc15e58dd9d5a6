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

/** The commands of functions against a server of a service that has some. */

const send = defineFunction(
  { name: 'send', input: z.object({ to: z.string() }), retry: { attempts: 1 }, concurrency: 20 },
  async ({ to }, run) => {
    await run.step('look up', () => to);
    run.log.info(`to ${to}`);
    if (to === '') throw Object.assign(new Error('nobody\u001b[31m'), { code: 'ENOBODY' });
    return { sent: to };
  },
);
const nightly = defineFunction<void, void, string>({ name: 'reports/nightly', cron: '0 3 * * *' }, () => 'done');

let server: Server;
let functions: Functions;
let origin = '';
beforeAll(async () => {
  const clock = systemClock();
  const engine = createEngine({
    storage: memoryStorage(),
    clock,
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
  });
  functions = createFunctions(engine, [send, nightly]);
  await functions.start();
  server = createServer(nodeListener(createHttpHandler(engine, { access: 'open' })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await functions.stop({ deadline: 0 });
});

const run = (...words: readonly string[]) => typed(origin, {}, 'function', ...words);
const given = (from: Given, ...words: readonly string[]) => typed(origin, from, 'function', ...words);

describe('functions', () => {
  it('are listed and shown', async () => {
    const { out } = await run('list');
    expect(out).toMatch(
      /^Name +Version +Status .*\nreports\/nightly +1 +active +0 .* \d{4}-\d\d-\d\d 03:00:00 UTC\nsend /,
    );
    expect(JSON.parse((await run('list', '-json')).out)).toMatchObject([{ name: 'reports/nightly' }, { name: 'send' }]);
    expect((await run('list', '--prefix', 'x')).out).toBe('no functions\n');
    expect((await run('status', 'reports/nightly')).out).toMatch(
      /Name += reports\/nightly\n(?:.|\n)*cron +0 3 \* \* \* +UTC/,
    );
    expect((await run('status', 'send')).out).toContain('20 of send:all');
    expect(await run('status', 'none')).toMatchObject({ code: 1, error: 'signalbox: there is no function none\n' });
    expect(await run('status', 'none/5')).toMatchObject({ code: 1, error: 'signalbox: there is no run none/5\n' });
  });

  it('are enqueued, and a run is waited for', async () => {
    const { out } = await run('enqueue', 'send', '{"to": "ada"}', '--delay', '1h', '--meta', 'a=b', '--priority', '60');
    const id = out.replace(/ is enqueued\n$/, '');
    expect((await run('status', id)).out).toMatch(
      /State += scheduled\n(?:.|\n)*Priority += 60\n(?:.|\n)*Meta += a=b\n(?:.|\n)*Input += \{"to":"ada"\}/,
    );
    expect((await run('status', id)).out).toMatch(/Waits because += it is due at/);
    const waited = await given({ files: { '-': '{"to": "bob"}' } }, 'enqueue', '--wait', 'send', '-');
    expect(waited).toMatchObject({ code: 0, out: '{\n  "sent": "bob"\n}\n' });
    expect(await run('enqueue', '--wait', 'reports/nightly')).toMatchObject({ code: 0, out: '"done"\n' });
    const failed = await run('enqueue', '--wait', '-json', 'send', '{"to": ""}');
    expect(failed).toMatchObject({ code: 1, error: expect.stringMatching(/^send\/\d+ failed: nobody\\u001b/) });
    expect(JSON.parse(failed.out)).toMatchObject({ state: 'failed', error: { code: 'ENOBODY' } });
    expect((await run('runs', 'send')).out).toMatch(
      /^ID +State .*\nsend\/\d+ +failed .* nobody\\u001b\[31m\nsend\/\d+ +succeeded /,
    );
    const first = await run('runs', 'send', '--per-page', '1', '--state', 'scheduled', '--state', 'succeeded');
    expect(first.error).toMatch(/^next page: --page-token send\/\d+\n$/);
    expect((await run('runs', 'send', '--meta', 'a=b', '-json')).out).toContain(id);
    expect((await run('runs', 'send', '--to', '2020-01-01')).out).toBe('no runs\n');
    const [last] = JSON.parse((await run('runs', '-json', 'send', '--state', 'succeeded')).out) as { id: string }[];
    expect((await run('log', last?.id ?? '')).out).toMatch(/^\d{4}-.* UTC info to bob\n$/);
  });

  it('have runs that are cancelled and retried', async () => {
    const enqueued = async () =>
      JSON.parse((await run('enqueue', '-json', '--delay', '1h', 'send', '{"to": ""}')).out).id;
    const id = await enqueued();
    await enqueued();
    expect((await run('cancel', id, '--reason', 'not now')).out).toBe(`${id} is being cancelled\n`);
    expect((await run('cancel', id)).out).toBe(`${id} had already ended\n`);
    expect((await run('status', id)).out).toContain('Cancelled: not now');
    expect(await run('cancel', 'send')).toMatchObject({ code: 2, error: expect.stringContaining('--all') });
    expect((await run('cancel', 'send', '--state', 'scheduled')).out).toMatch(/^runs cancelled: [12]\n$/);
    expect((await run('pause', 'send')).out).toBe('send is paused\n');
    expect((await run('status', 'send')).out).toContain('Status       = paused');
    expect((await run('retry', id)).out).toBe(`${id} is queued again\n`);
    expect((await run('retry', id)).out).toBe(`${id} has not ended, or has succeeded\n`);
    expect((await run('retry', 'send', '--error', 'Cancelled')).out).toMatch(/^runs queued again: [12]\n$/);
    expect((await run('cancel', 'send', '--all')).out).toMatch(/^runs cancelled: [23]\n$/);
    expect((await run('resume', 'send')).out).toBe('send is resumed\n');
  });

  it.each([
    [['enqueue', 'send', '{'], 2, 'INPUT is not JSON'],
    [['enqueue', 'send', '{}'], 1, 'is refused'],
    [['enqueue', 'none'], 1, 'there is no function "none"'],
    [['enqueue', 'send', '{}', '--run-at', 'soon'], 2, '--run-at takes a time'],
    [['enqueue', 'send', '{}', '--priority', 'x'], 2, 'takes a number'],
    [['runs', 'none'], 1, 'there is no function none'],
    [['runs', 'send', '--state', 'lost'], 1, 'state'],
    [['runs', 'send', '--meta', 'x'], 2, 'KEY=VALUE'],
    [['cancel', 'send', '--all', '--reason', 'x'], 2, '--reason is for one RUN'],
    [['retry', 'send/999'], 1, 'there is no run'],
    [['log', 'send/999'], 1, 'there is no run "send/999"'],
    [['pause', 'send', '--key', 'a'], 1, 'no limit or rate with a key'],
    [['pause', 'none'], 1, 'there is no function'],
  ])('%j fails with exit code %d: %s', async (words, code, message) => {
    expect(await run(...words)).toMatchObject({ code, error: expect.stringContaining(message) });
  });
});
