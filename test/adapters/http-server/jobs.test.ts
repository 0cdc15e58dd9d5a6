import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandler, type HttpResponse, requestFrom } from '../../../adapters/compat/index.js';
import { type Engine, hostPrincipal } from '../../../src/index.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { putNamespace } from '../../../src/operations/namespaces/namespaces.js';
import { engineUnderTest } from './engine-under-test.js';

const batch = (id: string, further: Readonly<Record<string, unknown>> = {}) => ({
  ID: id,
  Name: id,
  Type: 'batch',
  Datacenters: ['*'],
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } }] }],
  ...further,
});

const parameterized = (id: string) =>
  batch(id, { ParameterizedJob: { Payload: 'optional', MetaRequired: ['colour'], MetaOptional: ['size'] } });

interface Client {
  readonly engine: Engine;
  readonly handler: HttpHandler;
  send(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<HttpResponse>;
}

function client(options: { access: 'token' | 'open'; names?: 'upstream' } = { access: 'open' }): Client {
  const engine = engineUnderTest();
  const handler = createHttpHandler(engine, options);
  return {
    engine,
    handler,
    send: (method, target, body, headers = {}) =>
      handler(requestFrom({ method, target, headers, ...(body === undefined ? {} : { body }) })),
  };
}

function header(response: HttpResponse, name: string): string | undefined {
  const at = response.headers.findIndex((item, i) => i % 2 === 0 && item.toLowerCase() === name.toLowerCase());
  return at < 0 ? undefined : response.headers[at + 1];
}

function json(response: HttpResponse): Record<string, unknown> {
  return JSON.parse(response.body.toString()) as Record<string, unknown>;
}

describe('registering and reading', () => {
  it('registers, lists, reads, stops and purges', async () => {
    const { send } = client();
    const registered = await send('PUT', '/v1/jobs', { Job: batch('report') });
    expect(registered.status).toBe(200);
    const answer = json(registered);
    expect(answer).toMatchObject({ Warnings: '', LastContact: 0, KnownLeader: false, NextToken: '' });
    expect(answer['Index']).toBe(answer['JobModifyIndex']);
    expect(answer['EvalCreateIndex']).toBe(answer['Index']);
    expect(header(registered, 'X-SVC-Index')).toBe(String(answer['Index']));
    expect(header(registered, 'X-SVC-KnownLeader')).toBeUndefined();

    const read = await send('GET', '/v1/job/report');
    expect(json(read)).toMatchObject({ ID: 'report', Namespace: 'default', Version: 0, Status: 'pending' });
    expect(header(read, 'X-SVC-Index')).toBe(String(json(read)['ModifyIndex']));
    expect(header(read, 'X-SVC-KnownLeader')).toBe('true');
    expect(header(read, 'X-SVC-LastContact')).toBe('0');

    const list = JSON.parse((await send('GET', '/v1/jobs?prefix=rep')).body.toString());
    expect(list).toHaveLength(1);
    expect(list[0]).toMatchObject({ ID: 'report', JobSummary: { Namespace: 'default' } });

    expect(json(await send('GET', `/v1/evaluation/${String(answer['EvalID'])}`))).toMatchObject({ JobID: 'report' });
    expect(json(await send('GET', '/v1/job/report/versions'))['Versions']).toHaveLength(1);
    expect((await send('GET', '/v1/job/report/allocations')).body).toBe('[]');
    expect((await send('GET', '/v1/job/report/deployments')).body).toBe('[]');
    expect((await send('GET', '/v1/job/report/deployment')).body).toBe('null');
    expect(json(await send('GET', '/v1/job/report/summary'))).toMatchObject({ JobID: 'report' });

    expect(json(await send('DELETE', '/v1/job/report'))).toMatchObject({ VolumeEvalID: '', VolumeEvalIndex: 0 });
    expect(json(await send('GET', '/v1/job/report'))).toMatchObject({ Stop: true });
    await send('DELETE', '/v1/job/report?purge=true');
    expect((await send('GET', '/v1/job/report')).status).toBe(404);
    const unknown = await send('DELETE', '/v1/job/report');
    expect([unknown.status, json(unknown)['EvalID'], header(unknown, 'X-SVC-Index')]).toEqual([200, '', '0']);
  });

  it('answers 404 as text, with the headers that a waiting reader needs', async () => {
    const { send } = client();
    const missing = await send('GET', '/v1/job/none');
    expect([missing.status, missing.body]).toEqual([404, 'job not found: GET /v1/job/none']);
    const written = await send('POST', '/v1/job/none/evaluate');
    expect([written.status, written.body]).toEqual([404, 'job not found: POST /v1/job/none/evaluate']);
    expect(header(missing, 'Content-Type')).toBe('text/plain; charset=utf-8');
    expect(Number(header(missing, 'X-SVC-Index'))).toBeGreaterThan(0);
  });

  it('finds jobs whose IDs have slashes, escaped or raw', async () => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('team/nightly/plan-b') });
    for (const target of [
      '/v1/job/team/nightly/plan-b',
      '/v1/job/team%2Fnightly%2Fplan-b',
      '/v1/job/team%2Fnightly/plan-b/summary',
      '/v1/job/team%2Fnightly%2Fplan-b%2Fevaluations',
    ]) {
      expect((await send('GET', target)).status, target).toBe(200);
    }
    expect((await send('GET', '/v1/job/team/nightly')).status).toBe(404);
  });

  it('takes the job named like an operation', async () => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('summary') });
    expect(json(await send('GET', '/v1/job/summary'))).toMatchObject({ ID: 'summary' });
    expect(json(await send('GET', '/v1/job/summary/summary'))).toMatchObject({ JobID: 'summary' });
  });

  it('pages with a token that survives its header', async () => {
    const { send } = client();
    const ids = ['a', 'b%2', 'ç-ö', 'd'];
    for (const id of ids) expect((await send('PUT', '/v1/jobs', { Job: batch(id) })).status, id).toBe(200);
    const seen: string[] = [];
    let token: string | undefined = '';
    while (token !== undefined) {
      const page = await send('GET', `/v1/jobs?per_page=1&next_token=${encodeURIComponent(token)}`);
      seen.push(...(JSON.parse(page.body.toString()) as { ID: string }[]).map((job) => job.ID));
      token = header(page, 'X-SVC-NextToken');
      if (token !== undefined) expect(token).toMatch(/^[\x21-\x7e]+$/);
    }
    expect(seen.sort()).toEqual([...ids].sort());
  });

  it('prints indented when asked', async () => {
    const { send } = client();
    const put = await send('PUT', '/v1/jobs?pretty', { Job: batch('p') });
    expect(put.body.toString()).toMatch(/^\{\n {4}"EvalID"/);
    expect((await send('GET', '/v1/job/p?pretty=1')).body.toString()).toMatch(/\n\}\n$/);
    expect((await send('GET', '/v1/job/p?pretty=0')).body.toString()).not.toContain('\n');
    expect((await send('GET', '/v1/job/none?pretty')).body).toBe('job not found: GET /v1/job/none');
  });

  it('speaks the other vocabulary when asked', async () => {
    const { send } = client({ access: 'open', names: 'upstream' });
    const list = await send('GET', '/v1/jobs');
    expect(header(list, 'X-Nomad-Index')).toBeDefined();
    expect(header(list, 'X-SVC-Index')).toBeUndefined();
  });

  it('checks and sets', async () => {
    const { send } = client();
    const first = json(await send('PUT', '/v1/jobs', { Job: batch('cas'), EnforceIndex: true, JobModifyIndex: 0 }));
    const again = await send('PUT', '/v1/jobs', { Job: batch('cas'), EnforceIndex: true, JobModifyIndex: 0 });
    expect(again.status).toBe(409);
    expect(again.body).toMatch(/^Enforcing job modify index 0: /);
    const next = { Job: batch('cas', { Priority: 60 }), enforceindex: true, jobmodifyindex: first['JobModifyIndex'] };
    expect((await send('PUT', '/v1/job/cas', next)).status).toBe(200);
  });

  it('reverts, marks stable and evaluates', async () => {
    const { send } = client();
    const Submission = { Source: 'job "r" {}', Format: 'hcl2', VariableFlags: { a: 'b&c=d' }, Variables: '' };
    await send('PUT', '/v1/jobs', { Job: batch('r'), Submission });
    await send('PUT', '/v1/jobs', { Job: batch('r', { Priority: 70 }) });
    const source = await send('GET', '/v1/job/r/submission?version=0');
    expect(json(source)).toMatchObject({ ...Submission, JobID: 'r', Version: 0 });
    expect((await send('GET', '/v1/job/r/submission')).status).toBe(400);
    const reverted = await send('PUT', '/v1/job/r/revert', { JobID: 'r', JobVersion: 0 });
    expect(reverted.status).toBe(200);
    expect(header(reverted, 'X-SVC-KnownLeader')).toBe('false');
    expect(json(await send('GET', '/v1/job/r'))).toMatchObject({ Version: 2, Priority: 50 });
    const stable = await send('PUT', '/v1/job/r/stable', { JobID: 'r', JobVersion: 2, Stable: true });
    expect(Object.keys(json(stable))).toEqual(['Index']);
    expect(json(await send('GET', '/v1/job/r'))).toMatchObject({ Stable: true });
    expect((await send('PUT', '/v1/job/r/evaluate')).status).toBe(200);
    expect((await send('PUT', '/v1/job/r/evaluate', {})).status).toBe(400);
    expect(
      (await send('PUT', '/v1/job/r/evaluate', { JobID: 'r', EvalOptions: { ForceReschedule: true } })).status,
    ).toBe(200);
  });
});

