import { describe, expect, it } from 'vitest';
import {
  createHttpHandler,
  type HttpHandlerOptions,
  type HttpRequest,
  type HttpResponse,
  requestFrom,
} from '../../../adapters/compat/index.js';
import { routeTable } from '../../../adapters/http-server/calls/route-table.js';
import { manualClock } from '../../../adapters/memory/index.js';
import { plainType } from '../../../src/api/answers.js';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { engineUnderTest } from './engine-under-test.js';
import { bodyFor, bodySchemaOf, sampleJob, targetFor } from './route-samples.js';

/** What clients of the upstream are answered differently from others, with its spelling of headers. */

const nobodysSecret = '00000000-1111-2222-3333-444444444444';
const reader: Principal = {
  accessor: 'a',
  name: 'a',
  management: false,
  namespaces: { default: { capabilities: [], policy: 'read' } },
  workspaces: {},
};

const writes = routeTable
  .filter(({ interface: of, access }) => of === 'jobs' && !['public', 'any', 'node'].includes(access.type))
  .filter((route) => bodySchemaOf(route) !== undefined)
  .map((route) => ({ name: `${route.methods[0]} ${route.path}`, route }));

describe('a caller without the right', () => {
  const ask = (request: HttpRequest, names: 'neutral' | 'upstream' = 'upstream') =>
    createHttpHandler(engineUnderTest(), { authenticate: () => ({ ...reader, namespaces: {} }), names })(request);
  const register = (job: object, names?: 'neutral') =>
    ask(requestFrom({ method: 'PUT', target: '/v1/jobs', body: { Job: job } }), names);

  it('is told first what is wrong with the document', async () => {
    const nowhere = sampleJob('x', { Namespace: 'nowhere' });
    expect(summary(await register(nowhere))).toEqual([
      500,
      expect.stringContaining('the namespace "nowhere" does not exist'),
    ]);
    expect(summary(await register(sampleJob('x')))).toEqual([403, 'Permission denied']);
    expect(summary(await register(nowhere, 'neutral'))).toEqual([
      403,
      expect.stringMatching(/^Permission denied: the token lacks the right\. Requires/),
    ]);
    const broken = await ask(requestFrom({ method: 'PUT', target: '/v1/jobs', body: Buffer.from('{') }));
    expect(broken.status).toBe(400);
  });

  it('is refused a body of more than 64 KiB', async () => {
    const large = sampleJob('x', { Namespace: 'nowhere', Meta: { large: 'x'.repeat(70_000) } });
    expect(summary(await register(large))).toEqual([403, 'Permission denied']);
  });

  it.each(writes)('may not $name', async ({ route }) => {
    const response = await ask(
      requestFrom({ method: route.methods[0], target: targetFor(route), body: bodyFor(route) ?? {} }),
    );
    expect(response.status, response.body.toString()).toBeGreaterThanOrEqual(400);
  });
});

describe('a token that nobody knows', () => {
  const ask = (target: string, secret: string, names: 'neutral' | 'upstream' = 'upstream') =>
    createHttpHandler(engineUnderTest(), { access: 'token', names })(
      requestFrom({ method: 'GET', target, headers: { 'x-nomad-token': secret } }),
    );
  const file = '/v1/client/fs/cat/00000000-0000-4000-8000-000000000001?path=x';
  const logs = '/v1/client/fs/logs/00000000-0000-4000-8000-000000000001?task=t&type=stdout';
  const stats = '/v1/client/allocation/00000000-0000-4000-8000-000000000001/stats';

  it.each([
    ['/v1/jobs', 403, 403],
    [file, 200, 200],
    [logs, 500, 500],
    [stats, 403, 500],
    ['/v1/agent/self', 403, 500],
    ['/v1/agent/members', 403, 403],
    ['/v1/acl/token/self', 403, 500],
    ['/v1/acl/tokens', 403, 403],
  ])('is refused at %s as the upstream does', async (target, unknown, malformed) => {
    expect((await ask(target, nobodysSecret)).status).toBe(unknown);
    expect((await ask(target, 'nonsense')).status).toBe(malformed);
    expect((await ask(target, 'nonsense', 'neutral')).status).toBe(403);
  });
});

