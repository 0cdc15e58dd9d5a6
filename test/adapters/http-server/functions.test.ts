import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createHttpHandler, type HttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { neutral } from '../../../adapters/http-server/dialect.js';
import { openApiDocument } from '../../../adapters/http-server/open-api/open-api.js';
import { type ManualClock, manualClock } from '../../../adapters/memory/index.js';
import { connect } from '../../../src/client/index.js';
import { defineFunction, type FunctionDefinition } from '../../../src/functions/define-function.js';
import { type Engine, hostPrincipal, type Principal } from '../../../src/index.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { Functions } from '../../../src/operations/functions/functions-api.js';
import { hostileTexts } from '../../support/hostile-values.js';
import { engineUnderTest } from './engine-under-test.js';

const receipt = defineFunction(
  {
    name: 'send-receipt',
    input: z.object({ to: z.email(), order: z.number() }),
    retry: { attempts: 1 },
    timeout: '30s',
  },
  async ({ to, order }, run) => {
    await run.step('look up', () => order);
    run.log.info(`order ${order}`);
    if (to.endsWith('.invalid')) throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
    return { messageId: order };
  },
);
const keyed = defineFunction<{ account: string }, { account: string }, void>(
  { name: 'sync', concurrency: { limit: 1, key: ({ account }) => account } },
  () => undefined,
);
const nested = defineFunction<void, void, string>({ name: 'mail/send/runs', cron: '0 3 * * *' }, () => 'sent');
const early = defineFunction<void, void, string>({ name: 'run', concurrency: 1 }, () => 'ran');
const like = defineFunction<void, void, string>({ name: 'run/x/5' }, () => 'ran');
const all: readonly FunctionDefinition<never, unknown>[] = [receipt, nested, early, like, keyed];

const caller = (capabilities: readonly string[], namespace = 'default'): Principal =>
  ({
    ...hostPrincipal,
    management: false,
    accessor: capabilities.join(' '),
    namespaces: { [namespace]: { capabilities } },
  }) as Principal;

let clock: ManualClock;
let engine: Engine;
let functions: Functions;
let handler: HttpHandler;
beforeEach(async () => {
  clock = manualClock();
  engine = engineUnderTest({}, undefined, clock);
  functions = createFunctions(engine, all);
  await functions.start();
  handler = createHttpHandler(engine, {
    authenticate: ({ headers }) => callers[String(headers['x-who'] ?? 'host')] ?? null,
  });
});
afterEach(() => void functions.stop({ deadline: 0 }));

const callers: Readonly<Record<string, Principal>> = {
  host: hostPrincipal,
  reader: caller(['read-job']),
  logReader: caller(['read-logs']),
  dispatcher: caller(['dispatch-job']),
  submitter: caller(['submit-job']),
  elsewhere: caller(['read-job', 'dispatch-job', 'submit-job'], 'shop'),
};

