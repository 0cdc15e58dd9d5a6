import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { Agent, type Dispatcher } from 'undici';
import { randomIds } from '../../../adapters/node/random-ids.js';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { loadDriver, type SqliteHandle } from '../../../adapters/sqlite/sqlite-handle.js';
import { sqliteStorage } from '../../../adapters/sqlite/sqlite-storage.js';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine, type Engine } from '../../../src/engine.js';
import { bodyOfEvent } from '../../../src/notifications/delivery/transition-delivery.js';
import { events, type RunEvent } from '../../../src/notifications/events/event.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import { commit } from '../../../src/operations/commit.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { publishNotificationEvent } from '../../../src/operations/records/publish-notification-event.js';
import type { Storage } from '../../../src/ports/storage.js';
import type { Measured } from './store-slices.js';

/*
 * Durable deliveries (SQLite, every outcome on the disk before the next part of the queue is taken) to a receiver in a
 * process of its own, against two floors taken in turns in the same run: the same requests without any store, and a
 * hand-written outbox on the bare driver that claims 256 rows at a time and stores outcomes in batches.
 */

const token = 'a-secret-of-some-length';
const workspaceId = 'ws-bench';
export const connections = 64;

/** `deliver.sqlite` and `deliver.bare`: processor time of one delivery, as rates. About 20 s with 5 rounds. */
export async function deliverSqlite(rounds = 5, perRound = 3000): Promise<Measured[]> {
  return withBench(async (bench) => {
    const measured: { ours: number; sketch: number; bare: number }[] = [];
    for (let round = 0; round < rounds + 1; round += 1) {
      await bench.enqueue(perRound);
      bench.sketch.fill(perRound, bench.body);
      const kinds = ['ours', 'sketch', 'bare'] as const;
      const result = { ours: 0, sketch: 0, bare: 0 };
      for (let turn = 0; turn < kinds.length; turn += 1) {
        const kind = kinds[(turn + round) % kinds.length] as (typeof kinds)[number];
        const work = {
          ours: () => bench.drain(),
          sketch: () => bench.sketch.drain(),
          bare: () => bench.bare(perRound),
        };
        result[kind] = await rateOf(work[kind], perRound);
      }
      // The first round warms up.
      if (round > 0) measured.push(result);
    }
    const row = (name: string, floor: 'sketch' | 'bare', min: number): Measured => ({
      name,
      ours: median(measured.map((each) => each.ours)),
      floor: median(measured.map((each) => each[floor])),
      ratio: median(measured.map((each) => each.ours / each[floor])),
      unit: 'per second of processor time',
      limit: { min },
    });
    // Three fifths of what they were when a delivery had no row before its first attempt, see docs/decisions/031-one-queue.md.
    return [row('deliver.sqlite', 'sketch', 0.36), row('deliver.bare', 'bare', 0.3)];
  });
}

/** `deliver.drain`: what is due at once, until the last of it is stored as delivered. Wall time, so a report only. */
export async function deliverDrain(count = 10_000): Promise<Measured[]> {
  return withBench(async (bench) => {
    const perSecond = async (work: () => Promise<void>): Promise<number> => {
      const started = performance.now();
      await work();
      return (count / (performance.now() - started)) * 1000;
    };
    await bench.enqueue(count);
    const floor = await perSecond(() => bench.bare(count));
    const ours = await perSecond(() => bench.drain());
    return [{ name: 'deliver.drain', ours, floor, unit: 'per second', ratio: ours / floor, limit: {} }];
  });
}

/**
 * `deliver.memory`: mebibytes of live heap after many deliveries, the last tenth against the second one. The line must be
 * flat (needs `--expose-gc`). The long form takes 100,000.
 */