it('a file that the caller may not read is refused within the answer', async () => {
  const target = '/v1/client/fs/cat/00000000-0000-4000-8000-000000000001?path=x';
  const ask = (names: 'neutral' | 'upstream', accept = '*/*') =>
    createHttpHandler(engineUnderTest(), { authenticate: () => ({ ...reader, namespaces: {} }), names })(
      requestFrom({ method: 'GET', target, headers: { accept } }),
    );
  expect(summary(await ask('upstream'))).toEqual([200, 'Permission denied']);
  expect((await ask('neutral')).status).toBe(403);
  expect((await ask('upstream', plainType)).status).toBe(403);
});

it('a filter that a call does not take is passed over', async () => {
  const engine = engineUnderTest();
  const target = '/v1/node/00000000-0000-4000-8000-000000000001/allocations?filter=nothing+reads+this';
  const ask = (names: 'neutral' | 'upstream') =>
    createHttpHandler(engine, { access: 'open', names })(requestFrom({ method: 'GET', target }));
  expect((await ask('upstream')).status).toBe(200);
  expect((await ask('neutral')).status).toBe(400);
});

describe('parameters that cannot be decoded', () => {
  async function listed(query: string, names: 'neutral' | 'upstream' = 'upstream') {
    const engine = engineUnderTest();
    for (const id of ['a', 'z']) (await registerJob(engine, hostPrincipal, { job: sampleJob(id) }))._unsafeUnwrap();
    const handler = createHttpHandler(engine, { access: 'open', names });
    const { status, body } = await handler(requestFrom({ target: `/v1/jobs?${query}` }));
    return status === 200 ? JSON.parse(String(body)).map(({ ID }: { readonly ID: string }) => ID) : status;
  }

  it.each([
    ['prefix=%zz', ['a', 'z']],
    ['prefix=%zz&prefix=z', ['z']],
    ['prefix=z%2', ['a', 'z']],
    ['%zz=1&prefix=z', ['z']],
    ['prefix=a;b', ['a', 'z']],
    ['prefix=a;b&prefix=z', ['z']],
    ['prefix=z&prefix=%zz', ['z']],
  ])('are left out of a read: %s', async (query, ids) => {
    expect(await listed(query)).toEqual(ids);
  });

  it('are refused with the neutral spelling, and where something would be changed', async () => {
    expect(await listed('prefix=%zz', 'neutral')).toBe(400);
    expect(await listed('prefix=z&prefix=%zz', 'neutral')).toEqual(['z']);
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    const { status } = await handler(requestFrom({ method: 'DELETE', target: '/v1/job/x?namespace=%zz' }));
    expect(status).toBe(400);
    // Without the node it would be about all nodes.
    expect((await handler(requestFrom({ target: '/v1/client/gc?node_id=%zz' }))).status).toBe(400);
  });
});

it.each([{ Name: '*' }, { Name: '' }, { Name: 'a b' }, { Name: 'a', Description: 'x'.repeat(257) }])(
  'a namespace that cannot be is refused as an invalid job is: %j',
  async (body) => {
    const ask = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    const [status, text] = summary(await ask(requestFrom({ method: 'PUT', target: '/v1/namespace', body })));
    expect(status).toBe(500);
    expect(text).toMatch(/^invalid name ".*"\. It must have|^description longer/);
  },
);