describe('dispatch', () => {
  it('dispatches with payload and meta, once per token', async () => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: parameterized('d') });
    const body = { Meta: { colour: 'red' }, Payload: Buffer.from('hello').toString('base64') };
    const first = json(await send('PUT', '/v1/job/d/dispatch?idempotency_token=once', body));
    const second = json(await send('POST', '/v1/job/d/dispatch?IdempotencyToken=once', body));
    expect(second['DispatchedJobID']).toBe(first['DispatchedJobID']);
    const child = json(await send('GET', `/v1/job/${encodeURIComponent(String(first['DispatchedJobID']))}`));
    expect(child).toMatchObject({ ParentID: 'd', Dispatched: true, Payload: body.Payload });
  });

  it('takes a raw payload', async () => {
    const { send } = client();
    const open = batch('raw', { ParameterizedJob: { Payload: 'required' } });
    await send('PUT', '/v1/jobs', { Job: open });
    const done = await send('PUT', '/v1/job/raw/dispatch/payload', Buffer.from([0, 255, 10]));
    const child = json(await send('GET', `/v1/job/${String(json(done)['DispatchedJobID'])}`));
    expect(Buffer.from(String(child['Payload']), 'base64')).toEqual(Buffer.from([0, 255, 10]));
  });

  it('takes a payload with line ends, as programs print base64', async () => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('raw', { ParameterizedJob: { Payload: 'required' } }) });
    const done = await send('PUT', '/v1/job/raw/dispatch', { Payload: 'aGVs\r\nbG8=\n' });
    expect(done.status).toBe(200);
    const child = json(await send('GET', `/v1/job/${String(json(done)['DispatchedJobID'])}`));
    expect(child['Payload']).toBe('aGVsbG8=');
  });

  it('refuses a payload that is no base64 before it looks for the job', async () => {
    const { send } = client();
    expect((await send('PUT', '/v1/job/none/dispatch', { Payload: 'aGVsbG8' })).status).toBe(400);
  });

  it.each([
    [{ Meta: {} }, 400, /required meta keys/],
    [{ Meta: { colour: 'red', other: 'x' } }, 400, /unpermitted metadata keys/],
    [{ Meta: { colour: 'red' }, Payload: 'x'.repeat(24_000) }, 400, /exceeds maximum size/],
    [{ Meta: { colour: 'red' }, Payload: '***' }, 400, /base64/],
    [{ Meta: { colour: 7 } }, 400, /"Meta" must be an object whose values are strings/],
    [{ Meta: { colour: 'red' }, JobID: 'other' }, 400, /job ID/],
  ])('refuses %j', async (body, status, message) => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: parameterized('d') });
    const refused = await send('PUT', '/v1/job/d/dispatch', body);
    expect(refused.body).toMatch(message);
    expect(refused.status).toBe(status);
  });
});

