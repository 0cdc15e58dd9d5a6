import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { okAsync } from 'neverthrow';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createHttpHandler,
  type HttpHandler,
  type HttpHandlerOptions,
  type HttpResponse,
  nodeListener,
  requestFrom,
  upgradeListener,
} from '../../../adapters/compat/index.js';
import type { Route } from '../../../adapters/http-server/calls/router.js';
import { handlerOver } from '../../../adapters/http-server/http-handler.js';
import { type ManualClock, manualClock, memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { aesCipher, randomIds } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { sessions } from '../../../src/access/tokens.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import type { Logger, Storage } from '../../../src/ports/index.js';
import { hour, second } from '../../../src/shared/duration.js';
import { scratchFolder } from '../sqlite/sqlite-files.js';
import { engineUnderTest, filledEngine } from './engine-under-test.js';
import { mounts } from './mounts.js';
import { pathValues, sampleJob } from './route-samples.js';

/* Sign-in of a web page: a token is exchanged for a cookie, which the browser then sends by itself. */

const start = Date.parse('2030-01-01T00:00:00Z');
const uuid = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const headerOf = ({ headers }: HttpResponse, name: string): string | undefined =>
  headers.find((_value, at) => at % 2 === 1 && headers[at - 1] === name);

const ask = (handler: HttpHandler, target: string, sent: Sent = {}): Promise<HttpResponse> =>
  handler(requestFrom({ target, ...sent }));

/** What the browser would send back; empty without a cookie. */
const cookieOf = (response: HttpResponse): string => (headerOf(response, 'Set-Cookie') ?? '').split(';')[0] ?? '';

const signIn = (handler: HttpHandler, body: unknown, headers: Sent['headers'] = {}): Promise<HttpResponse> =>
  ask(handler, '/ui-session', { method: 'POST', body, headers });

const statusOf = async (answer: Promise<HttpResponse>): Promise<number> => (await answer).status;

const jsonOf = async (answer: Promise<HttpResponse>): Promise<unknown> => JSON.parse(String((await answer).body));

function engineOn(storage: Storage, clock: ManualClock, logger?: Logger): Engine {
  const ports = { storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) };
  return createEngine(logger === undefined ? ports : { ...ports, logger });
}

const writer = { default: { capabilities: ['list-jobs', 'submit-job', 'read-job', 'alloc-exec'] as const } };

async function tokenOf(engine: Engine, more: object = {}) {
  const { secret, token } = (await engine.host.putToken({ name: 'ada', namespaces: writer, ...more }))._unsafeUnwrap();
  return { secret, accessor: token.accessor };
}

/** A signed-in browser; `write` makes a write of a page. */
async function house(options: HttpHandlerOptions = { access: 'token' }, more: object = {}) {
  const clock = manualClock(start);
  const lines: string[] = [];
  const note = (...line: readonly unknown[]): void => void lines.push(JSON.stringify(line));
  const engine = engineOn(memoryStorage(), clock, { debug: note, info: note, warn: note, error: note });
  const handler = createHttpHandler(engine, options);
  const token = await tokenOf(engine, more);
  const response = await signIn(handler, { token: token.secret });
  const cookie = cookieOf(response);
  const read = (target: string, headers: Sent['headers'] = {}) =>
    ask(handler, target, { headers: { cookie, ...headers } });
  const write = (target: string, sent: Sent = {}) =>
    ask(handler, target, { method: 'POST', ...sent, headers: { cookie, 'x-svc-session': '1', ...sent.headers } });
  const remove = async (accessor: string) => (await engine.as(hostPrincipal).tokens.remove(accessor))._unsafeUnwrap();
  return { clock, engine, handler, lines, ...token, response, cookie, read, write, remove };
}

const registration = { body: { Job: sampleJob('by-a-page') } };
const none = { session: null };

