import { ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { createHttpHandler, fetchHandler } from '../../adapters/compat/index.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../src/index.js';
import { saveToken } from '../../src/operations/access/tokens/save-token.js';
import { fakeCluster } from './fake-agents.js';
import { groupDocument } from './jobs.js';

/*
 * A program, bundled by `test/architecture/walks.test.ts`: performs the walks, each for the second time, and prints the files of the
 * project of which at least one function ran.
 */

const settings = { runNotifications: [{ workspace: 'ws-1' }] };
const session = new Session();

/** Sends one request to an engine through its HTTP handler; the JSON of the answer, which must be a success. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

async function askOf(engine: Parameters<typeof createHttpHandler>[0]): Promise<Ask> {
  const token = await saveToken(engine, hostPrincipal, { name: 'walker', type: 'management', policies: [] });
  const headers = { 'x-nomad-token': token._unsafeUnwrap().SecretID, 'content-type': 'application/json' };
  const handle = fetchHandler(createHttpHandler(engine, { access: 'token', names: 'upstream' }));
  return async (method, path, body) => {
    const url = `http://localhost${path}`;
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await handle(new Request(url, { method, headers, ...sent }));
    const text = await answer.text();
    ok(answer.ok, `${method} ${path} answers ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}

const jobOf = (ID: string): unknown => ({
  Job: { ID, Type: 'batch', Datacenters: ['*'], TaskGroups: [groupDocument()] },
});

const register = (ask: Ask, id: string): Promise<unknown> => ask('POST', '/v1/jobs', jobOf(id));

async function putWorkspace(ask: Ask): Promise<void> {
  const attributes = { name: 'main', organization: 'org' };
  await ask('PUT', '/workspaces/ws-1', { data: { type: 'workspaces', attributes } });
}

async function createConfiguration(ask: Ask): Promise<string> {
  const attributes = {
    'destination-type': 'generic',
    name: 'hook',
    url: 'https://hooks.example.net/',
    enabled: true,
    token: 'secret',
    triggers: ['run:completed'],
  };
  const created = await ask('POST', '/workspaces/ws-1/notification-configurations', {
    data: { type: 'notification-configuration', attributes },
  });
  return (created['data'] as { readonly id: string }).id;
}

/** Files that ran since the last call. */
async function filesRun(): Promise<readonly string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = new Set<string>();
  for (const { url, functions } of result) {
    if (!url.startsWith(import.meta.url.replace(/[^/]*$/, ''))) continue;
    for (const { ranges } of functions) {
      const [whole] = ranges;
      if (whole !== undefined && whole.count > 0) files.add(fileAt(url, whole.startOffset));
    }
  }
  return [...files].filter((file) => /^(src|adapters)\//.test(file)).sort();
}

/** Where each file begins in a chunk: the bundler puts its path before it, in a comment. */
const begins = new Map<string, readonly { readonly at: number; readonly file: string }[]>();

function fileAt(url: string, offset: number): string {
  let files = begins.get(url);
  if (files === undefined) {
    const code = readFileSync(fileURLToPath(url), 'utf8');
    files = [...code.matchAll(/^\/\/ (\S+\.[jt]s)$/gm)].map(({ index, 1: file = '' }) => ({ at: index, file }));
    begins.set(url, files);
  }
  return files.findLast(({ at }) => at <= offset)?.file ?? '';
}

/** The files of a walk that was performed once before. */
async function filesOf(walk: (round: number) => Promise<unknown>): Promise<readonly string[]> {
  await walk(1);
  await filesRun();
  await walk(2);
  return filesRun();
}

async function calls(): Promise<Record<string, readonly string[]>> {
  const ports = { storage: memoryStorage(), clock: manualClock(), ids: sequentialIds() };
  const ask = await askOf(createEngine({ ...ports, delivery: recordingDelivery() }, settings));
  await putWorkspace(ask);
  return {
    register: await filesOf((round) => register(ask, `job-${round}`)),
    configure: await filesOf(() => createConfiguration(ask)),
    list: await filesOf(() => ask('GET', '/v1/jobs?filter=Status+%3D%3D+%22pending%22')),
  };
}

/** From the answer of the registration until the log of the configuration has the delivery. */
async function notify(): Promise<readonly string[]> {
  await using cluster = fakeCluster({ settings, behaviour: () => ({ ends: 'complete' }) });
  const ask = await askOf(cluster.engine);
  await cluster.addNode('00000000-0000-4000-8000-000000000001');
  await putWorkspace(ask);
  const id = await createConfiguration(ask);
  const delivered = async (): Promise<number> => {
    const log = await ask('GET', `/notification-configurations/${id}/deliveries`);
    return (log['data'] as readonly { readonly attributes: { readonly outcome: string } }[]).filter(
      ({ attributes }) => attributes.outcome === 'delivered',
    ).length;
  };
  const walk = async (round: number): Promise<void> => {
    await register(ask, `job-${round}`);
    await filesRun();
    await cluster.clock.advance(3000);
  };
  await walk(1);
  ok((await delivered()) === 1, 'the first job is notified');
  await walk(2);
  const files = await filesRun();
  ok((await delivered()) === 2, 'the second job is notified');
  return files;
}

session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.stdout.write(JSON.stringify({ ...(await calls()), notify: await notify() }));
session.disconnect();