describe('the statuses that a POST asks for', () => {
  const statuses = async (query: string, body?: unknown) => {
    const { send } = client({ access: 'open', names: 'upstream' });
    for (const id of ['a', 'b', 'c']) await send('PUT', '/v1/jobs', { Job: batch(id) });
    await send('PUT', '/v1/jobs', { Job: parameterized('p') });
    const made = await send('PUT', '/v1/job/p/dispatch', { Meta: { colour: 'red' } });
    const child = String(json(made)['DispatchedJobID']);
    const named = body === undefined ? undefined : { Jobs: ['a', 'c', child].map((ID) => ({ ID })), ...body };
    const answer = await send('POST', `/v1/jobs/statuses${query}`, named);
    if (answer.status !== 200) return answer.status;
    const found = JSON.parse(answer.body.toString()) as readonly { readonly ID: string }[];
    return found.map(({ ID }) => ID.replace(/\/dispatch.*/, '/child'));
  };

  it.each([
    ['', {}, ['c', 'a']],
    ['?reverse=true', {}, ['a', 'c']],
    ['?filter=ID+%21%3D+a', {}, ['c']],
    ['?include_children=true', {}, ['p/child', 'c', 'a']],
    ['?include_children=x', {}, 400],
    ['?filter=%28', {}, 500],
    ['?per_page=1', {}, ['c', 'a']],
    ['', { Jobs: [] }, 400],
  ])('are filtered and ordered as a GET does it: %s %j', async (query, body, expected) => {
    expect(await statuses(query, body)).toEqual(expected);
  });

  it.each([
    ['', ['p', 'c', 'b', 'a']],
    ['?per_page=1', ['p']],
    ['?include_children=true&reverse=true', ['a', 'b', 'c', 'p', 'p/child']],
  ])('are those of all jobs without a body: %s', async (query, expected) => {
    expect(await statuses(query)).toEqual(expected);
  });
});