describe('a session', () => {
  it('is a cookie without a path, which no script reads and no other site sends, and does not contain the token', async () => {
    const { response, secret, engine } = await house();
    expect(response.status).toBe(200);
    expect(JSON.parse(String(response.body))).toEqual({ session: { expiresAt: '2030-01-01T12:00:00.000Z' } });
    expect(headerOf(response, 'Set-Cookie')).toMatch(
      new RegExp(`^signalbox_session=${uuid}; Max-Age=43200; HttpOnly; SameSite=Strict$`),
    );
    expect(headerOf(response, 'Cache-Control')).toBe('no-store');
    expect(JSON.stringify(response)).not.toContain(secret);
    const stored = await engine.storage.read((view) => view.list(sessions).map(({ text }) => text));
    expect(stored._unsafeUnwrap()).toHaveLength(1);
    expect(stored._unsafeUnwrap().join()).not.toContain(secret);
    expect(stored._unsafeUnwrap().join()).not.toContain(cookieOf(response).split('=')[1]);
  });

  it.each([
    ['the origin of the page is', { origin: 'https://localhost', host: 'localhost' }, true],
    ['the origin of the page is not', { origin: 'http://localhost', host: 'localhost' }, false],
    ['no header says so', {}, false],
    ['only a forwarded header says so', { 'x-forwarded-proto': 'https' }, false],
  ])('is for https only if %s', async (_how, headers, expected) => {
    const { handler, secret } = await house();
    const cookie = headerOf(await signIn(handler, { token: secret }, headers), 'Set-Cookie') ?? '';
    expect(cookie.endsWith('; Secure')).toBe(expected);
  });

  it('is for https only if nothing but the public origin says how pages see the server, and that is https', async () => {
    const engine = engineUnderTest({ notifications: { publicOrigin: 'https://jobs.example.org' } });
    const { secret } = await tokenOf(engine);
    const response = await signIn(createHttpHandler(engine, { access: 'token' }), { token: secret });
    expect(headerOf(response, 'Set-Cookie')).toContain('; Secure');
  });

  it('has the rights of its token for reads, writes and the interface of notifications', async () => {
    const { read, write, handler } = await house({ access: 'token' }, { workspaces: { 'ws-1': 'admin' } });
    expect(await statusOf(read('/v1/jobs'))).toBe(200);
    expect(await statusOf(write('/v1/jobs', registration))).toBe(200);
    expect(await statusOf(read('/v1/nodes'))).toBe(403);
    const path = '/workspaces/ws-1/notification-configurations';
    expect(await statusOf(ask(handler, path))).toBe(401);
    expect(await statusOf(read(path))).toBe(404);
    expect(await jsonOf(read('/v1/acl/rights'))).toMatchObject({ name: 'ada' });
  });

  it('is shown until when it lasts, without a secret', async () => {
    const { read, handler, cookie } = await house();
    expect(await jsonOf(read('/ui-session'))).toEqual({ session: { expiresAt: '2030-01-01T12:00:00.000Z' } });
    expect(String((await read('/ui-session')).body)).not.toContain(cookie.split('=')[1]);
    expect(await jsonOf(ask(handler, '/ui-session'))).toEqual(none);
  });

  it('yields to a token in a header, whether it is known or not', async () => {
    const { read, engine } = await house();
    const other = await tokenOf(engine, { name: 'eve', namespaces: {} });
    expect(await jsonOf(read('/v1/acl/rights', { 'x-svc-token': other.secret }))).toMatchObject({ name: 'eve' });
    expect(await statusOf(read('/v1/jobs', { authorization: `Bearer ${other.secret}` }))).toBe(403);
    expect(await statusOf(read('/v1/jobs', { authorization: 'Bearer of-nobody' }))).toBe(403);
    expect(await statusOf(read('/v1/jobs', { authorization: 'Basic YTpi' }))).toBe(200);
  });

  it('is no token, and a token is no session', async () => {
    const { handler, cookie, secret } = await house();
    const session = cookie.split('=')[1] ?? '';
    expect(await statusOf(ask(handler, '/v1/jobs', { headers: { 'x-svc-token': session } }))).toBe(403);
    expect(await statusOf(signIn(handler, { token: session }))).toBe(403);
    const headers = { cookie: `signalbox_session=${secret}` };
    expect(await statusOf(ask(handler, '/v1/jobs', { headers }))).toBe(403);
  });

  it('gets no secret of a token, also if the store has them encrypted, and makes no one-time token', async () => {
    const clock = manualClock(start);
    const cipher = aesCipher({ keys: [{ id: 'k', key: new Uint8Array(32) }], current: 'k' });
    const ports = { storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery({ clock }), cipher };
    const engine = createEngine(ports);
    const handler = createHttpHandler(engine, { access: 'token' });
    const { secret, accessor } = await tokenOf(engine, { management: true });
    const cookie = cookieOf(await signIn(handler, { token: secret }));
    const headers = { cookie, 'x-svc-session': '1' };
    for (const target of ['/v1/acl/token/self', `/v1/acl/token/${accessor}`]) {
      const own = { headers: { 'x-svc-token': secret } };
      expect(await jsonOf(ask(handler, target, own))).toMatchObject({ SecretID: secret });
      expect(await jsonOf(ask(handler, target, { headers }))).toMatchObject({ AccessorID: accessor, SecretID: '' });
    }
    const change = {
      method: 'PUT',
      headers,
      body: { AccessorID: accessor, Name: 'ada', Type: 'management', Global: true },
    };
    const changed = await ask(handler, `/v1/acl/token/${accessor}`, change);
    expect(changed.status, String(changed.body)).toBe(200);
    expect(JSON.stringify(changed)).not.toContain(secret);
    expect(await statusOf(ask(handler, '/v1/acl/token/onetime', { method: 'PUT', headers }))).toBe(403);
  });
});

