import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import {
  createHttpHandler,
  fetchHandler,
  type HttpHandlerOptions,
  type HttpResponse,
  nodeListener,
  requestFrom,
} from '../../../adapters/compat/index.js';
import { connect } from '../../../src/client/index.js';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { scratchFolder } from '../sqlite/sqlite-files.js';
import { engineUnderTest } from './engine-under-test.js';
import { type Mounted, mounts } from './mounts.js';

/* The web page at `/ui/`, from the files that the build has made. */

const built = readFileSync('dist/web/index.html', 'utf8');
const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(built)?.[1] ?? '';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

type Options = Partial<Omit<HttpHandlerOptions, 'access' | 'authenticate'>> & {
  readonly access?: 'token' | 'open';
  readonly authenticate?: () => Principal;
};
type Headers = Readonly<Record<string, string>>;

const handlerOf = (options: Options = {}) =>
  createHttpHandler(engineUnderTest(), {
    ...(options.authenticate === undefined ? { access: 'open' } : {}),
    ...{ page: true, ...options },
  } as HttpHandlerOptions);
const plain = handlerOf();
const get = (target: string, headers: Headers = {}, handler = plain, method = 'GET'): Promise<HttpResponse> =>
  handler(requestFrom({ method, target, headers }));

function headersOf({ headers }: HttpResponse): Headers {
  const found: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] ?? '').toLowerCase();
    expect(found[name], `${name} once`).toBeUndefined();
    found[name] = headers[at + 1] ?? '';
  }
  return found;
}

const baseOf = ({ body }: HttpResponse): string | undefined => /<base href="([^"]*)">/.exec(String(body))?.[1];
const isShell = ({ status, body }: HttpResponse): boolean => status === 200 && String(body).includes('<div id="page">');
const settingsOf = ({ body }: HttpResponse): unknown =>
  JSON.parse(/<script type="application\/json" id="settings">([^<]*)<\/script>/.exec(String(body))?.[1] ?? '');