export async function deliverMemory(count = 10_000): Promise<Measured[]> {
  return withBench(async (bench) => {
    const heap: number[] = [];
    for (let tenth = 0; tenth < 10; tenth += 1) {
      await bench.enqueue(count / 10);
      await bench.drain();
      (globalThis as { gc?: () => void }).gc?.();
      heap.push(process.memoryUsage().heapUsed / 1_048_576);
    }
    const [, early = 1] = heap;
    const late = heap[9] ?? 0;
    return [
      {
        name: 'deliver.memory',
        ours: late,
        floor: early,
        unit: 'MiB of heap',
        ratio: late / early,
        limit: { max: 1.3 },
      },
    ];
  });
}

export interface Bench {
  readonly body: string;
  readonly sketch: Sketch;
  enqueue(count: number): Promise<void>;
  /** Starts the engine, waits until nothing is due, and stops it. */
  drain(): Promise<void>;
  bare(count: number): Promise<void>;
  /** One request. */
  send(body: string): Promise<void>;
}

const overSqlite = async (folder: string): Promise<Storage> =>
  (await sqliteStorage(join(folder, 'ours.db')))._unsafeUnwrap();

export async function withBench<T>(
  work: (bench: Bench) => Promise<T>,
  open: (folder: string) => Promise<Storage> = overSqlite,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const { child, port } = await startSink();
  const storage = await open(folder);
  const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] }, socketsPerHost: connections });
  const settings = {
    notifications: { delivery: { concurrency: connections, concurrencyPerDestination: connections, linger: 0 } },
  };
  const agent = new Agent({ connections, pipelining: 1 });
  const url = `http://127.0.0.1:${port}/hook`;
  try {
    const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery }, settings);
    (await putWorkspace(engine, hostPrincipal, { id: workspaceId, name: 'net', organization: 'acme' }))._unsafeUnwrap();
    const attributes = {
      destinationType: 'generic',
      name: 'hook',
      url,
      token,
      enabled: true,
      triggers: ['run:errored'],
    };
    (await createNotificationConfiguration(engine, hostPrincipal, { workspaceId, attributes }))._unsafeUnwrap();
    await enqueue(engine, 1);
    const [event] = (await storage.read((view) => view.list(events).map((row) => row.record)))._unsafeUnwrap();
    const body = event === undefined ? '' : (bodyOfEvent(event, 0) ?? '');
    const driver = await loadDriver(undefined);
    if (typeof driver !== 'function') throw new Error(driver.message);
    const sketch = outboxSketch(driver(join(folder, 'sketch.db'), false), (text) => post(agent, url, text));
    return await work({
      body,
      sketch,
      enqueue: (count) => enqueue(engine, count),
      drain: () => drain(engine),
      bare: (count) => inParallel(count, () => post(agent, url, body)),
      send: (text) => post(agent, url, text),
    });
  } finally {
    await agent.close();
    await delivery.close();
    await storage.close();
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

let runs = 0;

async function enqueue(engine: Engine, count: number): Promise<void> {
  for (let done = 0; done < count; done += 250) {
    const names = Array.from({ length: Math.min(250, count - done) }, () => `run-${runs++}`);
    const written = await commit(engine, hostPrincipal, (tx) => {
      for (const name of names) publishNotificationEvent(tx, tx, { ...sampleEvent(name), workspaceId });
      return ok(null);
    });
    written._unsafeUnwrap();
  }
}

async function drain(engine: Engine): Promise<void> {
  engine.start();
  const index = async (): Promise<{ index: number; left: number }> =>
    (
      await engine.storage.read((view) => ({ index: view.index, left: view.list(queues, { index: 'by_wake' }).length }))
    )._unsafeUnwrap();
  const never = new AbortController().signal;
  for (let now = await index(); now.left > 0; now = await index()) {
    await engine.storage.waitForChange([queues], now.index, never);
  }
  await engine.stop();
}

/** About one kibibyte as a body. */
function sampleEvent(runId: string): RunEvent {
  return {
    kind: 'run',
    trigger: 'run:errored',
    message: 'Run Errored',
    runId,
    runUrl: `https://tf.example.net/app/acme/workspaces/net/runs/${runId}`,
    runMessage: 'Widen the subnet. '.repeat(25),
    runCreatedAt: '2026-01-02T03:04:05.000Z',
    runCreatedBy: 'dana',
    runStatus: 'errored',
    runUpdatedAt: '2026-01-02T03:04:31.000Z',
    runUpdatedBy: null,
    speculative: false,
  };
}

/** What a delivery costs at least: sign, send over a kept connection, read the answer. */
async function post(agent: Dispatcher, url: string, body: string): Promise<void> {
  const { origin, pathname } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'bench',
      'x-svc-notification-signature': createHmac('sha512', token).update(body).digest('hex'),
    },
    body,
    headersTimeout: 15_000,
    bodyTimeout: 15_000,
  });
  await response.body.text();
  if (response.statusCode !== 204) throw new Error(`the sink answered ${response.statusCode}`);
}