describe('a session ends', () => {
  it('after 12 hours', async () => {
    const { clock, read, write } = await house();
    await clock.advance(12 * hour - second);
    expect(await statusOf(read('/v1/jobs'))).toBe(200);
    await clock.advance(second);
    expect(await statusOf(read('/v1/jobs'))).toBe(403);
    expect(await statusOf(write('/v1/jobs', registration))).toBe(403);
    expect(await jsonOf(read('/ui-session'))).toEqual(none);
  });

  it('with its token, at its expiry', async () => {
    const { clock, engine, handler } = await house();
    const input = { name: 't', type: 'client', policies: ['p'], lifetime: hour };
    const token = (await engine.as(hostPrincipal).tokens.create(input))._unsafeUnwrap().value;
    const response = await signIn(handler, { token: token.SecretID });
    expect(headerOf(response, 'Set-Cookie')).toContain('Max-Age=3600');
    const headers = { cookie: cookieOf(response) };
    expect(await jsonOf(ask(handler, '/v1/acl/rights', { headers }))).toMatchObject({ name: 't' });
    await clock.advance(hour);
    expect(await jsonOf(ask(handler, '/v1/acl/rights', { headers }))).toMatchObject({ accessor: 'anonymous' });
    expect(await jsonOf(ask(handler, '/ui-session', { headers }))).toEqual(none);
    expect(await statusOf(signIn(handler, { token: token.SecretID }))).toBe(403);
  });

  it('with its token, when it is removed, for good', async () => {
    const { read, engine, remove, accessor } = await house();
    await remove(accessor);
    expect(await statusOf(read('/v1/jobs'))).toBe(403);
    expect(await jsonOf(read('/ui-session'))).toEqual(none);
    const secret = '11111111-2222-4333-8444-555555555555';
    const tokens = engine.as(hostPrincipal).tokens;
    (await tokens.update(accessor, { secret, name: 'new', type: 'client', policies: ['p'] }))._unsafeUnwrap();
    expect(await jsonOf(read('/v1/acl/rights'))).toMatchObject({ accessor: 'anonymous' });
  });

  it('by sign-out, which clears the cookie and what the browser has stored', async () => {
    const { read, write, handler, engine, cookie, response } = await house();
    const out = await write('/ui-session', { method: 'DELETE' });
    expect(out).toMatchObject({ status: 204, body: '' });
    expect(headerOf(out, 'Set-Cookie')).toBe('signalbox_session=; Max-Age=0; HttpOnly; SameSite=Strict');
    expect(headerOf(out, 'Clear-Site-Data')).toBe('"cache", "storage"');
    expect(await statusOf(read('/v1/jobs'))).toBe(403);
    expect((await engine.storage.read((view) => view.list(sessions).length))._unsafeUnwrap()).toBe(0);
    expect(await statusOf(write('/ui-session', { method: 'DELETE' }))).toBe(204);
    expect(await statusOf(ask(handler, '/ui-session', { method: 'DELETE' }))).toBe(204);
    expect(cookieOf(response)).toBe(cookie);
  });

  it('as the oldest of its token when there are 20 others; expired ones are removed with the next', async () => {
    const { clock, engine, handler, secret, read, cookie } = await house();
    const other = await tokenOf(engine);
    await signIn(handler, { token: other.secret });
    const later: string[] = [];
    for (let n = 0; n < 19; n += 1) later.push(cookieOf(await signIn(handler, { token: secret })));
    expect(await statusOf(read('/v1/jobs'))).toBe(200);
    later.push(cookieOf(await signIn(handler, { token: secret })));
    expect(await statusOf(read('/v1/jobs'))).toBe(403);
    for (const each of later) expect(await statusOf(ask(handler, '/v1/jobs', { headers: { cookie: each } }))).toBe(200);
    const rows = async () => (await engine.storage.read((view) => view.list(sessions).length))._unsafeUnwrap();
    expect(await rows()).toBe(21);
    await clock.advance(12 * hour);
    await signIn(handler, { token: secret });
    expect(await rows()).toBe(1);
    expect(cookie).not.toBe('');
  });

  it('for what has begun by it: streams, and reads that wait', async () => {
    const { engine, read, write } = await house({ access: 'token' }, { management: true });
    const opened = async (target: string) => {
      const { body } = await read(target);
      return (body as AsyncIterable<string>)[Symbol.asyncIterator]();
    };
    const events = await opened('/v1/event/stream?topic=Job');
    const log = await opened('/v1/agent/monitor');
    await Promise.all([events.next(), log.next()]);
    const ends = [events.next(), log.next()];
    await write('/v1/jobs', registration);
    const index = (await engine.storage.read((view) => view.index))._unsafeUnwrap();
    const waiting = read(`/v1/jobs?index=${index}&wait=60s`);
    await expect.poll(() => engine.parked.size).toBe(1);
    expect((await ends[0])?.done).toBe(false);
    const end = events.next();
    expect(await statusOf(write('/ui-session', { method: 'DELETE' }))).toBe(204);
    expect((await end).done).toBe(true);
    for (let item = await ends[1]; item?.done === false; item = await log.next());
    (await engine.as(hostPrincipal).jobs.register(sampleJob('later')))._unsafeUnwrap();
    expect(await statusOf(waiting)).toBe(403);
  });
});