describe('lists of storage', () => {
  const asked = async (target: string, options: Partial<HttpHandlerOptions> = {}, method = 'GET') =>
    createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream', ...options } as HttpHandlerOptions)(
      requestFrom({ method, target }),
    );

  it.each([
    '/v1/volumes',
    '/v1/volumes?type=csi&node_id=x',
    '/v1/volumes?type=host',
    '/v1/plugins?type=csi&index=0&wait=1s',
  ])('%s is empty', async (target) => {
    const { status, headers, body } = await asked(target);
    expect([status, body.toString()]).toEqual([200, '[]']);
    expect(headers[headers.indexOf('X-Nomad-Index') + 1]).toBe('1');
    expect((await asked(target, { names: 'neutral' })).status).toBe(404);
  });

  it.each(['/v1/volumes?type=csi', '/v1/plugins?type=csi'])('%s waits: nothing changes it', async (target) => {
    const clock = manualClock();
    const engine = engineUnderTest({}, undefined, clock);
    const ask = createHttpHandler(engine, { access: 'open', names: 'upstream' });
    let answered = 0;
    const answers = ['index=1&wait=10s', 'index=1', `index=${2 ** 40}&wait=20m`].map(async (query) => {
      const { status, body } = await ask(requestFrom({ target: `${target}&${query}` }));
      answered += 1;
      return [status, body.toString()];
    });
    await clock.advance(9_000);
    expect(answered).toBe(0);
    await clock.advance(2_000);
    expect(answered).toBe(1);
    await clock.advance(5 * 60_000);
    expect(await Promise.all(answers)).toEqual(answers.map(() => [200, '[]']));
  });

  it.each(['index=x', 'wait=5', 'stale=perhaps', 'per_page=x'])('refuse %s', async (query) => {
    expect((await asked(`/v1/volumes?${query}`)).status).toBe(400);
    expect((await asked(`/v1/plugins?type=csi&${query}`)).status).toBe(400);
  });

  it('are answered when the engine stops', async () => {
    const engine = engineUnderTest();
    const answer = createHttpHandler(engine, { access: 'open', names: 'upstream' })(
      requestFrom({ target: '/v1/volumes?type=csi&index=1' }),
    );
    await engine.stop();
    expect((await answer).status).toBe(200);
  });

  it('are those of the region of the server, and cannot be changed', async () => {
    expect((await asked('/v1/volumes?region=mars')).status).toBe(500);
    expect((await asked('/v1/volumes', {}, 'PUT')).status).toBe(501);
    expect((await asked('/v1/volumes/external')).status).toBe(501);
  });
});

describe('invalid parameters of waits and pages', () => {
  const targets = [
    '/v1/job/x',
    '/v1/job/x/actions',
    '/v1/namespaces',
    '/v1/status/leader',
    '/v1/status/peers',
    '/v1/agent/members',
    '/v1/regions',
  ];
  const wrong = ['index=x', 'index=-1', 'wait=5', 'stale=perhaps', 'per_page=x', 'per_page=4294967296'];
  const casesOf = (paths: readonly string[]) => paths.flatMap((path) => wrong.map((query) => `${path}?${query}`));
  it.each(casesOf(targets))('%s is refused', async (target) => {
    const engine = engineUnderTest();
    (await registerJob(engine, hostPrincipal, { job: sampleJob('x') }))._unsafeUnwrap();
    const ask = createHttpHandler(engine, { access: 'open', names: 'upstream' });
    expect((await ask(requestFrom({ target }))).status).toBe(400);
    const [path] = target.split('?');
    expect((await ask(requestFrom({ target: `${path}?index=&wait=&stale&per_page=` }))).status).toBe(200);
  });

  const others = ['/v1/search', '/v1/search/fuzzy', '/v1/system/gc', '/v1/system/reconcile/summaries'];
  it.each(casesOf(others))('PUT %s is refused', async (target) => {
    const put = (of: string, names: 'neutral' | 'upstream') =>
      createHttpHandler(engineUnderTest(), { access: 'open', names })(
        requestFrom({ method: 'PUT', target: of, body: { Prefix: 'x', Text: 'xy', Context: 'jobs' } }),
      );
    expect((await put(target, 'upstream')).status).toBe(400);
    expect((await put(target, 'neutral')).status).toBe(200);
    const [path] = target.split('?');
    expect((await put(`${path}?index=&wait=&stale&per_page=`, 'upstream')).status).toBe(200);
  });

  it('are judged by no read that tells of the server itself', async () => {
    const ask = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    for (const path of ['/v1/metrics', '/v1/agent/self']) {
      expect((await ask(requestFrom({ target: `${path}?index=x&per_page=x` }))).status).toBe(200);
    }
  });

  it('an unknown region has no members', async () => {
    const ask = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    expect(summary(await ask(requestFrom({ target: '/v1/agent/members?region=mars' })))).toEqual([
      500,
      expect.stringContaining('No path to region'),
    ]);
  });
});

const malformed = 'the ID must be a UUID of 36 characters';