const policy = (ancestors = "'none'"): Headers => ({
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self' data:; base-uri 'self'; form-action 'self'; frame-ancestors ${ancestors}; require-trusted-types-for 'script'; trusted-types signalbox`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});

describe('the page', () => {
  it.each([
    ['/ui/', './'],
    ['/ui/jobs', './'],
    ['/ui/jobs/', '../'],
    ['/ui/jobs/default/web', '../../'],
    ['/ui/jobs/default/web/versions/3..7', '../../../../'],
    ['/ui/jobs/default/a%2Fb', '../../'],
    ['/ui/jobs/default/a%2fb%23%3F%25', '../../'],
    ['/ui/jobs/default/%F0%9F%9A%80%20x', '../../'],
    ['/ui/jobs/default/%E0%A4%A', '../../'],
    ['/ui//x', '../'],
    ['/ui///', '../../'],
    ['/ui/jobs?ns=*&q=a/b/c', './'],
    ['/ui/?ott=2f6e4b1c', './'],
    ['/ui/index.html', './'],
    ['/ui/logs/app.js', '../'],
    ['/ui/assets', './'],
    ['/ui/\0', './'],
    [`/ui/${'/'.repeat(16_000)}`, '../'.repeat(16_000)],
  ])('at %s has the base %s', async (target, base) => {
    for (const accept of ['text/html', 'application/json', '*/*', '']) {
      const response = await get(target, { accept });
      expect([isShell(response), baseOf(response)]).toEqual([true, base]);
      // What the browser makes of it: the page's root, wherever the handler is mounted.
      for (const mount of ['', '/tools', '/a/b/c']) {
        const document = new URL(`https://example.org${mount}${target.split('?')[0]}`);
        expect(new URL(base, document).pathname).toBe(`${mount}/ui/`);
      }
    }
  });

  it.each([
    ['/ui', 'ui/'],
    ['/ui?x=1&y=%2F', 'ui/?x=1&y=%2F'],
    ['/ui?ott=abc', 'ui/?ott=abc'],
    ['/ui?//evil.example', 'ui/?//evil.example'],
    ['/ui?\u00e9\r\nSet-Cookie: x=y', 'ui/?%E9%0D%0ASet-Cookie:%20x=y'],
    ['/ui/jobs/web@default', '../jobs/default/web'],
    ['/ui/jobs/web@default?x=1', '../jobs/default/web?x=1'],
    ['/ui/jobs/a%2Fb@team-1/versions', '../../jobs/team-1/a%2Fb/versions'],
    ['/ui/jobs/a@b@default', '../jobs/default/a@b'],
    ['/ui/jobs/web%40default', '../jobs/default/web'],
    ['/ui/allocations/0f1e', '../allocs/0f1e'],
    ['/ui/allocations/0f1e/t/logs', '../../../allocs/0f1e/t/logs'],
    ['/ui/clients', './nodes'],
    ['/ui/clients/7a', '../nodes/7a'],
    ['/ui/clients//evil.example', '../../nodes//evil.example'],
    ['/ui/settings/tokens', '../access/tokens'],
  ])('%s leads to %s', async (target, location) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await get(target, {}, plain, method);
      expect([response.status, headersOf(response)['location'], response.body]).toEqual([307, location, '']);
      const document = new URL(target, 'https://example.org/');
      const led = new URL(location, document);
      expect([led.origin, led.pathname.startsWith('/ui/')]).toEqual(['https://example.org', true]);
    }
  });

  it.each([
    '/ui/jobs/default/a@b',
    '/ui/jobs/@default',
    '/ui/jobs/web@',
    '/ui/jobs/web@..',
    '/ui/jobs/web@%2e%2e',
    '/ui/allocations',
    '/ui/allocations/',
    '/ui/allocations//evil.example',
    '/ui/clientsx',
    '/ui/settings',
    '/ui/settings/tokens/x',
    '/ui//evil.example',
    '/ui/https://evil.example',
    '/ui/\\\\evil.example',
  ])('%s leads nowhere else', async (target) => {
    expect(isShell(await get(target))).toBe(true);
  });

  it.each(['/uix', '/UI/', '/ui%2f', '/ui.html', '//ui/', '/v1/ui/', '/x/ui/', '/', ''])(
    '%s is no path of it',
    async (target) => {
      const response = await get(target);
      expect([response.status, headersOf(response)['content-security-policy']]).toEqual([404, undefined]);
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])('refuses %s', async (method) => {
    for (const target of ['/ui', '/ui/', '/ui/jobs', `/ui/${script}`, '/ui/assets/none.js']) {
      const response = await get(target, {}, plain, method);
      expect([response.status, headersOf(response)['allow']]).toEqual([405, 'GET, HEAD']);
      expect(headersOf(response)).toMatchObject(policy());
    }
  });

  it('is revalidated, and has another tag for another base', async () => {
    const first = await get('/ui/jobs');
    const { etag = '', 'cache-control': cached, 'content-type': type } = headersOf(first);
    expect([cached, type]).toEqual(['no-cache', 'text/html; charset=utf-8']);
    expect(headersOf(await get('/ui/nodes'))['etag']).toBe(etag);
    expect(headersOf(await get('/ui/jobs/'))['etag']).not.toBe(etag);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*', `"a" ,${etag},`]) {
      const again = await get('/ui/jobs', { 'if-none-match': known });
      expect([again.status, again.body, headersOf(again)['etag']]).toEqual([304, '', etag]);
      expect(headersOf(again)).toMatchObject(policy());
    }
    for (const other of ['', '"x"', etag.slice(1, -1), `${etag}x`, '"'.repeat(16_000), ','.repeat(16_000)]) {
      expect(isShell(await get('/ui/jobs', { 'if-none-match': other }))).toBe(true);
    }
  });

  it('is refused for hosts that the server does not answer to', async () => {
    for (const target of ['/ui', '/ui/', `/ui/${script}`, '/ui/assets/none.js']) {
      const response = await get(target, { host: 'evil.example' });
      expect([response.status, headersOf(response)['location']]).toEqual([421, undefined]);
      expect(headersOf(response)).toMatchObject(policy());
    }
    expect(isShell(await get('/ui/', { host: 'localhost:4646' }))).toBe(true);
  });

  it('refuses a longer target than other paths take', async () => {
    const response = await get(`/ui/${'x'.repeat(16_384)}`);
    expect([response.status, headersOf(response)]).toEqual([414, expect.objectContaining(policy())]);
  });
});