describe('a write with the cookie', () => {
  it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s needs the header of the page', async (method) => {
    const { read, write, engine } = await house();
    const index = () => engine.storage.read((view) => view.index).unwrapOr(0);
    const before = await index();
    const target = method === 'DELETE' ? '/v1/job/x' : '/v1/jobs';
    const sent = { method, ...registration };
    for (const header of ['', '0', 'true', '1, 1']) {
      const refused = await write(target, { ...sent, headers: { 'x-svc-session': header } });
      if (method === 'PATCH') expect(refused.status).toBe(405);
      else expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('"X-SVC-Session: 1"')]);
    }
    expect(await index()).toBe(before);
    expect(await statusOf(read('/v1/jobs'))).toBe(200);
  });

  it.each([
    ['a page of another origin', { origin: 'https://evil.example', host: 'localhost' }],
    ['a page without an origin', { origin: 'null', host: 'localhost' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('of %s changes nothing, also with the header', async (_who, headers) => {
    const { write, read, handler, secret } = await house();
    expect(await statusOf(write('/v1/jobs', { ...registration, headers }))).toBe(403);
    expect(await statusOf(write('/ui-session', { method: 'DELETE', headers }))).toBe(403);
    const refused = await signIn(handler, { token: secret }, headers);
    expect([refused.status, headerOf(refused, 'Set-Cookie')]).toEqual([403, undefined]);
    expect(await jsonOf(read('/v1/jobs'))).toEqual([]);
    expect(await jsonOf(read('/ui-session'))).not.toEqual(none);
  });

  it('is none by GET, also with the header: calls that act are for POST', async () => {
    const { read, write } = await house({ access: 'token' }, { management: true });
    const refused = await read('/v1/client/gc', { 'x-svc-session': '1' });
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('POST')]);
    expect((await write('/v1/client/gc')).body).not.toContain('session');
  });

  it('signs out only with the header', async () => {
    const { write, read } = await house();
    expect(await statusOf(write('/ui-session', { method: 'DELETE', headers: { 'x-svc-session': '' } }))).toBe(403);
    expect(await statusOf(read('/v1/jobs'))).toBe(200);
  });
});