async function inParallel(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
}

interface Sketch {
  fill(count: number, body: string): void;
  drain(): Promise<void>;
}

/** The outbox one would write by hand: one table, one partial index, claims of 256, outcomes stored in batches. */
function outboxSketch(handle: SqliteHandle, send: (body: string) => Promise<void>): Sketch {
  handle.exec('PRAGMA journal_mode = WAL');
  handle.exec('PRAGMA synchronous = FULL');
  handle.exec('CREATE TABLE outbox (id INTEGER PRIMARY KEY, due INTEGER, state INTEGER, lease INTEGER, payload TEXT)');
  handle.exec('CREATE INDEX outbox_due ON outbox (due) WHERE state = 0');
  const insert = handle.prepare('INSERT INTO outbox (due, state, payload) VALUES (?, 0, ?)');
  const claim = handle.prepare(
    'UPDATE outbox SET state = 1, lease = ? WHERE id IN ' +
      '(SELECT id FROM outbox WHERE state = 0 AND due <= ? ORDER BY due LIMIT 256) RETURNING id, payload',
  );
  const done = handle.prepare('UPDATE outbox SET state = 2 WHERE id = ?');
  const begin = handle.prepare('BEGIN IMMEDIATE');
  const commit = handle.prepare('COMMIT');
  return {
    fill(count, body) {
      begin.run();
      for (let n = 0; n < count; n += 1) insert.run(Date.now(), body);
      commit.run();
    },
    async drain() {
      const queue: { id: number; payload: string }[] = [];
      let finished: number[] = [];
      let flushing = false;
      const flush = (): void => {
        flushing = false;
        begin.run();
        for (const id of finished) done.run(id);
        commit.run();
        finished = [];
      };
      const next = (): { id: number; payload: string } | undefined => {
        if (queue.length === 0) {
          queue.push(...(claim.all(Date.now() + 20_000, Date.now()) as { id: number; payload: string }[]));
        }
        return queue.shift();
      };
      const lane = async (): Promise<void> => {
        for (let row = next(); row !== undefined; row = next()) {
          await send(row.payload);
          finished.push(row.id);
          if (!flushing) setImmediate(flush);
          flushing = true;
        }
      };
      await Promise.all(Array.from({ length: connections }, lane));
      if (finished.length > 0) flush();
    },
  };
}

const sink = `
  const server = require('node:http').createServer({ keepAliveTimeout: 60000 }, (request, response) => {
    request.resume();
    request.on('end', () => { response.writeHead(204); response.end(); });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

async function startSink(): Promise<{ child: ChildProcess; port: string }> {
  const child = spawn(process.execPath, ['-e', sink], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) => {
    child.stdout.once('data', (line: Buffer) => resolve(String(line).trim()));
  });
  return { child, port };
}

/** Operations for each second of this process's processor time: steady on a busy machine. */
async function rateOf(work: () => Promise<void>, count: number): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (count / (user + system)) * 1e6;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