describe('a file of the page', () => {
  const file = readFileSync(join('dist/web', script));

  it.each([
    ['', 'identity'],
    ['identity', 'identity'],
    ['deflate, zstd', 'identity'],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP, BR', 'br'],
    ['*', 'br'],
    ['br;q=0', 'identity'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', 'identity'],
    ['gzip;q=1.0, *;q=0', 'gzip'],
    ['br;q=0.1, gzip;q=0.9', 'gzip'],
    [' br ; q=1 , gzip ; q=1', 'br'],
    ['br;q=x', 'identity'],
    ['br;q=-1', 'identity'],
    ['brx, xbr, b r', 'identity'],
    [',;,;q=;=,', 'identity'],
    [`${'a,'.repeat(8_000)}gzip`, 'gzip'],
    [';'.repeat(16_000), 'identity'],
  ])('for clients that accept %j is %s', async (accepted, coding) => {
    const response = await get(`/ui/${script}`, { 'accept-encoding': accepted });
    const { 'content-encoding': encoding = 'identity', etag = '', ...headers } = headersOf(response);
    expect([response.status, encoding]).toEqual([200, coding]);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      ...policy(),
    });
    const sent = Buffer.from(response.body as Buffer);
    const whole = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes }[coding];
    expect(whole?.(sent).equals(file)).toBe(true);
    const again = await get(`/ui/${script}`, { 'accept-encoding': accepted, 'if-none-match': etag });
    expect([again.status, again.body]).toEqual([304, '']);
    expect(headersOf(again)['vary']).toBe('Accept-Encoding');
  });

  it('has another tag in another coding', async () => {
    const tags = await Promise.all(
      ['', 'br', 'gzip'].map(async (accepted) => {
        return headersOf(await get(`/ui/${script}`, { 'accept-encoding': accepted }))['etag'];
      }),
    );
    expect(new Set(tags).size).toBe(3);
  });

  it.each([
    '/ui/assets/none.js',
    '/ui/assets/',
    `/ui/${script}.br`,
    `/ui/${script}.gz`,
    `/ui/${script}/`,
    `/ui/${script}%00`,
    '/ui/assets/../index.html',
    '/ui/assets/../../package.json',
    '/ui/assets/..%2f..%2fpackage.json',
    '/ui/assets/%2e%2e/%2e%2e/package.json',
    '/ui/assets/..\\..\\package.json',
    '/ui/assets/\0',
    '/ui/assets//etc/passwd',
    '/ui/assets/__proto__',
  ])('%s is absent', async (target) => {
    const response = await get(target, { accept: 'text/html' });
    expect([response.status, headersOf(response)['cache-control']]).toEqual([404, 'no-store']);
    expect(headersOf(response)).toMatchObject(policy());
  });

  it.each([
    '/ui/..%2f',
    '/ui/../package.json',
    '/ui/../../etc/passwd',
    '/ui/%2e%2e/package.json',
    '/ui/package.json',
    '/ui/__proto__',
    '/ui/constructor',
    '/ui/C:\\Windows\\win.ini',
  ])('%s is the page, and nothing else', async (target) => {
    expect(isShell(await get(target))).toBe(true);
  });

  it('is every file that the page refers to', async () => {
    const names = [...built.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = '']) => name).filter(Boolean);
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) expect((await get(`/ui/${name}`)).status, name).toBe(200);
  });
});

describe('answers of the page', () => {
  it('have its policy, and other answers have not', async () => {
    for (const target of ['/ui', '/ui/', '/ui/jobs/a@b', '/ui/assets/none.js', `/ui/${script}`]) {
      const { 'permissions-policy': permissions, ...headers } = headersOf(await get(target));
      expect(headers).toMatchObject(policy());
      expect(permissions).toMatch(/^clipboard-write=\(self\), (?:[a-z-]+=\(\), )+[a-z-]+=\(\)$/);
    }
    for (const target of ['/v1/jobs', '/health', '/none', '/v1/jobs?ns=/ui/']) {
      const headers = headersOf(await get(target));
      expect(Object.keys(headers).filter((name) => name in policy())).toEqual(['x-content-type-options']);
    }
  });

  it.each([
    [['self'], "'self'"],
    [['https://portal.example.org'], 'https://portal.example.org'],
    [['self', 'http://127.0.0.1:8080', 'http://[::1]:81'], "'self' http://127.0.0.1:8080 http://[::1]:81"],
    [[], "'none'"],
  ])('may be framed by %j', async (frameAncestors, source) => {
    expect(headersOf(await get('/ui/', {}, handlerOf({ page: { frameAncestors } })))).toMatchObject(policy(source));
  });
});