describe('sign-in', () => {
  const secrets = { token: 'wrong-secret-of-nobody', oneTimeToken: 'wrong-secret-of-nobody' };

  it.each(Object.entries(secrets))(
    'with an unknown %s is refused without a write, and tells no secret',
    async (name, value) => {
      const { engine, handler, lines } = await house();
      const before = await engine.storage.read((view) => view.index);
      const refused = await signIn(handler, { [name]: value });
      expect([refused.status, headerOf(refused, 'Set-Cookie')]).toEqual([403, undefined]);
      expect(refused.body).toMatch(/^the (one-time )?token is unknown/);
      expect(await engine.storage.read((view) => view.index)).toEqual(before);
      expect(JSON.stringify(refused) + lines.join()).not.toContain('wrong-secret');
    },
  );

  it.each([
    ['no body', undefined],
    ['no JSON', "{'token': 'half-secret'}"],
    ['a secret without quotes', '{"token": half-secret}'],
    ['a secret alone', 'half-secret'],
    ['JSON that ends early', '{"token": "half-secret'],
    ['a list', ['half-secret']],
    ['null', 'null'],
    ['nothing', {}],
    ['a number', { token: 7 }],
    ['both', { token: 'half-secret', oneTimeToken: 'half-secret' }],
    ['a further member', { token: 'half-secret', path: '/' }],
    ['another name', { secret: 'half-secret' }],
  ])('with %s is a mistake, and the answer quotes nothing', async (_what, body) => {
    const { handler } = await house();
    const refused = await ask(handler, '/ui-session', { method: 'POST', body });
    expect(refused.status).toBe(400);
    expect(String(refused.body)).not.toContain('half-secret');
  });

  it('takes a one-time token once', async () => {
    const { handler, engine, secret } = await house();
    const made = await ask(handler, '/v1/acl/token/onetime', { method: 'PUT', headers: { 'x-svc-token': secret } });
    const oneTimeToken: string = JSON.parse(String(made.body)).OneTimeToken.OneTimeSecretID;
    const response = await signIn(handler, { oneTimeToken });
    expect(response.status).toBe(200);
    const headers = { cookie: cookieOf(response) };
    expect(await jsonOf(ask(handler, '/v1/acl/rights', { headers }))).toMatchObject({ name: 'ada' });
    const second = await signIn(handler, { oneTimeToken });
    expect([second.status, second.body]).toEqual([403, 'the one-time token is unknown, has been used or has expired']);
    expect(engine).toBeDefined();
  });

  it('is not there where the host authenticates, and there is nothing to sign in to where all is open', async () => {
    const own = createHttpHandler(engineUnderTest(), { authenticate: () => hostPrincipal });
    const open = createHttpHandler(engineUnderTest(), { access: 'open' });
    for (const method of ['GET', 'POST', 'DELETE'])
      expect(await statusOf(ask(own, '/ui-session', { method }))).toBe(404);
    const refused = await signIn(open, { token: 'x' });
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('nothing to sign in to')]);
    expect(await jsonOf(ask(open, '/ui-session'))).toEqual(none);
    expect(await statusOf(ask(open, '/ui-session', { method: 'PUT' }))).toBe(405);
  });

  it.each([
    { access: 'token', names: 'upstream' },
    { access: 'token', basePath: '/mount', notificationsPath: '' },
  ] as const)('is below the mount, whatever clients are served: %j', async (options) => {
    const { basePath = '' } = options as { basePath?: string };
    const engine = engineUnderTest();
    const handler = createHttpHandler(engine, options);
    const { secret } = await tokenOf(engine);
    const response = await ask(handler, `${basePath}/ui-session`, { method: 'POST', body: { token: secret } });
    expect(response.status).toBe(200);
    const headers = { cookie: cookieOf(response) };
    expect(await statusOf(ask(handler, `${basePath}/v1/jobs`, { headers }))).toBe(200);
  });

  it.each(Object.entries(mounts))('under %s', async (_name, mount) => {
    const { handler, secret } = await house();
    const { origin, close } = await mount(handler);
    const body = JSON.stringify({ token: secret });
    const headers = { 'content-type': 'application/json', origin: new URL(origin).origin };
    const response = await fetch(`${origin}/ui-session`, { method: 'POST', body, headers });
    expect(response.status).toBe(200);
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    expect((await fetch(`${origin}/v1/jobs`, { headers: { cookie } })).status).toBe(200);
    const gone = await fetch(`${origin}/ui-session`, { method: 'DELETE', headers: { cookie, 'x-svc-session': '1' } });
    expect(gone.status).toBe(204);
    expect((await fetch(`${origin}/v1/jobs`, { headers: { cookie } })).status).toBe(403);
    await close();
  });
});