describe('paths that lack a part', () => {
  it.each([
    ['PUT', '/v1/acl/policy/', 400, 'Missing Policy Name'],
    ['GET', '/v1/acl/role/', 400, 'missing ACL role ID'],
    ['GET', '/v1/acl/token/', 400, 'Missing Token Accessor'],
    ['GET', '/v1/namespace/', 400, 'Missing Namespace Name'],
    ['GET', '/v1/namespace/a/b', 404, 'namespace not found'],
    ['GET', '/v1/scaling/policy/a/b', 404, 'policy not found'],
    ['GET', '/v1/node/pool/a/b', 404, 'node pool not found'],
    ['GET', '/v1/node/pools/x', 500, malformed],
    ['GET', '/v1/node/00000000-0000-4000-8000-000000000001/nothing', 500, malformed],
    ['GET', '/v1/node/00000000-0000-4000-8000-000000000001/', 500, malformed],
    ['PUT', '/v1/node/x/nothing', 405, 'Invalid method'],
    ['GET', '/v1/deployment/00000000-0000-4000-8000-000000000001/nothing', 500, malformed],
    ['GET', '/v1/deployment/nothing/x', 500, malformed],
    ['GET', '/v1/acl/token/a/b', 400, 'ACL support disabled'],
    ['GET', '/v1/service/', 400, 'missing service name'],
    ['GET', '/v1/service/a/b/c', 400, 'invalid URI'],
    ['PUT', '/v1/job/x/tag', 404, 'invalid job tag endpoint'],
    ['PUT', '/v1/job/x/versions/a/b/tag', 404, 'invalid job tag endpoint'],
    ['GET', '/v1/job/', 404, 'job not found'],
    ['DELETE', '/v1/job/', 500, 'missing job ID'],
    ['GET', '/v1/allocation/', 500, malformed],
    ['GET', '/v1/allocation/short', 500, malformed],
    ['GET', '/v1/allocation/short/services', 500, malformed],
    ['GET', '/v1/allocation/short/nothing', 404, 'resource not found'],
    ['GET', '/v1/allocation/00000000-0000-4000-8000-000000000001/stop/now', 404, 'resource not found'],
    ['PUT', '/v1/client/allocation/00000000-0000-4000-8000-000000000001', 404, 'resource not found'],
    ['GET', '/v1/client/allocation/00000000-0000-4000-8000-000000000001/a/b', 404, 'resource not found'],
    ['GET', '/v1/client/fs/', 404, 'Invalid method'],
    ['GET', '/v1/client/fs/list/x', 404, 'Invalid method'],
    ['GET', '/v1/client/fs/ls', 404, 'Invalid method'],
    ['GET', '/v1/client/fs/ls/?path=x', 400, 'must provide a valid alloc id'],
    ['GET', '/v1/client/fs/logs/?task=t&type=stdout', 400, 'must provide a valid alloc id'],
    ['GET', '/v1/deployment/', 500, malformed],
    ['GET', '/v1/deployment/short', 500, malformed],
    ['GET', '/v1/deployment/allocations/short', 500, malformed],
    ['GET', '/v1/node/', 500, malformed],
    ['GET', '/v1/node/short', 500, malformed],
    ['GET', '/v1/node/00000000-0000-4000-8000-000000000001', 404, 'node not found'],
    ['GET', '/v1/evaluation/00000000-0000-4000-8000-000000000001/x', 500, 'the ID must be a UUID of 36 characters'],
    ['PUT', '/v1/evaluation/00000000-0000-4000-8000-000000000001/x', 405, 'Invalid method'],
    ['GET', '/v1/var/', 400, 'missing variable path'],
    ['GET', '/v1/nothing/', 404, ''],
  ])('%s %s', async (method, target, status, text) => {
    const engine = engineUnderTest();
    (await registerJob(engine, hostPrincipal, { job: sampleJob('x') }))._unsafeUnwrap();
    const ask = createHttpHandler(engine, { access: 'open', names: 'upstream' });
    expect(summary(await ask(requestFrom({ method, target })))).toEqual([status, text]);
  });
});

