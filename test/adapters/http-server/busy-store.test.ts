import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errAsync } from 'neverthrow';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createHttpHandler, type HttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import type { Storage, StorageError } from '../../../src/ports/index.js';

/** Takes the write lock of a file, says so, and keeps it for as long as it lives. */
const holder = `
const [, path] = process.argv;
const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? {};
const handle = new (DatabaseSync ?? require('better-sqlite3'))(path);
handle.exec('BEGIN IMMEDIATE');
process.stdout.write('held');
setInterval(() => undefined, 1000);
`;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-busy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let storage: Storage;
let handler: HttpHandler;
let stopped: ChildProcess;
beforeEach(async () => {
  const path = join(folder, `${Math.random()}.db`);
  storage = (await sqliteStorage(path, { busyMs: 150 }))._unsafeUnwrap();
  const ports = { storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
  const engine = createEngine(ports);
  (await putWorkspace(engine, hostPrincipal, { id: 'ws-1', name: 'w', organization: 'o' }))._unsafeUnwrap();
  handler = createHttpHandler(engine, { access: 'open' });
  stopped = spawn(process.execPath, ['--no-warnings', '-e', holder, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(stopped.stdout as NonNullable<typeof stopped.stdout>, 'data');
  stopped.kill('SIGSTOP');
});
afterEach(async () => {
  stopped.kill('SIGKILL');
  await storage.close();
});

async function answer(method: string, target: string, body?: string) {
  const response = await handler(
    requestFrom({ method, target, body: body === undefined ? undefined : JSON.parse(body) }),
  );
  const at = response.headers.indexOf('Retry-After');
  return { status: response.status, retryAfter: response.headers[at + 1], body: String(response.body) };
}
const job = JSON.stringify({
  Job: { ID: 'a', TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'x' } }] }] },
});

test.each([
  ['PUT', '/v1/jobs', job],
  ['PUT', '/v1/var/a', JSON.stringify({ Items: { a: 'b' } })],
  ['PUT', '/v1/namespace/n', JSON.stringify({ Name: 'n' })],
])('while a stopped process holds the write lock, %s %s is a 503 that says when to try again', async (...request) => {
  const refused = await answer(...request);
  expect(refused).toMatchObject({ status: 503, retryAfter: '5' });
  expect(refused.body).toMatch(/the store is busy: another process .*nothing was changed.* suspended or frozen/);
  expect((await answer('GET', '/v1/jobs')).status).toBe(200);
  stopped.kill('SIGKILL');
  await once(stopped, 'exit');
  expect((await answer(...request)).status).toBe(200);
});

test('the notification interface answers a document with the same status', async () => {
  const target = '/workspaces/ws-1/notification-configurations';
  const attributes = {
    name: 'n',
    'destination-type': 'generic',
    url: 'https://a.example',
    triggers: [],
    enabled: false,
  };
  const body = JSON.stringify({ data: { type: 'notification-configurations', attributes } });
  const refused = await answer('POST', target, body);
  expect(refused).toMatchObject({ status: 503, retryAfter: '5' });
  expect(JSON.parse(refused.body)).toEqual({
    errors: [{ status: '503', title: 'service unavailable', detail: expect.stringMatching(/^the store is busy/) }],
  });
});

test.each(['neutral', 'upstream'] as const)(
  'a token that a busy store cannot look up is a 503 that logs nothing, with %s names',
  async (names) => {
    const lines: unknown[] = [];
    const note = (...line: readonly unknown[]): void => void lines.push(line);
    const logger = { debug: note, info: note, warn: note, error: note };
    const busy: StorageError = { type: 'storage_failed', reason: 'busy', message: 'The server is away.' };
    const away: Storage = { ...memoryStorage(), read: () => errAsync(busy) };
    const ports = { storage: away, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery(), logger };
    handler = createHttpHandler(createEngine(ports), { access: 'token', names });
    for (const target of ['/v1/jobs', '/v1/nodes', '/v1/var/a']) {
      const headers = { 'x-nomad-token': 'some-secret-of-a-token', 'x-svc-token': 'some-secret-of-a-token' };
      const response = await handler(requestFrom({ method: 'GET', target, headers }));
      expect([target, response.status, response.headers.includes('Retry-After')]).toEqual([target, 503, true]);
    }
    expect(lines).toEqual([]);
  },
);
