import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect, orThrow } from '../../../../src/client/index.js';
import { endAll, signalbox } from '../cli-process.js';
import { typed } from '../typed-commands.js';

/** Commands for the node of a server, what runs there, tokens, and requests as they are. */

let box: Client;
let origin = '';
let token = '';
let node = '';
let allocation = '';

beforeAll(async () => {
  const server = signalbox(['serve', '--listen', '127.0.0.1:0', '--store', 'memory', '--access', 'token']);
  token = await server.printed(/management token, shown this once: (\S+)/);
  origin = await server.origin();
  box = connect({ url: origin, token });
  const Config = { command: '/bin/sh', args: ['-c', "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.1; done"] };
  const tasks = [{ Name: 'main', Driver: 'raw_exec', Config, Resources: { CPU: 20, MemoryMB: 16 } }];
  await orThrow(box.jobs.register({ ID: 'steady', Datacenters: ['*'], TaskGroups: [{ Name: 'web', Tasks: tasks }] }));
  for (let waiting = {}; allocation === ''; ) {
    const { value, index } = await orThrow(box.jobs.allocations('steady', waiting));
    const running = value?.find(({ ClientStatus }) => ClientStatus === 'running');
    [allocation, node] = [running?.ID ?? '', running?.NodeID ?? ''];
    waiting = { index, wait: '10s' };
  }
});
afterAll(endAll);

const run = (...words: readonly string[]) => given({}, ...words);
const given = (files: Readonly<Record<string, string>>, ...words: readonly string[]) =>
  typed(origin, { environment: { SIGNALBOX_TOKEN: token }, files }, ...words);

describe('a node', () => {
  it('is named by its ID, or is that of the server', async () => {
    const shown = await run('node', 'status', node);
    expect(shown.out).toContain(node);
    expect(await run('node', 'status', '-self')).toEqual(shown);
    expect((await run('node', 'status', '-self', node)).code).toBe(2);
    expect((await run('node', 'status', '-filter', 'Name == "nobody"')).out).toBe('no nodes\n');
    expect((await run('node', 'status', '-filter', 'Name == "x"', node)).code).toBe(2);
    expect((await run('node', 'eligibility', '-disable', '-self')).out).toMatch(/is ineligible\n$/);
    expect((await run('node', 'eligibility', '-enable', '-self')).out).toMatch(/is eligible\n$/);
    expect((await run('node', 'eligibility', '-enable')).code).toBe(2);
  });

  it('shows what it uses and what runs there', async () => {
    const usage = await run('node', 'status', '-stats', '-self');
    expect(usage.out).toMatch(
      /^Processors += [\d.]+ % of \d+\nMemory +. \d+ MiB of \d+ MiB\nDisk +. \d+ MiB of \d+ MiB\n/,
    );
    expect((await run('node', 'status', '-allocs', node)).out).toMatch(
      /^ID +Namespace +Job .*\n\w{8} +default +steady +web/,
    );
    expect((await run('node', 'status', '-stats')).code).toBe(2);
    expect((await run('alloc', 'status', '-stats', allocation)).out).toMatch(
      /^Task +Processor +Memory +Processes\nmain +[\d.]+ % +\d+ MiB +\d+\n$/,
    );
    expect((await run('alloc', 'status', '-stats')).code).toBe(2);
  });

  it('keeps why it drains, with or without a deadline', async () => {
    const drained = await run(
      'node',
      'drain',
      '-enable',
      '-no-deadline',
      '-detach',
      '-yes',
      '-m',
      'new disk',
      '-meta',
      'by=ada',
      '-self',
    );
    expect(drained).toMatchObject({ code: 0, error: '' });
    const read = (await orThrow(box.nodes.read(node))).value;
    expect(read?.LastDrain?.Meta).toEqual({ message: 'new disk', by: 'ada' });
    expect((await run('node', 'drain', '-disable', '-self')).code).toBe(0);
    for (const options of [['-no-deadline', '-force'], ['-no-deadline', '-deadline', '1m'], ['-m']]) {
      expect((await run('node', 'drain', '-enable', ...options, node)).code, options.join(' ')).toBe(2);
    }
    expect((await run('node', 'drain', '-disable', '-m', 'why', node)).error).toContain('--m is for --enable');
  });
});