describe('settings of the page', () => {
  const some = { version, dialect: 'neutral', notificationsPath: '', signIn: 'open', links: [] };

  it.each<[Options, object]>([
    [{}, some],
    [{ access: 'token' }, { ...some, signIn: 'token' }],
    [{ authenticate: () => hostPrincipal }, { ...some, signIn: 'host' }],
    [{ compat: ['nomad'] }, { ...some, dialect: 'nomad' }],
    [{ compat: ['terraform'] }, some],
    [{ names: 'upstream' }, { ...some, dialect: 'nomad' }],
    [{ notificationsPath: '/api/v2/' }, { ...some, notificationsPath: '/api/v2' }],
    [
      { basePath: '/tools', notificationsPath: '/api' },
      { ...some, notificationsPath: '/api' },
    ],
    [
      { page: { title: 'Night shift', links: [{ label: 'Wiki', href: '/wiki' }] } },
      { ...some, title: 'Night shift', links: [{ label: 'Wiki', href: '/wiki' }] },
    ],
  ])('with %j are %j', async (options, settings) => {
    const response = await get(`${options.basePath ?? ''}/ui/`, {}, handlerOf(options));
    expect(settingsOf(response)).toEqual(settings);
  });

  it('contain names as they are, and none ends the script', async () => {
    const title = `</script><script>alert(1)</script><!-- $& $1 ${'\u2028'}"'`;
    const response = await get('/ui/a/b', {}, handlerOf({ page: { title } }));
    expect(settingsOf(response)).toEqual({ ...some, title });
    expect(String(response.body).match(/<\/?script/g)).toEqual(built.match(/<\/?script/g));
    expect([String(response.body).includes('<!--'), baseOf(response)]).toEqual([false, '../']);
  });

  it.each<[unknown, RegExp]>([
    ['yes', /page takes true, false or an object with options, got a string/],
    [{ titel: 'x' }, /there is no option page\.titel; did you mean page\.title\?/],
    [{ title: '' }, /page\.title takes 1 to 100 characters/],
    [{ title: 'x'.repeat(101) }, /page\.title takes/],
    [{ title: 'a\nb' }, /page\.title takes/],
    [{ links: {} }, /page\.links takes a list of at most 20/],
    [
      { links: Array.from({ length: 21 }, () => ({ label: 'x', href: '/' })) },
      /page\.links takes a list of at most 20/,
    ],
    [{ links: [{ label: 'x' }] }, /page\.links\[0\]\.href is missing/],
    [{ links: [{ label: 'x', href: '/', rel: '' }] }, /there is no option page\.links\[0\]\.rel/],
    ...[
      ...['javascript:alert(1)', '//evil.example', '/\\evil.example', 'wiki', '', 'https://', 'data:text/html,x'],
      ...['https://a b', '/a\nb', 'ftp://x/', `/${'x'.repeat(2_000)}`, ' https://x/', 'http:/x'],
    ].map((href): [unknown, RegExp] => [
      { links: [{ label: 'x', href }] },
      /page\.links\[0\]\.href takes an http\(s\) URL/,
    ]),
    ...[
      ...[
        '*',
        "'self'",
        "'none'",
        'https://*.example',
        'https://a.example/',
        'https://a.example/x',
        'https:',
        'a.example',
      ],
      ...[
        'https://a;script-src',
        'https://a,b',
        'https://a b',
        "https://a'",
        'HTTPS://A',
        'https://u@a',
        'https://a:443',
      ],
      ...['', 'null', 'data:', `https://${'a'.repeat(300)}`],
    ].map((one): [unknown, RegExp] => [
      { frameAncestors: [one] },
      /page\.frameAncestors\[0\] takes 'self' or an http\(s\) origin/,
    ]),
    [{ frameAncestors: Array.from({ length: 21 }, () => 'self') }, /page\.frameAncestors takes a list of at most 20/],
  ])('%j are refused', (page, message) => {
    const create = () => handlerOf({ page } as Options);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(message);
  });

  it('leave the path of the page to it', () => {
    for (const notificationsPath of ['/ui', '/ui/', '/ui/x']) {
      expect(() => handlerOf({ notificationsPath })).toThrow(/page has the path \/ui/);
      expect(() => handlerOf({ notificationsPath, page: false })).not.toThrow();
    }
  });
});

