import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { test } from 'vitest';
import { postgresStorage } from '../../adapters/postgres/index.js';
import { type PostgresServer, postgresServer } from '../adapters/postgres/postgres-server.js';
import { TcpProxy, type Way } from '../adapters/postgres/tcp-proxy.js';
import { valueFrom } from '../conformance/storage/storage-subject.js';
import { checkHistory } from './postgres-history/check-history.js';

/*
 * Three processes work on one store while they are killed and stopped, their clocks are set and their connections fail, while sessions are ended
 * and the server is restarted. The index of a write is its place in the one order that all must agree on: repeated in that order by a store
 * in memory, every operation gives the same result.
 */

const wanted = Number(process.env['SIGNALBOX_POSTGRES_OPERATIONS'] ?? 20_000);
const processes = 3;
/** Long runs have their faults further apart. */
const spacing = wanted > 100_000 ? 5 : 1;

test('a history with faults is one that a single process could have written', { timeout: 8 * 3_600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-history-'));
  const server = await postgresServer(['-c max_connections=100']);
  const schema = 'history';
  const notes = join(folder, 'notes');
  const fleet = new Fleet(server, schema, notes);
  try {
    await fleet.start();
    const faults = await injectFaults(server, fleet, lineCounter(notes));
    await fleet.end();
    const storage = valueFrom(await postgresStorage(server.url, { schema, busyMs: 600_000 }));
    const { writes, acknowledged } = await checkHistory(storage, notes);
    await storage.close();
    process.stderr.write(`${writes} writes, ${acknowledged} acknowledged, ${JSON.stringify(faults)}\n`);
  } finally {
    server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});

const faultNames = ['kill', 'stop', 'terminate', 'terminate', 'cut', 'hold', 'clock', 'none', 'none', 'none'] as const;

/** Directions in which a network loses what is sent. */
const held: readonly (readonly Way[])[] = [['up'], ['down'], ['up', 'down']];

async function injectFaults(server: PostgresServer, fleet: Fleet, done: () => number): Promise<Record<string, number>> {
  const faults: Record<string, number> = {};
  let reported = 0;
  for (let round = 1; done() < wanted; round += 1) {
    await pause(spacing * (60 + random(240)));
    const fault = round % 40 === 0 ? 'restart' : (faultNames[random(faultNames.length)] as string);
    faults[fault] = (faults[fault] ?? 0) + 1;
    if (fault === 'restart') {
      server.stop('immediate');
      await pause(random(300));
      await server.start();
    } else if (fault === 'terminate') await endSessions(server.url);
    else await fleet.suffer(fault, random(processes));
    if (done() - reported < 50_000) continue;
    reported = done();
    process.stderr.write(`${reported} operations, ${JSON.stringify(faults)}\n`);
  }
  return faults;
}

/** Processes that work on the store, each over a network of its own. */
class Fleet {
  readonly #children: ChildProcess[] = [];
  readonly #proxies: { readonly proxy: TcpProxy; readonly port: number }[] = [];
  readonly #server: PostgresServer;
  readonly #schema: string;
  readonly #notes: string;
  #started = 0;

  constructor(server: PostgresServer, schema: string, notes: string) {
    this.#server = server;
    this.#schema = schema;
    this.#notes = notes;
  }

  async start(): Promise<void> {
    for (let at = 0; at < processes; at += 1) {
      const proxy = new TcpProxy(this.#server.port);
      this.#proxies.push({ proxy, port: await proxy.open() });
      await this.#begin(at);
    }
  }

  async #begin(at: number): Promise<void> {
    this.#started += 1;
    const program = join(import.meta.dirname, 'postgres-history/client.ts');
    const url = `postgres://postgres@127.0.0.1:${this.#proxies[at]?.port}/postgres`;
    const child = fork(program, [url, this.#schema, `c${this.#started}`, String(this.#started * 7919), this.#notes], {
      execArgv: ['--import', 'tsx'],
    });
    this.#children[at] = child;
    await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`a process has ended with ${code} before it worked`)));
    });
    child.removeAllListeners('exit');
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') process.stderr.write(`a process has ended with ${code} ${signal}\n`);
    });
  }

  /** One of the processes has a fault. */
  async suffer(fault: string, at: number): Promise<void> {
    const child = this.#children[at];
    const proxy = this.#proxies[at]?.proxy as TcpProxy;
    if (fault === 'kill') {
      child?.kill('SIGKILL');
      proxy.release();
      await this.#begin(at);
    } else if (fault === 'stop') {
      child?.kill('SIGSTOP');
      setTimeout(() => child?.kill('SIGCONT'), 50 + random(1500));
    } else if (fault === 'clock') child?.send((random(3) - 1) as never);
    else if (fault === 'cut') proxy.cut();
    else if (fault === 'hold') {
      // Longer than an answer is waited for, or shorter; then it arrives after all, or never.
      const ways = held[random(held.length)] ?? [];
      // New connections work, or do not.
      if (random(2) === 0) proxy.hold(...ways);
      else proxy.holdOpen(...ways);
      const isLost = random(2) === 0;
      setTimeout(
        () => {
          if (isLost) proxy.cut();
          proxy.release();
        },
        random(2) === 0 ? random(1000) : 5000 + random(3000),
      );
    }
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    for (const { proxy } of this.#proxies) await proxy.close();
  }
}

/** Ends some of the connections to the server. */
async function endSessions(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox' AND random() < 0.4",
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

let seed = 4711;
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >>> 8) % below;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the lines of a file that grows, each byte once. */
function lineCounter(file: string): () => number {
  const handle = openSync(file, 'a+');
  const buffer = Buffer.alloc(1 << 16);
  let at = 0;
  let count = 0;
  return () => {
    for (;;) {
      const read = readSync(handle, buffer, 0, buffer.length, at);
      if (read === 0) return count;
      at += read;
      for (let found = -1; ; count += 1) {
        found = buffer.subarray(0, read).indexOf(10, found + 1);
        if (found < 0) break;
      }
    }
  };
}