describe('an allocation', () => {
  const running = async () => {
    await expect
      .poll(async () => (await orThrow(box.jobs.allocations('steady'))).value?.map((each) => each.ClientStatus))
      .toContain('running');
  };

  it('may be named by its job', async () => {
    await running();
    expect((await run('alloc', 'logs', '-stdout', '-job', 'steady')).out).toMatch(/^ready\n/);
    expect((await run('alloc', 'exec', '-job', '-task', 'main', 'steady', 'echo', 'hello')).out).toBe('hello\n');
    expect((await run('alloc', 'fs', '-job', 'steady', 'alloc')).out).toContain('logs/');
    const once = [{ Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/echo', args: ['once'] } }];
    const groups = [{ Name: 'web', Tasks: once }];
    await orThrow(box.jobs.register({ ID: 'once', Type: 'batch', Datacenters: ['*'], TaskGroups: groups }));
    await expect.poll(async () => (await run('alloc', 'logs', '-job', 'once')).out).toBe('once\n');
    await expect
      .poll(async () => (await run('alloc', 'exec', '-job', 'once', 'true')).error)
      .toBe('signalbox: job once has no such allocation\n');
    expect((await run('alloc', 'logs', '-job', 'nobody')).error).toBe('signalbox: there is no job nobody\n');
    expect((await run('alloc', 'logs', '-stdout', '-stderr', '-job', 'steady')).code).toBe(2);
  });

  it('gets a signal and a restart, of which the task may be an option', async () => {
    await running();
    const { value } = await orThrow(box.jobs.allocations('steady'));
    const id = value?.find(({ ClientStatus }) => ClientStatus === 'running')?.ID ?? '';
    expect((await run('alloc', 'signal', '-s', 'SIGUSR1', id, 'main')).out).toMatch(
      /SIGUSR1 was sent to allocation \S+\n$/,
    );
    expect((await run('alloc', 'signal', '-task=main', id, 'SIGUSR1')).out).toMatch(
      /SIGUSR1 was sent to allocation \S+\n$/,
    );
    expect((await run('alloc', 'signal', id)).error).toContain('name the signal');
    expect((await run('alloc', 'signal', '-s', 'SIGUSR1', id, 'main', 'more')).code).toBe(2);
    expect((await run('alloc', 'restart', '-task', 'other', id, 'main')).code).toBe(2);
    expect((await run('alloc', 'restart', '-task', 'main', id)).out).toMatch(/restarts\n$/);
  });
});

describe('a job', () => {
  it('is shown with its evaluations', async () => {
    expect((await run('job', 'status', 'steady')).out).not.toContain('job-register');
    expect((await run('job', 'status', '-evals', 'steady')).out).toContain('job-register');
    expect((await run('job', 'status', '-evals')).code).toBe(2);
  });
});

describe('a token', () => {
  it('is changed in what the options name alone', async () => {
    const made = await run(
      'token',
      'create',
      '-name',
      'ada',
      '-policy',
      'one',
      '-ttl',
      '1h',
      '-workspace',
      'w=events',
      '-json',
    );
    const { AccessorID } = JSON.parse(made.out);
    const changed = await run('token', 'update', '-policy', 'two', '-policy=three', '-json', AccessorID);
    expect(JSON.parse(changed.out)).toMatchObject({
      Name: 'ada',
      Type: 'client',
      Policies: ['two', 'three'],
      Workspaces: { w: 'events' },
      ExpirationTTL: '1h0m0s',
    });
    expect(JSON.parse((await run('acl', 'token', 'update', '-name=eve', '-json', AccessorID)).out)).toMatchObject({
      Name: 'eve',
      Policies: ['two', 'three'],
    });
    expect(await run('token', 'update', AccessorID)).toMatchObject({ code: 2 });
    expect((await run('token', 'update', '-name', 'x', '00000000-0000-4000-8000-000000000000')).code).toBe(1);
    expect((await run('token', 'create', '-name', 'a', 'b')).code).toBe(2);
  });
});

describe('a request as it is', () => {
  it('goes to the server with the token, and prints what it answers', async () => {
    expect(JSON.parse((await run('operator', 'api', '/v1/job/steady')).out).ID).toBe('steady');
    expect(JSON.parse((await run('operator', 'api', '-filter', 'ID == "x"', 'v1/jobs?per_page=5')).out)).toEqual([]);
    const missing = await run('operator', 'api', '/v1/job/nobody');
    expect(missing).toMatchObject({
      code: 1,
      out: 'job not found: GET /v1/job/nobody',
      error: 'signalbox: the server answered 404\n',
    });
    expect((await run('agent-info')).out).toContain(node);
  });

  it('has a method, a body and headers', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      const { authorization, 'x-note': note } = request.headers;
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${authorization ?? ''} ${note ?? ''} ${body}`);
        response.end('done');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`;
      const files = { 'body.json': '{"a":1}', '-': 'typed' };
      const send = (...words: string[]) => given(files, 'operator', 'api', '-address', address, ...words);
      expect(await send('-namespace', 'team', '-H', 'X-Note: a b', '/v1/x')).toMatchObject({ code: 0, out: 'done' });
      await send('-d', '@body.json', '-namespace=team', '/v1/x?namespace=own');
      await send('-X', 'put', '-d', '-', '/v1/x');
      expect(seen).toEqual([
        `GET /below/v1/x?namespace=team Bearer ${token} a b `,
        `POST /below/v1/x?namespace=own Bearer ${token}  {"a":1}`,
        `PUT /below/v1/x Bearer ${token}  typed`,
      ]);
      for (const words of [
        ['-X', 'A B', '/'],
        ['-H', 'no colon', '/'],
        ['-X', 'GET', '-d', 'x', '/'],
        ['http://other/'],
      ]) {
        expect((await send(...words)).code, words.join(' ')).toBe(2);
      }
      expect(seen).toHaveLength(3);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    const silent = await given({}, 'operator', 'api', '-address', 'http://127.0.0.1:1', '/v1/jobs');
    expect(silent).toMatchObject({ code: 1, error: expect.stringContaining('no answer from http://127.0.0.1:1') });
  });
});