describe('without the page', () => {
  it.each([undefined, false])('page: %s, its paths are unknown', async (page) => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', ...(page === undefined ? {} : { page }) });
    for (const target of ['/ui', '/ui/', '/ui/jobs', `/ui/${script}`]) {
      const response = await get(target, { accept: 'text/html' }, handler);
      expect([response.status, headersOf(response)['content-security-policy']]).toEqual([404, undefined]);
    }
  });

  it.each([
    ['esm', 'bundle.mjs'],
    ['cjs', 'bundle.cjs'],
  ] as const)('a bundled service (%s) is told what to do', async (format, name) => {
    const folder = scratchFolder();
    const file = folder.path(name);
    // The host's own files may have the same names.
    mkdirSync(folder.path('dist/web'), { recursive: true });
    writeFileSync(folder.path('dist/web/index.html'), built);
    writeFileSync(folder.path('package.json'), JSON.stringify({ name: 'host', version: '9.9.9' }));
    buildSync({
      stdin: { contents: "export { webPage } from './adapters/http-server/edge/page.ts';", resolveDir: process.cwd() },
      ...{ bundle: true, platform: 'node', format, outfile: file, logLevel: 'silent' },
    });
    const { webPage } = (await import(file)) as {
      readonly webPage: (page: boolean, parts: object) => unknown;
    };
    const create = () => webPage(true, { basePath: '', notificationsPath: '' });
    expect(create).toThrow(
      /^createHttpHandler: the files of the page cannot be read: .* Keep signalbox out of your bundle/,
    );
    expect(webPage(false, {})).toBeUndefined();
    folder.remove();
  });
});

const opened: Mounted[] = [];
afterAll(async () => {
  for (const mounted of opened) await mounted.close();
});

/** A request as it is written, which `fetch` would normalise. */
function raw(origin: string, path: string, method = 'GET', headers: Headers = {}) {
  const { hostname, port } = new URL(origin);
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: number }>((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }));
    });
    sent.on('error', reject).end();
  });
}

describe.each(Object.keys(mounts))('mounted under %s', (name) => {
  it('leads from its address to its files, below the prefix', async () => {
    const mounted = await (mounts[name] ?? mounts['node:http'])?.(handlerOf());
    if (mounted === undefined) throw new Error(name);
    opened.push(mounted);
    const { origin, mountPath } = mounted;
    const moved = await fetch(`${origin}/ui?x=1`);
    expect([moved.redirected, new URL(moved.url).pathname, new URL(moved.url).search]).toEqual([
      true,
      `${mountPath}/ui/`,
      '?x=1',
    ]);
    for (const deep of ['/ui/jobs/default/a%2Fb/versions', '/ui/jobs/a%2Fb@default', '/ui/clients/']) {
      const page = await fetch(origin + deep, { headers: { accept: '*/*' } });
      const text = await page.text();
      const root = new URL(/<base href="([^"]*)">/.exec(text)?.[1] ?? '', page.url);
      expect([page.status, root.pathname]).toEqual([200, `${mountPath}/ui/`]);
      expect(new URL('..', root).pathname).toBe(`${mountPath}/`);
      expect(page.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
      const file = await fetch(new URL(script, root), { headers: { 'accept-encoding': 'br' } });
      expect([file.status, file.headers.get('content-encoding'), await file.text()]).toEqual([
        200,
        'br',
        readFileSync(join('dist/web', script), 'utf8'),
      ]);
    }
  });

  it('answers HEAD like GET, without a body, and 304', async () => {
    const mounted = opened.at(-1);
    if (mounted === undefined) throw new Error(name);
    const at = `${mounted.mountPath}/ui/${script}`;
    const headers = { 'accept-encoding': 'gzip' };
    const [whole, head] = [
      await raw(mounted.origin, at, 'GET', headers),
      await raw(mounted.origin, at, 'HEAD', headers),
    ];
    const shown = ({ headers }: typeof whole) => ({ ...headers, date: '', connection: '' });
    expect([whole.status, whole.bytes, head.status, head.bytes]).toEqual([
      200,
      Number(whole.headers['content-length']),
      200,
      0,
    ]);
    expect(shown(head)).toEqual(shown(whole));
    const known = await raw(mounted.origin, at, 'GET', { ...headers, 'if-none-match': String(whole.headers['etag']) });
    expect([known.status, known.bytes, known.headers['content-length']]).toEqual([304, 0, undefined]);
  });
});