describe('bad input', () => {
  it.each([
    ['GET', '/v1/jobs?index=abc', /Invalid index/],
    ['GET', '/v1/jobs?index=-1', /Invalid index/],
    ['GET', '/v1/jobs?index=1&wait=10', /Invalid wait time/],
    ['GET', '/v1/jobs?stale=maybe', /expects true or false/],
    ['GET', '/v1/jobs?per_page=1.5', /expects a number/],
    ['GET', '/v1/jobs?per_page=4294967296', /expects a number/],
    ['GET', '/v1/jobs?filter=ID', /^failed to create result paginator/],
    ['GET', '/v1/jobs?prefix=%ZZ', /percent-encoding/],
    ['GET', '/v1/job/%ZZ', /percent-encoding/],
    ['DELETE', '/v1/job/', /missing job ID/],
    ['PUT', '/v1/job//plan', /missing job ID/],
    ['DELETE', '/v1/job/x?eval_priority=101', /1.*100/],
  ])('%s %s is a 400', async (method, target, message) => {
    const { send } = client();
    const refused = await send(method, target);
    expect(refused.body).toMatch(message);
    expect(refused.status).toBe(400);
  });

  it.each([
    ['GET', '/v1/jobs?meta=yes', /failed to parse value of "meta" \("yes"\) as a bool/],
    ['GET', '/v1/evaluation/not-a-uuid', /UUID/],
    ['GET', '/v1/job/x/versions?diffs=yes', /failed to parse value of "diffs"/],
    ['DELETE', '/v1/job/x?purge=2', /failed to parse value of "purge"/],
    ['DELETE', '/v1/job/x?eval_priority=high', /expects a number/],
  ])('%s %s is a 400, and a 500 to clients of Nomad', async (method, target, message) => {
    const refused = await client().send(method, target);
    expect([refused.status, refused.body]).toEqual([400, expect.stringMatching(message)]);
    const inNomad = await client({ access: 'open', names: 'upstream' }).send(method, target);
    expect([inNomad.status, inNomad.body]).toEqual([500, refused.body]);
  });

  it.each(['/v1/status/leader', '/v1/status/peers'])(
    'the servers of an unknown region are not this one: %s',
    async (path) => {
      const { send } = client();
      const refused = await send('GET', `${path}?region=mars`);
      expect(refused.status).toBe(400);
      expect(refused.body).toMatch(/^No path to region/);
      expect((await send('GET', `${path}?region=global`)).status).toBe(200);
    },
  );

  it.each(['GET', 'DELETE'])('an unknown region: %s', async (method) => {
    for (const [names, status] of [
      [{}, 400],
      [{ names: 'upstream' }, 500],
    ] as const) {
      const { send } = client({ access: 'open', ...names });
      const refused = await send(method, '/v1/job/x?region=mars');
      expect([refused.status, refused.body]).toEqual([status, expect.stringMatching(/^No path to region/)]);
    }
  });

  it.each<[string, unknown, number, RegExp]>([
    ['no body', undefined, 400, /request body is empty/],
    ['a blank body', '  ', 400, /it is empty/],
    ['broken JSON', '{"Job":', 400, /not valid JSON/],
    ['a list', '[]', 400, /must be a JSON object, not a list/],
    ['no job', '{}', 400, /Job must be specified/],
    ['a null job', '{"Job":null}', 400, /Job must be specified/],
    ['a job that is text', '{"Job":"x"}', 400, /Job/],
    ['no ID', '{"Job":{}}', 400, /Job ID/],
    ['a wrong type inside', { Job: batch('x', { Priority: 'high' }) }, 400, /Job\.Priority/],
    ['a wrong type beside', { Job: batch('x'), EnforceIndex: 'yes' }, 400, /"EnforceIndex" must be a bool/],
    ['a negative index', { Job: batch('x'), JobModifyIndex: -1 }, 400, /"JobModifyIndex"/],
    ['deep nesting', `{"Job":${'['.repeat(100)}${']'.repeat(100)}}`, 400, /nested deeper/],
    ['very deep nesting', '['.repeat(200_000), 400, /not valid JSON/],
    ['a number out of range', '{"Job":{"Priority":1e999}}', 400, /out of range/],
    ['a hostile key', '{"Job":{"__proto__":{"x":1}}}', 400, /__proto__/],
    ['a hostile key in disguise', '{"Job":{"\\u005f_proto__":{"x":1}}}', 400, /__proto__/],
    ['a large body', `{"x":"${'x'.repeat(5_000_000)}"}`, 413, /larger/],
    ['an invalid job', { Job: { ID: 'bad id' } }, 400, /errors? occurred/],
  ])('%s', async (_what, body, status, message) => {
    const { engine, send } = client();
    const before = (await engine.storage.read((view) => view.index))._unsafeUnwrap();
    const refused = await send('PUT', '/v1/jobs', body);
    expect(refused.body).toMatch(message);
    expect(refused.status).toBe(status);
    expect((await engine.storage.read((view) => view.index))._unsafeUnwrap()).toBe(before);
  });

  it('ignores what follows the first value', async () => {
    const { send } = client();
    const body = `${JSON.stringify({ Job: batch('first') })} {"Job":null} trailing`;
    expect((await send('PUT', '/v1/jobs', body)).status).toBe(200);
  });

  it('answers wrong methods with 405', async () => {
    const { send } = client();
    for (const [method, target] of [
      ['DELETE', '/v1/jobs'],
      ['PATCH', '/v1/job/x'],
      ['GET', '/v1/job/x/dispatch'],
      ['POST', '/v1/job/x/allocations'],
      ['HEAD', '/v1/jobs'],
    ] as const) {
      const { status, headers, body } = await send(method, target);
      expect([status, body], target).toEqual([
        405,
        expect.stringContaining(`${method} ${target}: the allowed methods`),
      ]);
      expect(headers).toContain('Allow');
    }
  });

  it('answers wrong methods as Nomad does to its clients, and any method where Nomad ignores it', async () => {
    const { send } = client({ access: 'open', names: 'upstream' });
    const { status, body } = await send('DELETE', '/v1/jobs');
    expect([status, body]).toEqual([405, 'Invalid method']);
    expect((await send('POST', '/v1/job/x/versions')).status).toBe(404);
    expect((await client().send('POST', '/v1/job/x/versions')).status).toBe(405);
  });
});

