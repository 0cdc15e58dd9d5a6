import { readTextFile } from '../../../adapters/cli/terminal.js';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, serve } from '../../../adapters/cli/serve/serve.js';

/*
 * What known clients of the notification interface send, byte for byte where it matters, replayed over real connections
 * against a server with the upstream names. In expected bodies, objects may have further members unless `<exact>` stands
 * among them; `<any>`, `<string>` and `<time>` stand for values, `<save:x>` remembers one as `{{x}}`.
 */

interface Transcript {
  readonly name: string;
  readonly steps: readonly {
    readonly what: string;
    readonly request: {
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly chunked?: boolean;
    };
    readonly response: {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    };
  }[];
}

const folder = new URL('.', import.meta.url);
const transcripts = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ file: name, transcript: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Transcript }));

const seed = {
  workspaces: [{ id: 'ws-Main', name: 'main', organization: 'org', drift_detection: true, health_assessments: true }],
  users: [
    { id: 'user-Ada', username: 'ada', email: 'ada@example.org', organization: 'org' },
    { id: 'user-Bob', username: 'bob', email: 'bob@example.org', organization: 'org' },
  ],
  tokens: [
    { secret: 'secret-of-ada', name: 'ada', workspaces: { '*': 'admin' } },
    { secret: 'secret-of-a-stranger', name: 'stranger', workspaces: { 'ws-Elsewhere': 'admin' } },
  ],
};

/** Answers with the status that the path names; `/ok` is 200. */
function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    const status = Number(request.url?.slice(1)) || 200;
    request.resume();
    response.writeHead(status, { 'content-type': 'text/plain', ...(status === 302 ? { location: '/ok' } : {}) });
    response.end('seen');
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

let receiver: Server;
let directory: string;

beforeAll(async () => {
  receiver = await startReceiver();
  directory = await mkdtemp(join(tmpdir(), 'signalbox-transcripts-'));
  await writeFile(join(directory, 'seed.json'), JSON.stringify(seed));
});

afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await rm(directory, { recursive: true, force: true });
});

describe.each(transcripts)('$transcript.name ($file)', ({ transcript }) => {
  let server: RunningServer;
  const values = new Map<string, string>();

  beforeAll(async () => {
    const options = ['--listen', '127.0.0.1:0', '--names', 'upstream', '--seed', join(directory, 'seed.json')];
    server = await serve([...options, '--allow-outbound', '127.0.0.1/32', '--no-runner'], {
      out: () => undefined,
      error: () => undefined,
      read: readTextFile,
      colours: false,
      environment: {},
    });
    values.set('origin', server.origin);
    values.set('receiver', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
    values.set('token', 'secret-of-ada');
    values.set('stranger', 'secret-of-a-stranger');
  });
  afterAll(() => server.stop());

  const filled = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => values.get(name) ?? `no value ${name}`);

  it.each(transcript.steps.map((step, n) => ({ ...step, n: n + 1 })))('$n. $what', async ({ request, response }) => {
    const answer = await exchange(server.origin, {
      ...request,
      path: filled(request.path),
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, filled(value)])),
      ...(request.body === undefined ? {} : { body: filled(request.body) }),
    });
    expect(answer.status, answer.body).toBe(response.status);
    for (const [name, value] of Object.entries(response.headers ?? {})) expect(answer.headers[name]).toBe(value);
    if (response.status === 204) expect(answer.body).toBe('');
    if (response.body === undefined) return;
    compare(JSON.parse(answer.body), response.body, '', values, filled);
  });
});

function compare(
  actual: unknown,
  expected: unknown,
  pointer: string,
  values: Map<string, string>,
  filled: (text: string) => string,
): void {
  if (typeof expected === 'string') {
    const save = /^<save:(\w+)>$/.exec(expected);
    if (expected === '<any>') return;
    if (expected === '<string>') expect(actual, pointer).toEqual(expect.any(String));
    else if (expected === '<time>') expect(actual, pointer).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    else if (save !== null) {
      expect(actual, pointer).toMatch(/^[a-z]{2}-[1-9A-HJ-NP-Za-km-z]{16}$/);
      values.set(save[1] as string, actual as string);
    } else expect(actual, pointer).toBe(filled(expected));
    return;
  }
  if (Array.isArray(expected)) {
    expect(actual, pointer).toHaveLength(expected.length);
    expected.forEach((item, i) => {
      compare((actual as unknown[])[i], item, `${pointer}/${i}`, values, filled);
    });
    return;
  }
  if (typeof expected === 'object' && expected !== null) {
    const { '<exact>': exact, ...members } = expected as Record<string, unknown>;
    expect(actual, pointer).toEqual(expect.any(Object));
    if (exact === true) expect(Object.keys(actual as object).sort(), pointer).toEqual(Object.keys(members).sort());
    for (const [name, value] of Object.entries(members)) {
      compare((actual as Record<string, unknown>)[name], value, `${pointer}/${name}`, values, filled);
    }
    return;
  }
  expect(actual, pointer).toBe(expected);
}

function exchange(
  origin: string,
  { method, path, headers, body, chunked }: Transcript['steps'][number]['request'],
): Promise<{ status: number; headers: Record<string, string | undefined>; body: string }> {
  return new Promise((resolve, reject) => {
    const length = body !== undefined && chunked !== true ? { 'Content-Length': Buffer.byteLength(body) } : {};
    const request = httpRequest(origin + path, { method, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, body: text });
      });
    });
    request.on('error', reject);
    // Without a length Node sends chunks; a bodyless DELETE is sent with neither.
    if (body === undefined) request.end();
    else if (chunked === true) {
      request.write(body.slice(0, 20));
      request.end(body.slice(20));
    } else request.end(body);
  });
}
