import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpHandler, nodeListener } from '../../../adapters/compat/index.js';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { loadDriver } from '../../../adapters/sqlite/sqlite-handle.js';
import { undiciDelivery } from '../../../adapters/undici/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';

/*
 * A server in a process of its own, for the HTTP scenarios: `floor` is bare node:http, `memory` and `sqlite` are ours.
 * Messages: `parked` asks how many readers wait, `stall` how long the event loop stood still since the last question.
 */

const kind = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
let parked = (): number => 0;

const server = createServer(
  { keepAliveTimeout: 120_000 },
  kind === 'floor' ? await floorListener() : await ourListener(),
);
server.listen(0, '127.0.0.1', 65_535, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

let lastTurn = performance.now();
let longest = 0;
setInterval(() => {
  const now = performance.now();
  longest = Math.max(longest, now - lastTurn - 1);
  lastTurn = now;
}, 1);
process.on('message', (question: string) => {
  if (question === 'parked') process.send?.({ parked: parked() });
  if (question === 'stall') {
    process.send?.({ stall: longest });
    longest = 0;
  }
});

async function ourListener(): Promise<RequestListener> {
  const storage = kind === 'memory' ? memoryStorage() : (await sqliteStorage(join(folder, 'ours.db')))._unsafeUnwrap();
  const ports = { storage, clock: systemClock(), ids: randomIds(), delivery: undiciDelivery() };
  const engine = createEngine(ports);
  await putToken(engine, hostPrincipal, { secret: 'a-secret-of-the-bench', name: 'bench', management: true });
  parked = () => engine.parked.size;
  const open = nodeListener(createHttpHandler(engine, { access: 'open' }));
  const guarded = nodeListener(createHttpHandler(engine, { access: 'token' }));
  return (request, response) =>
    request.headers['x-svc-token'] === undefined ? open(request, response) : guarded(request, response);
}

/** What there is to do without any of our code: static answers, `JSON.parse`, one commit for many writers. */
async function floorListener(): Promise<RequestListener> {
  let body = Buffer.alloc(1536, 'x');
  const waiting = new Set<ServerResponse>();
  parked = () => waiting.size;
  const store = await batcher();
  const answer = (response: ServerResponse, content: Buffer): void => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': content.length });
    response.end(content);
  };
  const accepted = Buffer.from('{"EvalID":"","Index":1}');
  return (request, response) => {
    if (request.method === 'GET') {
      if (request.url === '/wait') waiting.add(response);
      else answer(response, body);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      if (request.url === '/body') {
        body = bytes;
        answer(response, accepted);
      } else if (request.url === '/wake') {
        for (const waiter of waiting) answer(waiter, body);
        waiting.clear();
        answer(response, accepted);
      } else {
        const document = JSON.parse(bytes.toString()) as { Job: { ID: string } };
        if (request.url === '/parse') answer(response, accepted);
        else store(document.Job.ID, bytes.toString(), () => answer(response, accepted));
      }
    });
  };
}

/** Collects the writes of one turn of the event loop into one transaction, each on the disk before it is acknowledged. */
async function batcher(): Promise<(id: string, text: string, done: () => void) => void> {
  const open = await loadDriver('better-sqlite3');
  if (typeof open !== 'function') throw new Error(open.message);
  const handle = open(join(folder, 'floor.db'), false);
  handle.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE jobs (id TEXT PRIMARY KEY, doc TEXT, n INTEGER)',
  );
  const insert = handle.prepare('INSERT OR REPLACE INTO jobs VALUES (?, ?, ?)');
  let index = 0;
  let pending: { readonly id: string; readonly text: string; readonly done: () => void }[] = [];
  const commit = (): void => {
    const batch = pending;
    pending = [];
    handle.exec('BEGIN IMMEDIATE');
    for (const { id, text } of batch) {
      index += 1;
      insert.run(id, text, index);
    }
    handle.exec('COMMIT');
    for (const { done } of batch) done();
  };
  return (id, text, done) => {
    if (pending.length === 0) setImmediate(commit);
    pending.push({ id, text, done });
  };
}