describe('redirects', () => {
  it.each([
    ['/', '/ui/'],
    ['/?x=1', '/ui/?x=1'],
    ['/v1/job', '/v1/job/'],
    ['/v1/node/pool', '/v1/node/pool/'],
    ['/v1/client/fs?path=x', '/v1/client/fs/?path=x'],
    ['/v1/client/allocation', '/v1/client/allocation/'],
    ['/v1/jobs/../nodes', '/v1/nodes'],
  ])('%s leads to %s', async (target, location) => {
    for (const method of ['GET', 'PUT']) {
      const ask = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
      const { status, headers } = await ask(requestFrom({ method, target }));
      expect([status, headers[headers.indexOf('Location') + 1]]).toEqual([307, location]);
    }
  });

  it.each(['/v1/deployment/fail', '/v1/acl/role', '/v1/namespace', '/v1/client/fs/ls', '/ui/'])(
    '%s is no root',
    async (target) => {
      const ask = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
      expect((await ask(requestFrom({ method: 'GET', target }))).status).not.toBe(307);
    },
  );

  it('are for clients of the upstream', async () => {
    const ask = createHttpHandler(engineUnderTest(), { access: 'open', names: 'neutral' });
    expect((await ask(requestFrom({ method: 'GET', target: '/' }))).status).toBe(404);
  });
});

describe('two handlers over one engine', () => {
  it('each have the rules of their clients, which no setting of notifications changes', async () => {
    for (const names of ['neutral', 'upstream'] as const) {
      const engine = engineUnderTest({ notifications: { names } });
      (await registerJob(engine, hostPrincipal, { job: sampleJob('x') }))._unsafeUnwrap();
      const [neutral, upstream] = [
        createHttpHandler(engine, { access: 'open', names: 'neutral' }),
        createHttpHandler(engine, { access: 'open', names: 'upstream' }),
      ];
      const scale = { Count: 2, Error: false, Target: { Group: 'g' } };
      const scaling = requestFrom({ method: 'PUT', target: '/v1/job/x/scale', body: scale });
      expect((await neutral(scaling)).status).toBe(400);
      expect((await upstream(scaling)).status).toBe(200);
      const stopping = requestFrom({ method: 'DELETE', target: '/v1/job/x?eval_priority=-1' });
      expect((await neutral(stopping)).status).toBe(400);
      expect((await upstream(stopping)).status).toBe(200);
    }
  });
});