describe('access', () => {
  it('refuses callers without a token, with an unknown one, and without the right', async () => {
    const { engine, send } = client({ access: 'token' });
    await putToken(engine, hostPrincipal, {
      secret: 'reader',
      name: 'reader',
      namespaces: { default: { capabilities: [], policy: 'read' } },
    });
    await putNamespace(engine, hostPrincipal, { name: 'other' });
    const job = { Job: batch('x') };
    const forbidden = [403, expect.stringMatching(/^Permission denied: .+ Requires /)];
    const outcome = async (headers: Record<string, string>, method: string, target: string, body?: unknown) => {
      const response = await send(method, target, body, headers);
      return [response.status, response.status === 200 ? 'ok' : response.body];
    };
    expect(await outcome({}, 'GET', '/v1/jobs')).toEqual(forbidden);
    expect(await outcome({ 'x-svc-token': 'nobody' }, 'GET', '/v1/jobs')).toEqual(forbidden);
    for (const headers of [
      { 'x-svc-token': ' reader ' },
      { 'x-nomad-token': 'reader' },
      { authorization: 'bearer  reader' },
    ] as Record<string, string>[]) {
      expect(await outcome(headers, 'GET', '/v1/jobs'), JSON.stringify(headers)).toEqual([200, 'ok']);
    }
    const reader = { 'x-svc-token': 'reader' };
    expect(await outcome(reader, 'GET', '/v1/jobs?namespace=other')).toEqual(forbidden);
    expect(await outcome(reader, 'PUT', '/v1/jobs', job)).toEqual(forbidden);
    expect(await outcome(reader, 'GET', '/v1/nodes')).toEqual(forbidden);
    expect(await outcome(reader, 'PUT', '/v1/namespace', { Name: 'mine' })).toEqual(forbidden);
    expect((await send('GET', '/v1/namespaces', undefined, reader)).body).toMatch(/^\[\{"Name":"default"[^[]*\]$/);
  });
});

describe('blocking queries', () => {
  it('wait for a change and share one printed answer', async () => {
    const { send, engine } = client();
    await send('PUT', '/v1/jobs', { Job: batch('a') });
    const index = header(await send('GET', '/v1/jobs'), 'X-SVC-Index');
    const target = `/v1/jobs?index=${String(index)}&wait=60s`;
    const waiting = Array.from({ length: 50 }, () => send('GET', target));
    const other = send('GET', `${target}&meta=true`);
    while (engine.parked.size < 51) await new Promise((resolve) => setImmediate(resolve));
    await send('PUT', '/v1/jobs', { Job: batch('b', { Meta: { k: 'v' } }) });
    const answers = await Promise.all(waiting);
    expect(Buffer.isBuffer(answers[0]?.body)).toBe(true);
    for (const answer of answers) {
      expect(answer.body).toBe(answers[0]?.body);
      expect(Number(header(answer, 'X-SVC-Index'))).toBeGreaterThan(Number(index));
    }
    expect((await other).body.toString()).toContain('"k":"v"');
  });

  it('keep the header names of their handler, and headers of their own', async () => {
    const { send, engine } = client();
    const other = createHttpHandler(engine, { access: 'open', names: 'upstream' });
    await send('PUT', '/v1/jobs', { Job: batch('a') });
    const target = `/v1/jobs?index=${String(header(await send('GET', '/v1/jobs'), 'X-SVC-Index'))}&wait=60s`;
    const waiting = [send('GET', target), other(requestFrom({ target })), send('GET', target)];
    while (engine.parked.size < waiting.length) await new Promise((resolve) => setImmediate(resolve));
    await send('PUT', '/v1/jobs', { Job: batch('b') });
    const [first, upstream, second] = (await Promise.all(waiting)) as [HttpResponse, HttpResponse, HttpResponse];
    expect(header(upstream, 'X-Nomad-Index')).toBe(header(first, 'X-SVC-Index'));
    expect(header(upstream, 'X-SVC-Index')).toBeUndefined();
    first.headers.push('Content-Length', '0');
    expect(header(second, 'Content-Length')).toBeUndefined();
    expect(second.headers).toEqual(first.headers.slice(0, -2));
  });

  it('end when the client goes away', async () => {
    const { engine, handler, send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('a') });
    let leave = (): void => undefined;
    const parked = handler({
      ...requestFrom({ target: '/v1/jobs?index=1000&wait=60s' }),
      whenClosed: (callback) => {
        leave = callback;
      },
    });
    while (engine.parked.size < 1) await new Promise((resolve) => setImmediate(resolve));
    leave();
    expect((await parked).status).toBe(200);
    expect(engine.parked.size).toBe(0);
  });

  it('answer at once with a larger index, and wait for a job to appear', async () => {
    const { engine, send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('a') });
    expect((await send('GET', '/v1/jobs?index=1&wait=60s')).status).toBe(200);
    const missing = await send('GET', '/v1/job/later');
    const appearing = send('GET', `/v1/job/later?index=${String(header(missing, 'X-SVC-Index'))}&wait=60s`);
    while (engine.parked.size < 1) await new Promise((resolve) => setImmediate(resolve));
    await send('PUT', '/v1/jobs', { Job: batch('later') });
    expect(json(await appearing)).toMatchObject({ ID: 'later' });
  });
});