describe('with a base path', () => {
  it.each(['/tools', '/tools/', '/a/b'])('%s, everything is below it', async (basePath) => {
    const base = basePath.replace(/\/$/, '');
    const handler = handlerOf({ basePath });
    expect(headersOf(await get(`${base}/ui`, {}, handler))['location']).toBe('ui/');
    expect(baseOf(await get(`${base}/ui/jobs/default/x`, {}, handler))).toBe('../../');
    expect((await get(`${base}/ui/${script}`, {}, handler)).status).toBe(200);
    for (const target of ['/ui', '/ui/', `/ui/${script}`, `${base}x/ui/`, `${base}/${base}/ui/`])
      expect((await get(target, {}, handler)).status).toBe(404);
  });

  it('behind `fetchHandler`', async () => {
    const ask = fetchHandler(handlerOf({ basePath: '/tools' }));
    const moved = await ask(new Request('http://localhost/tools/ui?x=1'));
    expect([moved.status, moved.headers.get('location')]).toEqual([307, 'ui/?x=1']);
    expect((await ask(new Request('http://localhost/tools/ui/jobs'))).status).toBe(200);
  });
});

/* Clients of Nomad are redirected away from empty segments and dots; the page is not. */
it('for clients of other servers, is the same', async () => {
  const handler = handlerOf({ names: 'upstream' });
  for (const target of ['/ui/', '/ui//x', '/ui/a/./b', '/ui/a/../b'])
    expect(isShell(await get(target, { 'accept-encoding': 'gzip' }, handler)), target).toBe(true);
  expect(headersOf(await get('/ui', {}, handler))['location']).toBe('ui/');
  expect(headersOf(await get('/', {}, handler))['location']).toBe('/ui/');
  const file = await get(`/ui/${script}`, { 'accept-encoding': 'gzip' }, handler);
  expect(headersOf(file)['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.from(file.body as Buffer)).equals(readFileSync(join('dist/web', script)))).toBe(true);
});

it.each<[string, Options]>([
  ['neutral', {}],
  ['nomad', { compat: ['nomad'] }],
  ['terraform', { compat: ['terraform'], notificationsPath: '/api/v2' }],
  ['both', { names: 'upstream', notificationsPath: '/api/v2' }],
])('its settings are what a client of a handler (%s) needs', async (_name, options) => {
  const engine = engineUnderTest();
  const host = engine.as(hostPrincipal);
  (await host.workspaces.put('ws-1', { name: 'main', organization: 'org' }))._unsafeUnwrap();
  const secret = (await engine.host.bootstrapToken())._unsafeUnwrap()?.secret ?? '';
  const handler = createHttpHandler(engine, { page: true, ...options, access: 'token' } as HttpHandlerOptions);
  const server = createServer(nodeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = await get('/ui/jobs/default/x', {}, handler);
  const { notificationsPath } = settingsOf(page) as { readonly notificationsPath: string };
  const mount = new URL(`../${baseOf(page)}`, `${origin}/ui/jobs/default/x`).href;
  const signedIn = await fetch(new URL('ui-session', mount), {
    method: 'POST',
    headers: { origin },
    body: JSON.stringify({ token: secret }),
  });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const box = connect({ url: mount, notificationsPath, headers: { 'X-SVC-Session': '1', cookie, origin } });
  const created = await box.notifications.create('ws-1', {
    name: 'hook',
    destinationType: 'generic',
    url: 'https://x.example/',
  });
  expect(created.isOk()).toBe(true);
  const listed = (await box.jobs.list({}))._unsafeUnwrap();
  expect([listed.value.items, listed.index > 0]).toEqual([[], true]);
  expect((await box.jobs.forceLaunch('none'))._unsafeUnwrapErr()).toMatchObject({ type: 'job_not_found' });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
