import { errAsync, ok, okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { type CommandOutput, type CommandPerformer, commandRefused } from '../../../src/agent/link/node-command.js';
import { attachmentOf } from '../../../src/api/download.js';
import { hostPrincipal } from '../../../src/index.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { filledEngine } from './engine-under-test.js';
import { pathValues } from './route-samples.js';

/** The allocation, once there is an engine. */
const id = (): string => pathValues['allocation_id'] ?? '';

async function* outputsOf(outputs: readonly CommandOutput[]): AsyncGenerator<CommandOutput> {
  yield* outputs;
}

const range = { firstByte: 10, endByte: 40, files: 2, from: 12, to: 17 };
const piece = (text: string): CommandOutput => ({ type: 'piece', file: 'x', offset: 1, bytes: Buffer.from(text) });
const complete: readonly CommandOutput[] = [{ type: 'value', value: range }, piece('he'), piece('llo')];

const answers =
  (outputs: readonly CommandOutput[]): CommandPerformer =>
  () =>
    okAsync(outputsOf(outputs));

/** The headers by their names in lower case. */
async function get(target: string, performer: CommandPerformer = answers(complete), rename?: string) {
  const engine = await filledEngine();
  engine.agents.attach(pathValues['node_id'] ?? '', performer);
  if (rename !== undefined) {
    await engine.storage.write((view) => {
      const allocation = view.get(allocations, [id()])?.record;
      if (allocation !== undefined) view.put(allocations, { ...allocation, JobID: rename });
      return ok();
    });
  }
  const handler = createHttpHandler(engine, { access: 'open' });
  const { status, headers, body } = await handler(requestFrom({ target: target.replace('/ID', `/${id()}`) }));
  const named = Array.from({ length: headers.length / 2 }, (_, at) => [
    String(headers[2 * at]).toLowerCase(),
    String(headers[2 * at + 1]),
  ]);
  const pieces: string[] = [];
  if (typeof body === 'string' || Buffer.isBuffer(body)) pieces.push(body.toString());
  else for await (const item of body) pieces.push(Buffer.from(item).toString());
  return { status, headers: Object.fromEntries(named) as Record<string, string>, text: pieces.join('') };
}

describe('a range of the output of a task', () => {
  it('has its bytes, the range that they are, and what is kept', async () => {
    const { status, text } = await get(`/v1/allocation/ID/log?task=t&type=stdout&from=12&limit=5`);
    expect(status).toBe(200);
    const data = Buffer.from('hello').toString('base64');
    expect(JSON.parse(text)).toEqual({ ...range, hasEnded: false, data });
  });

  it('is what the node is asked for', async () => {
    const asked: unknown[] = [];
    const performer: CommandPerformer = (command) => {
      asked.push(command);
      return okAsync(outputsOf(complete));
    };
    await get(`/v1/allocation/ID/log?task=t&type=stderr`, performer);
    await get(`/v1/allocation/ID/log?task=t&type=stdout&from=7&limit=1048576`, performer);
    const command = { type: 'read_log', allocationId: id(), task: 't' };
    expect(asked).toEqual([
      { ...command, stream: 'stderr', from: null, limit: 65_536 },
      { ...command, stream: 'stdout', from: 7, limit: 1_048_576 },
    ]);
  });

  it.each([
    ['task=t&type=stdout&from=-1', 400, 'from must be'],
    ['task=t&type=stdout&from=1.5', 400, '"from"'],
    ['task=t&type=stdout&limit=-1', 400, 'limit must be'],
    ['task=t&type=stdout&limit=1048577', 400, 'limit must be'],
    ['task=t&type=std', 400, 'stdout or stderr'],
    ['task=t', 400, 'type'],
    ['task=&type=stdout', 400, 'task'],
    ['task=none&type=stdout', 400, 'unknown task name'],
  ])('is refused for %s', async (query, status, message) => {
    const answer = await get(`/v1/allocation/ID/log?${query}`);
    expect(answer).toMatchObject({ status, text: expect.stringContaining(message) });
  });

  it('is refused by agents of earlier versions, in words', async () => {
    const earlier: CommandPerformer = () =>
      errAsync(commandRefused('failed', 'handler[asked.command.type] is not a function'));
    for (const target of [
      `allocation/ID/log?task=t&type=stdout`,
      `client/fs/logs/ID?task=t&type=stdout&download=true`,
    ]) {
      const answer = await get(`/v1/${target}`, earlier);
      expect(answer).toMatchObject({ status: 409, text: expect.stringContaining('of an earlier version') });
    }
  });

  it.each([
    { what: 'fewer bytes', outputs: complete.slice(0, 2) },
    { what: 'more bytes', outputs: [...complete, piece('x'.repeat(100))] },
    { what: 'no range', outputs: complete.slice(1) },
    {
      what: 'an invalid range',
      outputs: [{ type: 'value' as const, value: { ...range, from: -1 } }, ...complete.slice(1)],
    },
  ])('fails when the node sends $what', async ({ outputs }) => {
    const answer = await get(`/v1/allocation/ID/log?task=t&type=stdout&from=12&limit=5`, answers(outputs));
    expect(answer).toMatchObject({ status: 500, text: expect.stringContaining('no complete answer') });
  });

  it('is the same for clients in the process and over HTTP', async () => {
    const engine = await filledEngine();
    engine.agents.attach(pathValues['node_id'] ?? '', answers(complete));
    const read = await engine.as(hostPrincipal).files.readLog(id(), { task: 't', type: 'stdout', from: 12, limit: 5 });
    expect(read._unsafeUnwrap()).toMatchObject({ ...range, data: 'aGVsbG8=' });
  });
});

describe('a download', () => {
  const logs = `/v1/client/fs/logs/ID?task=t&type=stdout&download=true`;

  it('of output is a file of its bytes that no browser shows', async () => {
    const { status, headers, text } = await get(logs);
    expect({ status, text }).toEqual({ status: 200, text: 'hello' });
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="job-t-${id().slice(0, 8)}.stdout.log"`,
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    ['alloc/data/index.html', 'attachment; filename="index.html"'],
    ['/', 'attachment; filename="download"'],
    ['a/b/naïve.html', `attachment; filename="na_ve.html"; filename*=UTF-8''na%C3%AFve.html`],
  ])('of the file %s is an attachment', async (path, disposition) => {
    const target = `/v1/client/fs/cat/ID?download=true&path=${encodeURIComponent(path)}`;
    const { headers, text } = await get(target, answers([piece('<script>alert(1)</script>')]));
    expect(text).toBe('<script>alert(1)</script>');
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': disposition,
      'x-content-type-options': 'nosniff',
    });
  });

  it('is not what a read without it answers', async () => {
    const { headers } = await get(logs.replace('&download=true', '&plain=true'));
    expect(headers).toMatchObject({ 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' });
    expect(headers).not.toHaveProperty('content-disposition');
  });

  it.each(['follow=true', 'offset=1', 'origin=end'])('of output refuses %s', async (query) => {
    expect(await get(`${logs}&${query}`)).toMatchObject({ status: 400, text: expect.stringContaining('a download') });
  });

  it('has no header of a hostile name of a job', async () => {
    const hostile = `x"\r\nSet-Cookie: a=b\r\n\r\n<script>/../..\\\u202Egpj.exe${'é'.repeat(2000)}`;
    const { headers } = await get(logs, undefined, hostile);
    expect(Object.keys(headers)).not.toContain('set-cookie');
    const disposition = headers['content-disposition'] ?? '';
    expect(disposition).toMatch(/^attachment; filename="[A-Za-z0-9._-]+"; filename\*=UTF-8''[A-Za-z0-9._%-]+$/);
    const name = decodeURIComponent(disposition.replace(/.*''/, ''));
    expect(name.endsWith('.stdout.log')).toBe(true);
    expect(name).not.toMatch(/[\p{C}/\\"<>]/u);
  });

  it.each([
    ['plain.log', 'attachment; filename="plain.log"'],
    ['', 'attachment; filename="download"'],
    ['..', 'attachment; filename="_"'],
    ['.bashrc', 'attachment; filename="_bashrc"'],
    ['a b', `attachment; filename="a_b"; filename*=UTF-8''a%20b`],
    ["it's (1)*!", `attachment; filename="it_s__1___"; filename*=UTF-8''it%27s%20%281%29_%21`],
    ['\ud800x', `attachment; filename="_x"`],
    ['😀', `attachment; filename="_"; filename*=UTF-8''%F0%9F%98%80`],
    [`${'é'.repeat(500)}`, `attachment; filename="${'_'.repeat(120)}"; filename*=UTF-8''${'%C3%A9'.repeat(120)}`],
  ])('of %j has the header %s', (name, header) => {
    expect(attachmentOf(name)).toBe(header);
  });
});