describe('what is in a namespace that a token may not read', () => {
  it('answers like what does not exist, to the header', async () => {
    const { engine, send } = client({ access: 'token' });
    const token = (secret: string, management: boolean) =>
      putToken(engine, hostPrincipal, {
        secret,
        name: secret,
        management,
        namespaces: management ? {} : { default: { capabilities: [], policy: 'read' } },
      });
    await token('all-of-it-in-all', true);
    await token('reads-default-only', false);
    const all = { 'x-svc-token': 'all-of-it-in-all' };
    const reader = { 'x-svc-token': 'reads-default-only' };
    await send('PUT', '/v1/namespace', { Name: 'other' }, all);
    const registered = await send('PUT', '/v1/jobs?namespace=other', { Job: batch('hidden') }, all);
    const hidden = `/v1/evaluation/${String(json(registered)['EvalID'])}`;
    const unknown = '/v1/evaluation/11111111-2222-4333-8444-555555555555';
    expect((await send('GET', hidden, undefined, all)).status).toBe(200);
    for (const query of ['', '?index=1']) {
      const answer = await send('GET', hidden + query, undefined, reader);
      expect(answer.status).toBe(404);
      // Both name what was asked for.
      const absent = await send('GET', unknown + query, undefined, reader);
      const body = answer.body.toString().replace(hidden, unknown);
      expect({ ...answer, body }).toEqual({ ...absent, body: absent.body.toString() });
    }
    expect((await send('GET', `${hidden}/allocations`, undefined, reader)).body).toBe('[]');
  });
});