describe('cookies', () => {
  const garbage = 'signalbox_session=';
  it.each([
    ['others around it', (own: string) => `a=b; ${own}; theme="dark; x"`, 200],
    ['blanks around it', (own: string) => `a=b;   ${own}  ;c`, 200],
    ['garbage of its name before it', (own: string) => `${garbage}%00<script>; ${own}`, 200],
    ['an empty one of its name before it', (own: string) => `${garbage}; ${own}`, 200],
    ['an unknown one of its name before it', (own: string) => `${garbage}${crypto.randomUUID()}; ${own}`, 403],
    ['quotes', (own: string) => own.replace('=', '="') + '"', 403],
    ['another name', (own: string) => own.replace('session', 'sessions'), 403],
    ['a prefix to its name', (own: string) => `x${own}`, 403],
    ['its name in capitals', (own: string) => own.replace('signalbox', 'SIGNALBOX'), 403],
    ['more after it', (own: string) => `${own}0`, 403],
    ['nothing in it', () => garbage, 403],
    ['a megabyte in it', () => garbage + 'a'.repeat(1_000_000), 403],
    ['a megabyte of separators', (own: string) => `${'; '.repeat(500_000)}${own}`, 200],
    ['a megabyte of blanks', (own: string) => `${' '.repeat(1_000_000)}x; ${own}`, 200],
    ['control characters', () => `${garbage}\u0000\n\r`, 403],
  ])('with %s', async (_what, sent, status) => {
    const { handler, cookie } = await house();
    const begun = performance.now();
    const headers = { cookie: sent(cookie) };
    expect(await statusOf(ask(handler, '/v1/jobs', { headers }))).toBe(status);
    expect(await statusOf(ask(handler, '/ui-session', { headers }))).toBe(200);
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('of no session leave the caller without a token, whose writes need no header of a page', async () => {
    const { handler, engine } = await house();
    const headers = { cookie: `${garbage}${crypto.randomUUID()}` };
    expect(await statusOf(ask(handler, '/v1/jobs', { method: 'POST', headers, ...registration }))).toBe(403);
    await engine.as(hostPrincipal).policies.put('anonymous', { rules: 'namespace "default" { policy = "write" }' });
    expect(await statusOf(ask(handler, '/v1/jobs', { method: 'POST', headers, ...registration }))).toBe(200);
  });
});

describe('processes on one store', () => {
  const scratch = scratchFolder();
  const shared = memoryStorage();
  const opened: Storage[] = [];
  const open = {
    'in memory': () => Promise.resolve(shared),
    'in a file': async () => {
      const storage = (await sqliteStorage(scratch.path('sessions.db')))._unsafeUnwrap();
      opened.push(storage);
      return storage;
    },
  };
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });

  it.each(Object.entries(open))('know the sessions of each other, and their ends: %s', async (_where, storage) => {
    const clock = manualClock(start);
    const engines = [engineOn(await storage(), clock), engineOn(await storage(), clock)];
    const [one, other] = engines.map((engine) => createHttpHandler(engine, { access: 'token' }));
    const [engine] = engines;
    if (one === undefined || other === undefined || engine === undefined) throw new Error('two engines');
    const { secret, accessor } = await tokenOf(engine);
    const first = { cookie: cookieOf(await signIn(one, { token: secret })), 'x-svc-session': '1' };
    const second = { cookie: cookieOf(await signIn(other, { token: secret })), 'x-svc-session': '1' };
    const statuses = (headers: Sent['headers'] = {}) =>
      Promise.all([one, other].map((handler) => statusOf(ask(handler, '/v1/jobs', { headers }))));
    await expect.poll(() => statuses(first)).toEqual([200, 200]);
    await expect.poll(() => statuses(second)).toEqual([200, 200]);
    expect(await statusOf(ask(other, '/ui-session', { method: 'DELETE', headers: first }))).toBe(204);
    expect(await statuses(first)).toEqual([403, 403]);
    expect(await statuses(second)).toEqual([200, 200]);
    (await engine.as(hostPrincipal).tokens.remove(accessor))._unsafeUnwrap();
    expect(await statuses(second)).toEqual([403, 403]);
  });

  it('keep a session over a restart', async () => {
    const clock = manualClock(start);
    const engine = engineOn(await open['in a file'](), clock);
    const { secret } = await tokenOf(engine);
    const cookie = cookieOf(await signIn(createHttpHandler(engine, { access: 'token' }), { token: secret }));
    await opened.pop()?.close();
    const next = createHttpHandler(engineOn(await open['in a file'](), clock), { access: 'token' });
    expect(await statusOf(ask(next, '/v1/jobs', { headers: { cookie } }))).toBe(200);
    scratch.remove();
  });
});