async function ask(method: string, target: string, body?: unknown, who = 'host') {
  const response = await handler(
    requestFrom({
      method,
      target,
      headers: { 'x-who': who },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  );
  const text = Buffer.from((response.body ?? '') as string).toString();
  const header = (name: string) =>
    response.headers[response.headers.findIndex((one) => one.toLowerCase() === name) + 1];
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as they are.
  return { status: response.status, text, json: json as any, header };
}

describe('functions over HTTP', () => {
  it('are listed with their policy, schedules and counts', async () => {
    const { status, json } = await ask('GET', '/v1/functions');
    expect(status).toBe(200);
    expect(json.map(({ name }: { name: string }) => name)).toEqual([
      'mail/send/runs',
      'run',
      'run/x/5',
      'send-receipt',
      'sync',
    ]);
    expect(json[0]).toMatchObject({
      namespace: 'default',
      isPaused: false,
      schedules: [{ id: 'cron', schedule: '0 3 * * *', isDeclared: true, nextLaunch: '2026-01-01T03:00:00.000Z' }],
    });
    expect((await ask('GET', '/v1/function/send-receipt')).json).toEqual({
      name: 'send-receipt',
      namespace: 'default',
      version: 1,
      hasHandler: true,
      priority: 50,
      timeout: 30_000,
      retry: { attempts: 1, backoff: 'exponential', delay: 1000, factor: 5, max: 3_600_000, jitter: 0.2 },
      limits: [],
      rates: [],
      keep: { succeeded: { age: 86_400_000, count: 10_000 }, others: { age: 2_592_000_000, count: 10_000 } },
      isPaused: false,
      pausedKeys: [],
      schedules: [],
      counts: { scheduled: 0, queued: 0, running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0, timed_out: 0 },
      hasMore: false,
    });
    expect((await ask('GET', '/v1/functions?prefix=run&per_page=1')).json).toHaveLength(1);
    expect((await ask('GET', '/v1/functions?namespace=shop')).json).toEqual([]);
  });

  it('are enqueued by name, and their runs are read', async () => {
    const sent = await ask('POST', '/v1/function/send-receipt/enqueue', { input: { to: 'a@b.example', order: 7 } });
    expect(sent).toMatchObject({ status: 200, json: { isNew: true } });
    await ask('PUT', '/v1/function/send-receipt/enqueue', { input: { to: 'a@b.invalid', order: 8 } });
    await ask('POST', '/v1/function/send-receipt/enqueue', { input: { to: 'a@b.example', order: 9 }, delay: '1h' });
    await clock.settle();
    const { json } = await ask('GET', `/v1/function/run/${sent.json.id}`);
    expect(json).toEqual({
      id: sent.json.id,
      function: 'send-receipt',
      version: 1,
      state: 'succeeded',
      priority: 50,
      attempt: 1,
      interruptions: 0,
      enqueuedAt: '2026-01-01T00:00:00.000Z',
      dueAt: '2026-01-01T00:00:00.000Z',
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:00.000Z',
      input: { to: 'a@b.example', order: 7 },
      result: { messageId: 7 },
      meta: {},
      steps: ['look up'],
    });
    const listed = await ask('GET', '/v1/function/send-receipt/runs?per_page=2');
    expect(listed.json).toMatchObject([{ state: 'scheduled' }, { state: 'failed', error: { code: 'ENOTFOUND' } }]);
    expect(listed.json[1].input ?? listed.json[1].error.stack).toBeUndefined();
    expect(listed.header('x-svc-nexttoken')).toBe(sent.json.id);
    const rest = await ask('GET', `/v1/function/send-receipt/runs?next_token=${encodeURIComponent(sent.json.id)}`);
    expect(rest.json.map(({ id }: { id: string }) => id)).toEqual([sent.json.id]);
    expect((await ask('GET', '/v1/function/send-receipt/runs?error=ENOTFOUND')).json).toHaveLength(1);
    expect((await ask('GET', '/v1/function/send-receipt/runs?state=failed&state=succeeded')).json).toHaveLength(2);
    expect((await ask('GET', '/v1/function/send-receipt/runs?to=2026-01-01T00:00:00Z')).json).toEqual([]);
    expect((await ask('GET', '/v1/function/send-receipt')).json.counts).toMatchObject({
      scheduled: 1,
      succeeded: 1,
      failed: 1,
    });
  });

  it('are waited for by index: a run until it changes, a list until it has another run', async () => {
    const { json } = await ask('POST', '/v1/function/send-receipt/enqueue', {
      input: { to: 'a@b.example', order: 1 },
      delay: '1m',
    });
    const first = await ask('GET', `/v1/function/run/${json.id}`);
    const list = await ask('GET', '/v1/function/run/runs');
    let over = 0;
    const waiting = [
      ask('GET', `/v1/function/run/${json.id}?wait=9m&index=${first.header('x-svc-index')}`),
      ask('GET', `/v1/function/run/runs?wait=9m&index=${list.header('x-svc-index')}`),
    ];
    for (const each of waiting) void each.then(() => (over += 1));
    await ask('POST', '/v1/function/mail%2Fsend%2Fruns/enqueue');
    await clock.settle();
    expect(over).toBe(0);
    await ask('POST', '/v1/function/run/enqueue');
    expect((await waiting[1])?.json).toHaveLength(1);
    await clock.advance(60_000);
    expect((await waiting[0])?.json.state).not.toBe('scheduled');
  });

  it('have no member that the OpenAPI document does not name', async () => {
    const { schemas } = openApiDocument('', neutral)['components'] as {
      readonly schemas: Readonly<Record<string, { readonly properties: object }>>;
    };
    const named = (schema: string) => Object.keys(schemas[schema]?.properties ?? {});
    const parent = defineFunction<void, void, void>({ name: 'parent' }, async (_, run) => {
      run.progress({ calls: 'mail' });
      await run.call('mail', nested);
    });
    await functions.stop();
    functions = createFunctions(engine, [parent, nested]);
    await functions.start();
    await (await functions.enqueue(parent)).result();
    for (const name of ['parent', 'mail/send/runs']) {
      const { json: listed } = await ask('GET', `/v1/function/${name}/runs`);
      const [run = { id: '' }] = listed as { readonly id: string }[];
      expect(named('FunctionRunSummary')).toEqual(expect.arrayContaining(Object.keys(run)));
      expect(Object.keys(run)).toContain(name === 'parent' ? 'progress' : 'parent');
      const { json: shown } = await ask('GET', `/v1/function/run/${run.id}`);
      expect(named('FunctionRun')).toEqual(expect.arrayContaining(Object.keys(shown as object)));
    }
  });

  it('are named in paths whatever their name is, escaped or raw', async () => {
    for (const [target, name] of [
      ['/v1/function/mail%2Fsend%2Fruns', 'mail/send/runs'],
      ['/v1/function/run', 'run'],
      ['/v1/function/run%2Fx%2F5', 'run/x/5'],
    ] as const)
      expect((await ask('GET', target)).json?.name, target).toBe(name);
    for (const target of [
      '/v1/function/mail%2Fsend%2Fruns/enqueue',
      '/v1/function/mail/send/runs/enqueue',
      '/v1/function/run/enqueue',
      '/v1/function/run%2Fx%2F5/enqueue',
    ]) {
      const { status, json } = await ask('POST', target);
      expect(status, target).toBe(200);
      for (const id of [json.id, encodeURIComponent(json.id)])
        expect((await ask('GET', `/v1/function/run/${id}`)).json?.id, id).toBe(json.id);
    }
    expect((await ask('GET', '/v1/function/mail/send/runs/runs')).json).toHaveLength(2);
    expect((await ask('GET', '/v1/function/mail/send/runs')).status).toBe(404);
  });

  it('are paused and resumed', async () => {
    expect((await ask('POST', '/v1/function/run/pause')).status).toBe(200);
    expect((await ask('GET', '/v1/function/run')).json.isPaused).toBe(true);
    const { json } = await ask('POST', '/v1/function/run/enqueue');
    await clock.settle();
    expect((await ask('GET', `/v1/function/run/${json.id}`)).json.state).toBe('queued');
    expect((await ask('PUT', '/v1/function/run/resume')).status).toBe(200);
    await clock.settle();
    expect((await ask('GET', `/v1/function/run/${json.id}`)).json.state).toBe('succeeded');
  });

  it('are paused for one key, and say what a run waits for', async () => {
    expect((await ask('POST', '/v1/function/sync/pause', { key: 'a' })).status).toBe(200);
    expect((await ask('GET', '/v1/function/sync')).json).toMatchObject({ isPaused: false, pausedKeys: ['a'] });
    const enqueue = async (account: string) =>
      (await ask('POST', '/v1/function/sync/enqueue', { input: { account } })).json.id as string;
    const [held, free] = [await enqueue('a'), await enqueue('b')];
    await clock.settle();
    expect((await ask('GET', `/v1/function/run/${free}`)).json.state).toBe('succeeded');
    expect((await ask('GET', `/v1/function/run/${held}/explain`)).json).toMatchObject({ reason: 'paused' });
    expect((await ask('GET', '/v1/function/sync/runs?key=a')).json).toHaveLength(1);
    expect((await ask('POST', '/v1/function/sync/cancel', { key: 'b' })).json).toEqual({ count: 0 });
    expect((await ask('POST', '/v1/function/sync/resume', { key: 'a' })).status).toBe(200);
    await clock.settle();
    expect((await ask('GET', `/v1/function/run/${held}`)).json.state).toBe('succeeded');
    expect(await ask('POST', '/v1/function/run/pause', { key: 'a' })).toMatchObject({ status: 400 });
    expect((await ask('GET', '/v1/function/run/none/5/explain')).status).toBe(404);
  });

  it('are debounced, and show what their runs have logged to those who may read logs', async () => {
    const debounce = { key: 'k', wait: '10s' };
    const enqueue = (order: number) =>
      ask('POST', '/v1/function/send-receipt/enqueue', { input: { to: 'a@b.example', order }, debounce });
    const first = await enqueue(1);
    expect((await enqueue(2)).json).toEqual({ id: first.json.id, isNew: false });
    await clock.advance(11_000);
    const target = `/v1/function/run/${first.json.id}/log`;
    expect((await ask('GET', target)).json).toEqual([
      { at: '2026-01-01T00:00:10.000Z', level: 'info', text: 'order 2' },
    ]);
    expect((await ask('GET', target, undefined, 'reader')).status).toBe(403);
    expect((await ask('GET', target, undefined, 'logReader')).status).toBe(200);
    expect((await ask('GET', '/v1/function/run/send-receipt/999/log')).status).toBe(404);
    expect(await ask('POST', '/v1/function/send-receipt/enqueue', { debounce, delay: '1s' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('debounce excludes delay'),
    });
  });

  it('have runs that are cancelled and retried, one or all that match', async () => {
    const enqueue = async (order: number) =>
      (
        await ask('POST', '/v1/function/send-receipt/enqueue', {
          input: { to: 'a@b.invalid', order },
          delay: '1h',
          meta: { order: `${order}` },
        })
      ).json.id as string;
    const [one = '', , three = ''] = [await enqueue(1), await enqueue(2), await enqueue(3)];
    expect((await ask('POST', `/v1/function/run/${one}/cancel`, { reason: 'no longer needed' })).json).toEqual({
      isChanged: true,
    });
    expect((await ask('GET', `/v1/function/run/${one}`)).json).toMatchObject({
      state: 'cancelled',
      error: { message: 'no longer needed' },
    });
    expect((await ask('POST', `/v1/function/run/${one}/cancel`)).json).toEqual({ isChanged: false });
    expect((await ask('POST', '/v1/function/send-receipt/cancel', { meta: { order: '2' } })).json).toEqual({
      count: 1,
    });
    expect((await ask('POST', '/v1/function/send-receipt/cancel')).json).toEqual({ count: 1 });
    expect((await ask('GET', '/v1/function/send-receipt')).json.counts).toMatchObject({ cancelled: 3, failed: 0 });
    expect((await ask('POST', `/v1/function/run/${three}/retry`)).json).toEqual({ isChanged: true });
    await clock.settle();
    expect((await ask('GET', `/v1/function/run/${three}`)).json.state).toBe('failed');
    expect((await ask('POST', '/v1/function/send-receipt/retry', { state: ['cancelled'] })).json).toEqual({ count: 2 });
    await clock.settle();
    expect((await ask('GET', '/v1/function/send-receipt')).json.counts).toMatchObject({ cancelled: 0, failed: 3 });
  });

  it.each<[string, unknown, number, RegExp]>([
    [
      'an input that its schema refuses',
      { input: { to: 'nobody', order: 1 } },
      400,
      /input of send-receipt is refused/,
    ],
    ['no input', undefined, 400, /is refused/],
    ['a priority out of range', { input: { to: 'a@b.example', order: 1 }, priority: 101 }, 400, /priority/],
    ['a delay that is none', { input: { to: 'a@b.example', order: 1 }, delay: 'soon' }, 400, /delay/],
    ['a key that is none', { input: { to: 'a@b.example', order: 1 }, unique: { key: 7 } }, 400, /unique/],
    ['an input that is too long', { input: { to: `${'a'.repeat(1024 * 1024)}@b.example`, order: 1 } }, 400, /at most/],
    ['JSON that is none', '{', 400, /JSON/],
    ['a list', [], 400, /object/],
  ])('refuse %s, and enqueue nothing', async (_name, body, status, message) => {
    const answer = await ask('POST', '/v1/function/send-receipt/enqueue', body);
    expect(answer).toMatchObject({ status, text: expect.stringMatching(message) });
    expect(await functions.list()).toEqual([]);
  });

  it('refuse an idempotency key with another input', async () => {
    const body = (order: number) => ({ input: { to: 'a@b.example', order }, idempotencyKey: 'k' });
    const first = await ask('POST', '/v1/function/send-receipt/enqueue', body(1));
    expect((await ask('POST', '/v1/function/send-receipt/enqueue', body(1))).json).toEqual({
      ...first.json,
      isNew: false,
    });
    expect((await ask('POST', '/v1/function/send-receipt/enqueue', body(2))).status).toBe(409);
  });

  it('are enqueued only where they are defined', async () => {
    const request = requestFrom({ method: 'POST', target: '/v1/function/send-receipt/enqueue', body: '{}' });
    engine.definitions.delete('default/send-receipt');
    expect(await handler(request)).toMatchObject({ status: 409 });
    expect((await ask('POST', '/v1/function/unknown/enqueue')).status).toBe(404);
  });

  it('need rights in their namespace', async () => {
    const { json } = await ask('POST', '/v1/function/run/enqueue');
    const statuses = async (method: string, target: string): Promise<Record<string, number>> =>
      Object.fromEntries(
        await Promise.all(
          ['reader', 'dispatcher', 'submitter', 'elsewhere'].map(async (who) => [
            who,
            (await ask(method, target, undefined, who)).status,
          ]),
        ),
      );
    const only = (who: string) => ({ reader: 403, dispatcher: 403, submitter: 403, elsewhere: 403, [who]: 200 });
    for (const target of ['/v1/functions', '/v1/function/run', '/v1/function/run/runs', `/v1/function/run/${json.id}`])
      expect(await statuses('GET', target), target).toEqual(only('reader'));
    expect(await statuses('POST', '/v1/function/run/enqueue')).toEqual(only('dispatcher'));
    for (const deed of ['cancel', 'retry', 'pause', 'resume'])
      expect(await statuses('POST', `/v1/function/run/${deed}`), deed).toEqual(only('submitter'));
    for (const deed of ['cancel', 'retry'])
      expect(await statuses('POST', `/v1/function/run/${json.id}/${deed}`), deed).toEqual(only('submitter'));
    for (const [method, target] of [
      ['GET', '/v1/function/run'],
      ['GET', '/v1/function/run/runs'],
      ['GET', `/v1/function/run/${json.id}`],
      ['POST', '/v1/function/run/enqueue'],
      ['POST', '/v1/function/run/cancel'],
      ['POST', '/v1/function/run/pause'],
      ['POST', `/v1/function/run/${json.id}/cancel`],
      ['POST', `/v1/function/run/${json.id}/retry`],
    ] as const)
      expect((await ask(method, `${target}?namespace=shop`, undefined, 'elsewhere')).status, target).toBe(404);
    expect((await ask('GET', '/v1/functions?namespace=*', undefined, 'elsewhere')).json).toEqual([]);
  });

  it('answer hostile values with 4xx, and change nothing', async () => {
    await ask('POST', '/v1/function/run/enqueue', { delay: '1d' });
    const before = JSON.stringify(await functions.list());
    const bad: unknown[] = [...hostileTexts, -1, 0.5, 1e308, true, [], [null], {}, { key: '' }, 2 ** 60];
    for (const value of bad) {
      const text = encodeURIComponent(String(value).replaceAll(/\p{Surrogate}/gu, '\ufffd'));
      const reads = [
        `/v1/functions?prefix=${text}&next_token=${text}`,
        `/v1/function/${text}`,
        `/v1/function/${text}/runs`,
        `/v1/function/run/${text}/5`,
        ...['state', 'error', 'batch', 'meta', 'from', 'to', 'per_page', 'next_token'].map(
          (name) => `/v1/function/run/runs?${name}=${text}`,
        ),
      ];
      for (const target of reads) expect((await ask('GET', target)).status, target).toBeLessThan(500);
      for (const name of ['delay', 'runAt', 'priority', 'meta', 'ttl', 'idempotencyKey', 'unique', 'debounce']) {
        const { status, text: message } = await ask('POST', '/v1/function/send-receipt/enqueue', { [name]: value });
        expect(status, `${name} ${JSON.stringify(value)}: ${message}`).toBe(400);
      }
      for (const name of ['state', 'error', 'batch', 'meta', 'from', 'to'])
        for (const deed of ['cancel', 'retry']) {
          const given = deed === 'cancel' ? { error: 'none', [name]: value } : { [name]: value };
          const { status } = await ask('POST', `/v1/function/run/${deed}`, given);
          expect(status, `${deed} ${name} ${JSON.stringify(value)}`).toBeLessThan(500);
        }
      expect((await ask('POST', '/v1/function/run/x/5/cancel', { reason: value })).status).toBeLessThan(500);
    }
    expect(JSON.stringify(await functions.list())).toBe(before);
  });
});

it('who may read nowhere is refused a list of all namespaces, of functions as of jobs', async () => {
  const engine = engineUnderTest();
  const [stranger, reader] = [caller([]), caller(['read-job', 'list-jobs'])].map((by) => engine.as(by));
  for (const area of ['functions', 'jobs'] as const) {
    const refused = await stranger?.[area].list({ namespace: '*' });
    expect(refused?._unsafeUnwrapErr().type, area).toBe('permission_denied');
    expect((await reader?.[area].list({ namespace: '*' }))?.isOk(), area).toBe(true);
  }
});

it('the typed clients have the same answers, in process and over HTTP', async () => {
  const fetching: typeof fetch = async (input, init) => {
    const request = new Request(input as Request, init);
    const url = new URL(request.url);
    const body = request.method === 'GET' ? undefined : await request.text();
    const response = await handler(
      requestFrom({
        method: request.method,
        target: url.pathname + url.search,
        headers: Object.fromEntries(request.headers),
        ...(body === undefined ? {} : { body }),
      }),
    );
    const headers = new Headers();
    for (let at = 0; at < response.headers.length; at += 2)
      headers.append(response.headers[at] as string, response.headers[at + 1] as string);
    return new Response(response.body as string, { status: response.status, headers });
  };
  const remote = connect({ url: 'http://box.example', fetch: fetching });
  const local = engine.as(hostPrincipal);
  for (const box of [local, remote]) {
    const enqueued = (await box.functions.enqueue('mail/send/runs', { meta: { a: 'b' } }))._unsafeUnwrap();
    await clock.settle();
    const run = (await box.functions.run(enqueued.id))._unsafeUnwrap();
    expect(run.value).toMatchObject({ id: enqueued.id, state: 'succeeded', result: 'sent' });
    expect((await box.functions.explain(enqueued.id))._unsafeUnwrap().reason).toBe('held');
    expect((await box.functions.log('none/5'))._unsafeUnwrapErr().type).toBe('function_run_not_found');
    const runs = (await box.functions.runs('mail/send/runs', { state: ['succeeded'], meta: ['a=b'] }))._unsafeUnwrap();
    expect(runs.value?.items[0]?.id).toBe(enqueued.id);
    expect((await box.functions.cancel('send-receipt', { state: 'queued', meta: { a: 'b' } }))._unsafeUnwrap()).toEqual(
      { count: 0 },
    );
    expect((await box.functions.enqueue('none'))._unsafeUnwrapErr().type).toBe('function_not_found');
  }
  expect((await remote.functions.list())._unsafeUnwrap().value).toEqual(
    (await local.functions.list())._unsafeUnwrap().value,
  );
});

describe('the jobs of functions over HTTP', () => {
  const payload = Buffer.from('{"to":"ada@example.net","order":7}').toString('base64');
  const document = {
    ...{ ID: 'send-receipt', Type: 'batch', Datacenters: ['*'] },
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock' }] }],
  };

  it('are dispatched, read and followed to the log of a run', async () => {
    const { status, json } = await ask('PUT', '/v1/job/send-receipt/dispatch', { Payload: payload, Meta: { a: 'b' } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ DispatchedJobID: expect.stringMatching(/^send-receipt\/dispatch-\d+$/), EvalID: '' });
    await clock.settle();
    const path = `/v1/job/${encodeURIComponent(json.DispatchedJobID)}`;
    expect((await ask('GET', path)).json).toMatchObject({ Status: 'dead', ParentID: 'send-receipt', Payload: payload });
    const [allocation] = (await ask('GET', `${path}/allocations`)).json;
    expect((await ask('GET', `/v1/allocation/${allocation.ID}`)).json.Job.ID).toBe(json.DispatchedJobID);
    const log = `/v1/client/fs/logs/${allocation.ID}?task=function&type=stdout&plain=true`;
    expect((await ask('GET', log, undefined, 'reader')).status).toBe(403);
    expect((await ask('GET', `${path}/versions?diffs=true`)).json).toMatchObject({ Diffs: null });
    const listed = await ask('GET', '/v1/jobs?prefix=send-receipt/&per_page=1&reverse=true');
    expect(listed.json).toMatchObject([{ ID: json.DispatchedJobID, JobSummary: { Children: { Dead: 0 } } }]);
    expect((await ask('GET', '/v1/jobs')).json).toHaveLength(all.length);
  });

  it.each<[string, string, object]>([
    ['PUT', '/v1/jobs', { Job: document }],
    ['PUT', '/v1/job/send-receipt', { Job: document }],
    ['PUT', '/v1/job/send-receipt/plan', { Job: document }],
    ['PUT', '/v1/job/send-receipt/scale', { Count: 2, Message: 'more', Target: { Group: 'function' } }],
    ['PUT', '/v1/job/send-receipt/evaluate', { JobID: 'send-receipt' }],
    ['PUT', '/v1/job/send-receipt/revert', { JobID: 'send-receipt', JobVersion: 0 }],
    ['PUT', '/v1/job/send-receipt/stable', { JobID: 'send-receipt', JobVersion: 0, Stable: true }],
  ])('refuse %s %s with 409, with the names of the upstream, too', async (method, path, body) => {
    const upstream = createHttpHandler(engine, { access: 'open', names: 'upstream' });
    const given = requestFrom({ method, target: path, headers: {}, body: JSON.stringify(body) });
    expect((await upstream(given)).status).toBe(409);
    const { status, text } = await ask(method, path, body);
    expect([status, text]).toEqual([409, expect.stringMatching(/is a function, so it cannot be/)]);
  });

  it.each(hostileTexts)('answer IDs with %j without an error of the server', async (hostile) => {
    const part = encodeURIComponent(hostile.replace(/[\ud800-\udfff]/g, '�'));
    for (const id of [`send-receipt/${part}`, `send-receipt/dispatch-${part}`, `${part}/dispatch-1`]) {
      const targets = [
        `/v1/job/${encodeURIComponent(id)}`,
        `/v1/job/${id}/allocations`,
        `/v1/jobs?prefix=${id}&next_token=${part}`,
      ];
      for (const target of targets) expect((await ask('GET', target)).status).toBeLessThan(500);
    }
    const dispatch = await ask('PUT', '/v1/job/send-receipt/dispatch', { Payload: hostile, IdempotencyToken: hostile });
    expect(dispatch.status).toBeLessThan(500);
    expect(dispatch.status).toBeGreaterThanOrEqual(400);
  });
});