describe('parameters', () => {
  const ask = async (names: 'neutral' | 'upstream', method: string, target: string, body?: unknown) => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', names });
    const request = { method, target, ...(body === undefined ? {} : { body }) };
    return (await handler(requestFrom(request))).status;
  };

  it.each(['jobs?meta=', 'jobs?per_page=', 'jobs?index=&wait=', 'job/x/versions?diffs=&diff_version=', 'nodes?os='])(
    'without a value are not given: %s',
    async (target) => {
      const upstream = await ask('upstream', 'GET', `/v1/${target}`);
      expect(upstream).toBe(target.startsWith('job/') ? 404 : 200);
      expect([400, 500]).toContain(await ask('neutral', 'GET', `/v1/${target}`));
    },
  );

  it('the beginning of a UUID is compared by its bytes', async () => {
    const engine = engineUnderTest();
    (await registerJob(engine, hostPrincipal, { job: sampleJob('x') }))._unsafeUnwrap();
    const evaluations = async (query: string): Promise<readonly { readonly ID: string }[]> => {
      const handler = createHttpHandler(engine, { authenticate: () => hostPrincipal, names: 'upstream' });
      const { body } = await handler(requestFrom({ method: 'GET', target: `/v1/evaluations?${query}` }));
      return JSON.parse(body.toString()) as { ID: string }[];
    };
    const [{ ID = '' } = {}] = await evaluations('');
    for (const prefix of [
      ID,
      ID.replaceAll('-', ''),
      ID.slice(0, 10).toUpperCase(),
      ID.slice(0, 14).replace('-', ''),
    ]) {
      const asked = prefix.replaceAll('-', '').length % 2 === 0 ? prefix : prefix.slice(0, -1);
      expect(await evaluations(`prefix=${asked}`), asked).toHaveLength(1);
    }
  });

  it('that must have a value are asked for', async () => {
    expect(await ask('upstream', 'GET', '/v1/job/x/submission?version=')).toBe(400);
  });

  it.each([
    ['evaluations?prefix=0', 500],
    ['evaluations/count?prefix=zz', 500],
    ['allocations?prefix=00000000-1', 500],
    ['deployments?prefix=0-0-0-0-0-00', 500],
    ['nodes?prefix=0000000000000000000000000000000000000', 500],
    ['nodes?prefix=', 200],
    ['allocations?prefix=0A', 200],
    ['nodes?resources=x', 400],
    ['nodes?os=x', 400],
    ['allocations?resources=x', 500],
    ['client/fs/stream/00000000-0000-4000-8000-000000000001?path=x&offset=x', 500],
    ['client/fs/readat/00000000-0000-4000-8000-000000000001?path=x&offset=1.5', 500],
    ['client/fs/readat/00000000-0000-4000-8000-000000000001?path=x&offset=0&limit=x', 500],
    ['client/fs/readat/00000000-0000-4000-8000-000000000001?path=x', 500],
    ['client/fs/stream/00000000-0000-4000-8000-000000000001?path=x&follow=x', 500],
    ['client/fs/stat/00000000-0000-4000-8000-000000000001', 400],
    ['client/fs/logs/00000000-0000-4000-8000-000000000001?task=t&type=stdout&offset=x', 400],
    ['job/x/submission?version=18446744073709551615', 404],
    ['job/x/submission?version=18446744073709551616', 400],
    ['job/x/submission?version=0000000000000000000000000000001', 404],
    ['job/x/submission?version=%2B1', 400],
  ])('%s is answered with %d', async (target, status) => {
    expect(await ask('upstream', 'GET', `/v1/${target}`)).toBe(status);
  });

  describe('a region that the query and the body name', () => {
    const regions = { query: 'query', body: 'body' } as const;
    const registering = { Job: sampleJob('x') };
    const naming = { JobID: 'x' };

    it.each([
      ['jobs', registering, regions.body],
      ['job/x', registering, regions.body],
      ['job/x/plan', registering, regions.body],
      ['validate/job', registering, regions.query],
      ['job/x/dispatch', {}, regions.query],
      ['job/x/evaluate', naming, regions.query],
      ['job/x/revert', naming, regions.query],
      ['job/x/stable', naming, regions.query],
    ] as const)('is for %s the one of the other place only when absent', async (path, body, first) => {
      const handler = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
      const refused = async (query: string, Region: string): Promise<boolean> => {
        const target = `/v1/${path}?region=${query}`;
        const answer = await handler(requestFrom({ method: 'PUT', target, body: { ...body, Region } }));
        return answer.body.toString().startsWith('No path to region');
      };
      expect(await refused('mars', 'global')).toBe(first === regions.query);
      expect(await refused('global', 'mars')).toBe(first === regions.body);
      expect(await refused('', 'mars')).toBe(true);
      expect(await refused('mars', '')).toBe(true);
      expect(await refused('', '')).toBe(false);
    });
  });

  it.each([
    ['PUT', 'node/pools', {}, 400],
    ['PUT', 'node/pools', { Name: 'a b' }, 400],
    ['PUT', 'node/pool/all', { Name: 'all' }, 400],
    ['DELETE', 'node/pool/all', undefined, 500],
    ['PUT', 'namespace', {}, 500],
    ['PUT', 'namespace', { Name: null }, 500],
    ['PUT', 'namespace/x', {}, 400],
  ] as const)('%s %s with %j is answered with %d', async (method, path, body, status) => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    const answer = await handler(
      requestFrom({ method, target: `/v1/${path}`, ...(body === undefined ? {} : { body }) }),
    );
    expect(answer.status).toBe(status);
  });

  it('each write of a namespace has an index of its own, also when nothing changes', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open', names: 'upstream' });
    const written = async (): Promise<number> => {
      const request = requestFrom({ method: 'PUT', target: '/v1/namespace', body: { Name: 'team' } });
      const { headers } = await handler(request);
      return Number(headers[headers.indexOf('X-Nomad-Index') + 1]);
    };
    const first = await written();
    expect(await written()).toBe(first + 1);
    const read = await handler(requestFrom({ method: 'GET', target: '/v1/namespace/team' }));
    expect(JSON.parse(read.body.toString())).toMatchObject({ CreateIndex: first, ModifyIndex: first + 1 });
  });

  it('a body of null has no members', async () => {
    const target = '/v1/operator/scheduler/configuration';
    expect(await ask('upstream', 'PUT', target, Buffer.from('null'))).toBe(200);
    expect(await ask('neutral', 'PUT', target, Buffer.from('null'))).toBe(400);
    expect(await ask('upstream', 'PUT', '/v1/jobs', Buffer.from('null'))).toBe(400);
  });
});

function summary({ status, body }: HttpResponse): readonly [number, string] {
  return [status, body.toString()];
}