describe('a socket', () => {
  let server: Server | undefined;
  const clients: WebSocket[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) client.terminate();
    server?.closeAllConnections();
    server?.close();
  });

  const talk: Route = {
    name: 'talk',
    interface: 'jobs',
    methods: ['GET'],
    path: '/v1/talk',
    access: { type: 'namespace', anyOf: ['alloc-exec'] },
    handle: () => ({ status: 400, headers: [], body: '' }),
    socket: async ({ caller }, socket) => void (await socket.send(caller.name)),
  };

  async function listening(handler: Parameters<typeof upgradeListener>[0]): Promise<number> {
    server = createServer(nodeListener(handler)).on('upgrade', upgradeListener(handler));
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  function peerAt(port: number, target: string, headers: Readonly<Record<string, string>>, hello?: string) {
    const client = new WebSocket(`ws://127.0.0.1:${port}${target}`, { headers });
    clients.push(client);
    const heard: string[] = [];
    client.on('error', () => undefined);
    client.on('open', () => hello !== undefined && client.send(hello));
    client.on('message', (data: Buffer) => heard.push(data.toString()));
    return new Promise<unknown>((resolve) => {
      client.on('close', (code, reason) => resolve([code, heard.join() || reason.toString()]));
      client.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
    });
  }

  async function signedIn() {
    const engine = engineUnderTest();
    const handler = handlerOver([talk], engine, { access: 'token' });
    const { secret } = await tokenOf(engine);
    const port = await listening(handler);
    return {
      port,
      secret,
      cookie: cookieOf(await signIn(handler, { token: secret })),
      origin: `http://127.0.0.1:${port}`,
    };
  }

  it('is opened by the cookie, by a page of this origin only', async () => {
    const { port, cookie, origin } = await signedIn();
    expect(await peerAt(port, '/v1/talk', { cookie, origin })).toEqual([1000, 'ada']);
    expect(
      await peerAt(port, '/v1/talk?ws_handshake=true', { cookie, origin }, '{"version":1,"auth_token":""}'),
    ).toEqual([1000, 'ada']);
    expect(await peerAt(port, '/v1/talk', { cookie })).toEqual([1008, 'a session requires an Origin']);
    expect(await peerAt(port, '/v1/talk', { cookie, origin: 'https://evil.example' })).toBe(403);
    expect(await peerAt(port, '/v1/talk', { cookie, origin: 'null' })).toBe(403);
    expect(await peerAt(port, '/v1/talk', { cookie, origin, 'sec-fetch-site': 'cross-site' })).toBe(403);
  });

  it('is opened by a token first, and by no cookie of no session', async () => {
    const { port, cookie, origin, secret } = await signedIn();
    const unknown = { cookie: `signalbox_session=${crypto.randomUUID()}`, origin };
    expect(await peerAt(port, '/v1/talk', unknown)).toEqual([1011, 'Permission denied']);
    expect(await peerAt(port, '/v1/talk', { ...unknown, 'x-svc-token': secret })).toEqual([1000, 'ada']);
    expect(await peerAt(port, '/v1/talk', { cookie, 'x-svc-token': 'of-nobody' })).toEqual([
      1008,
      'rpc error: Permission denied',
    ]);
  });

  it.each([
    [
      'sign-out',
      (handler: HttpHandler, cookie: string) =>
        ask(handler, '/ui-session', { method: 'DELETE', headers: { cookie, 'x-svc-session': '1' } }),
    ],
    ['the end of 12 hours', (_handler: HttpHandler, _cookie: string, clock: ManualClock) => clock.advance(12 * hour)],
  ])('with a command of it ends with %s', async (_how, end) => {
    const engine = await filledEngine();
    const handler = createHttpHandler(engine, { access: 'token' });
    let isEnded = false;
    engine.agents.attach(pathValues['node_id'] ?? '', (_command, _input, signal) =>
      okAsync(
        (async function* () {
          yield { type: 'data' as const, stream: 'stdout' as const, bytes: Buffer.from('x') };
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          isEnded = true;
        })(),
      ),
    );
    const { secret } = await tokenOf(engine, { management: true });
    const cookie = cookieOf(await signIn(handler, { token: secret }));
    const port = await listening(handler);
    const target = `/v1/client/allocation/${pathValues['allocation_id']}/exec?task=t&command=["sh"]`;
    const ended = peerAt(port, target, { cookie, origin: `http://127.0.0.1:${port}` });
    const [client] = clients;
    await new Promise((resolve) => client?.once('message', resolve));
    await end(handler, cookie, engine.clock as ManualClock);
    await ended;
    expect(isEnded).toBe(true);
  });
});