describe('what a namespace allows', () => {
  const { send } = client();
  const none = { DisabledTaskDrivers: null, EnabledNetworkModes: null, DisabledNetworkModes: null };

  it('is stored, shown and enforced', async () => {
    const made = await send('PUT', '/v1/namespace', {
      Name: 'team',
      Capabilities: { enabledTaskDrivers: ['function'] },
    });
    expect(made.status, made.body.toString()).toBe(200);
    const Capabilities = { EnabledTaskDrivers: ['function'], ...none };
    expect(json(await send('GET', '/v1/namespace/team'))).toMatchObject({ Capabilities });
    const refused = await send('PUT', '/v1/jobs?namespace=team', { Job: batch('x') });
    expect([refused.status, refused.body.toString()]).toEqual([400, expect.stringContaining('raw_exec')]);
    await send('PUT', '/v1/namespace', { Name: 'team' });
    expect(json(await send('GET', '/v1/namespace/team'))).toMatchObject({ Capabilities: null });
    expect((await send('PUT', '/v1/jobs?namespace=team', { Job: batch('x') })).status).toBe(200);
  });

  const onNetwork = (Mode: string) => {
    const [first] = batch('x').TaskGroups;
    return { TaskGroups: [{ ...first, Networks: [{ Mode }] }] };
  };

  it.each([
    ['a driver that it disables', { DisabledTaskDrivers: ['raw_exec'] }, {}, 'raw_exec'],
    [
      'a driver that it enables and disables',
      { EnabledTaskDrivers: ['raw_exec'], DisabledTaskDrivers: ['raw_exec'] },
      {},
      'raw_exec',
    ],
    ['another network mode than it enables', { EnabledNetworkModes: ['bridge'] }, onNetwork('host'), 'host'],
    ['a network mode that it disables', { DisabledNetworkModes: ['host'] }, onNetwork('host'), 'host'],
  ])(
    'refuses %s when a job is registered or planned, and keeps nothing of it',
    async (_what, Capabilities, further, named) => {
      const Name = 'strict';
      expect((await send('PUT', '/v1/namespace', { Name, Capabilities })).status).toBe(200);
      expect(json(await send('GET', '/v1/namespace/strict'))).toMatchObject({ Capabilities });
      const Job = { ...batch('x', further), Namespace: Name };
      for (const path of ['/v1/jobs', '/v1/job/x/plan']) {
        const refused = await send('PUT', `${path}?namespace=strict`, { Job });
        expect([refused.status, refused.body.toString()]).toEqual([400, expect.stringContaining(named)]);
      }
      expect(json(await send('GET', '/v1/jobs?namespace=strict'))).toEqual([]);
      const open = { DisabledTaskDrivers: ['docker'], DisabledNetworkModes: ['bridge'] };
      await send('PUT', '/v1/namespace', { Name, Capabilities: open });
      expect((await send('PUT', '/v1/jobs?namespace=strict', { Job })).status).toBe(200);
      await send('DELETE', '/v1/job/x?namespace=strict&purge=true');
    },
  );

  it.each([
    [{ Capabilities: ['raw_exec'] }, '"Capabilities" must be an object'],
    [{ Capabilities: { EnabledTaskDrivers: 'raw_exec' } }, '"EnabledTaskDrivers" must be a list of strings'],
    [{ Capabilities: { DisabledNetworkModes: [1] } }, '"DisabledNetworkModes" must be a list of strings'],
    [{ Quota: 'small' }, 'this server does not support it'],
    [{ NodePoolConfiguration: { Default: 'gpu' } }, 'this server does not support it'],
    [{ VaultConfiguration: { Default: 'x' } }, 'this server does not support it'],
    [{ RequiredExtraClaims: ['x'] }, 'this server does not support it'],
  ])('is refused where it cannot be kept: %j', async (members, message) => {
    const refused = await send('PUT', '/v1/namespace', { Name: 'team', ...members });
    expect([refused.status, refused.body.toString()]).toEqual([400, expect.stringContaining(message)]);
  });

  it('takes what clients send that send every member', async () => {
    const Name = 'team';
    const members = {
      Quota: '',
      NodePoolConfiguration: null,
      VaultConfiguration: {},
      RequiredExtraClaims: [],
      Hash: '',
    };
    expect((await send('PUT', '/v1/namespace', { Name, ...members, CreateIndex: 1, ModifyIndex: 1 })).status).toBe(200);
  });
});

describe('namespaces', () => {
  it('are made, read, listed and removed', async () => {
    const { send } = client();
    const made = await send('PUT', '/v1/namespace', { Name: 'team', Description: 'The team' });
    expect([made.status, made.body]).toEqual([200, '']);
    expect(header(made, 'X-SVC-Index')).toBeDefined();
    expect(json(await send('GET', '/v1/namespace/team'))).toMatchObject({ Name: 'team', Description: 'The team' });
    expect((await send('GET', '/v1/namespace/none')).status).toBe(404);
    expect((await send('PUT', '/v1/namespace/other', { Name: 'team' })).status).toBe(400);
    expect((await send('PUT', '/v1/namespace', { Name: 'a b' })).status).toBe(400);
    expect(JSON.parse((await send('GET', '/v1/namespaces')).body.toString())).toHaveLength(2);
    await send('PUT', '/v1/jobs?namespace=team', { Job: batch('x') });
    expect((await send('DELETE', '/v1/namespace/team')).status).toBe(409);
    expect((await send('DELETE', '/v1/namespace/default')).status).toBe(409);
    expect(JSON.parse((await send('GET', '/v1/jobs?namespace=*')).body.toString())).toHaveLength(1);
  });
});

describe('scaling and tags', () => {
  it('scales, records and shows it', async () => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('s') });
    const scaled = await send('PUT', '/v1/job/s/scale', { Count: 3, Target: { Group: 'g' }, Message: 'more' });
    expect(scaled.status, scaled.body.toString()).toBe(200);
    expect(json(await send('GET', '/v1/job/s'))).toMatchObject({ Version: 1, TaskGroups: [{ Count: 3 }] });
    const failed = { Target: { Group: 'g' }, Message: 'cannot', Error: true };
    expect((await send('POST', '/v1/job/s/scale', failed)).status).toBe(200);
    expect((await send('POST', '/v1/job/s/scale', { Target: failed.Target, Error: 'out of credit' })).status).toBe(200);
    const status = json(await send('GET', '/v1/job/s/scale'));
    expect(status).toMatchObject({
      JobID: 's',
      TaskGroups: { g: { Desired: 3, Events: [{}, { Error: true }, { Count: 3 }] } },
    });
  });

  it.each<[unknown, number, RegExp]>([
    [{ Count: 1, Target: {}, Message: 'm' }, 400, /group/i],
    [{ Count: 1, Target: { Group: 'g' } }, 400, /Message or Error/],
    [{ Count: -1, Target: { Group: 'g' }, Message: 'm' }, 400, /negative/],
    [{ Count: 1, Target: { Group: 'other' }, Message: 'm' }, 400, /other/],
    [{ Count: 1, Error: true, Target: { Group: 'g' } }, 400, /./],
    [{ Count: 1, Target: { Group: 'g' }, Message: 'm', JobModifyIndex: 999 }, 409, /^Enforcing job modify index 999/],
    [{ Count: '1', Target: { Group: 'g' } }, 400, /"Count" must be a whole number/],
  ])('refuses %j', async (body, status, message) => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('s') });
    const refused = await send('PUT', '/v1/job/s/scale', body);
    expect(refused.body).toMatch(message);
    expect(refused.status).toBe(status);
    expect((await send('PUT', '/v1/job/none/scale', { Count: 1, Target: { Group: 'g' }, Message: 'm' })).status).toBe(
      404,
    );
  });

  it('names a version and takes the name away', async () => {
    const { send } = client();
    await send('PUT', '/v1/jobs', { Job: batch('t') });
    const tagged = await send('PUT', '/v1/job/t/versions/golden/tag', { Version: 0, Description: 'good' });
    expect(json(tagged)).toMatchObject({ Name: 'golden', Description: 'good', Index: expect.any(Number) });
    expect(header(tagged, 'X-SVC-Index')).toBeUndefined();
    expect(json(await send('GET', '/v1/job/t'))).toMatchObject({ VersionTag: { Name: 'golden' } });
    expect(json(await send('DELETE', '/v1/job/t/versions/golden/tag'))).toMatchObject({ Name: '', TaggedTime: 0 });
    expect((await send('DELETE', '/v1/job/t/versions/golden/tag')).status).toBe(404);
    expect((await send('PUT', '/v1/job/a/b/versions/golden/tag', {})).status).toBe(404);
  });
});

describe('parse and validate', () => {
  const source =
    'job "from-text" {\n  type = "batch"\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n      config { command = "/bin/true" }\n    }\n  }\n}\n';

  it('turns a specification into the job that can be registered', async () => {
    const { send } = client();
    const parsed = await send('POST', '/v1/jobs/parse', { JobHCL: source, Canonicalize: true });
    expect(parsed.status, parsed.body.toString()).toBe(200);
    expect(header(parsed, 'X-SVC-Index')).toBeUndefined();
    expect(json(parsed)).toMatchObject({ ID: 'from-text', Type: 'batch', Namespace: 'default' });
    expect((await send('PUT', '/v1/jobs', { Job: json(parsed) })).status).toBe(200);
  });

  it('says what is wrong with it, and where', async () => {
    const { send } = client();
    const faulty = await send('PUT', '/v1/jobs/parse', { JobHCL: 'job "x" {\n  tpye = "batch"\n}' });
    expect(faulty.status).toBe(400);
    expect(faulty.body).toMatch(/^Failed to parse job: /);
    expect(faulty.body).toMatch(/tpye/);
    expect((await send('PUT', '/v1/jobs/parse', { JobHCL: '' })).body).toBe('Job spec is empty');
  });

  it('needs a right before it looks at the body', async () => {
    const { engine, send } = client({ access: 'token' });
    await putToken(engine, hostPrincipal, {
      secret: 'scaler',
      name: 's',
      namespaces: { default: { capabilities: [], policy: 'scale' } },
    });
    expect((await send('PUT', '/v1/jobs/parse', '{', { 'x-svc-token': 'scaler' })).status).toBe(403);
  });

  it('validates without storing', async () => {
    const { send } = client();
    const good = await send('PUT', '/v1/validate/job', { Job: batch('x') });
    expect(json(good)).toEqual({ DriverConfigValidated: true, ValidationErrors: null, Error: '', Warnings: '' });
    const bad = await send('PUT', '/v1/validate/job', { Job: batch('x', { Priority: 1000 }) });
    expect(bad.status).toBe(200);
    expect(json(bad)['ValidationErrors']).toHaveLength(1);
    expect((await send('GET', '/v1/job/x')).status).toBe(404);
    expect((await send('PUT', '/v1/validate/job', {})).status).toBe(400);
  });
});
