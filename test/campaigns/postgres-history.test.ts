import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { memoryStorage } from '../../adapters/memory/index.js';
import { postgresStorage } from '../../adapters/postgres/index.js';
import type { Storage, StorageError } from '../../src/ports/storage.js';
import { postgresServer } from '../adapters/postgres/postgres-server.js';
import { valueFrom } from '../conformance/storage/storage-subject.js';
import { type Logged, log, type Operation, perform, registers } from './postgres-history/operations.js';

/*
 * Three processes work on one store while they are killed and stopped, while their connections are ended and the server is restarted. The
 * index of a write is its place in the one order that all must agree on: repeated in that order by a store in memory, every operation gives
 * the same result.
 */

const wanted = Number(process.env['SIGNALBOX_POSTGRES_OPERATIONS'] ?? 20_000);
const processes = 3;

interface Noted {
  readonly operation: Operation;
  readonly result: number | string;
  readonly index: number;
  readonly begun: string;
  readonly ended: string;
  readonly error?: StorageError;
}

test('a history with faults is one that a single process could have written', { timeout: 4 * 3_600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-history-'));
  const server = await postgresServer(['-c max_connections=60']);
  try {
    const schema = 'history';
    const notes = join(folder, 'notes');
    const fleet = new Fleet(server.url, schema, notes);
    const faults = { kill: 0, stop: 0, terminate: 0, restart: 0 };
    await fleet.start();
    for (let round = 0; countLines(notes) < wanted; round += 1) {
      await pause(60 + random(240));
      const fault = (['kill', 'stop', 'terminate', 'terminate', 'none', 'none'] as const)[random(6)];
      if (round % 40 === 39) {
        server.stop('immediate');
        await pause(random(300));
        await server.start();
        faults.restart += 1;
      } else if (fault === 'kill') {
        await fleet.kill(random(processes));
        faults.kill += 1;
      } else if (fault === 'stop') {
        fleet.pause(random(processes), 50 + random(1500));
        faults.stop += 1;
      } else if (fault === 'terminate') {
        await endSessions(server.url);
        faults.terminate += 1;
      }
    }
    fleet.end();
    const acknowledged = readNotes(notes);
    const storage = valueFrom(await postgresStorage(server.url, { schema }));
    const stored = valueFrom(await storage.read((view) => view.list(log).map(({ record }) => record)));
    await checkOrder(storage, stored);
    checkAcknowledged(acknowledged, stored);
    checkTime(acknowledged);
    await storage.close();
    process.stderr.write(`${stored.length} writes, ${acknowledged.length} acknowledged, ${JSON.stringify(faults)}\n`);
  } finally {
    server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Every write again, in the order of the indexes, by a store in memory: the same results, and the same rows at the end. */
async function checkOrder(storage: Storage, stored: readonly Logged[]): Promise<void> {
  const model = memoryStorage();
  for (const { operation, result, index } of stored) {
    const again = valueFrom(await model.write((view) => perform(view, operation)));
    assert.deepEqual(again.value, result, `write ${index}: ${JSON.stringify(operation)}`);
  }
  const rowsOf = async (of: Storage): Promise<unknown> =>
    valueFrom(
      await of.read((view) => [
        view.list(registers).map(({ record }) => record),
        view.list(registers, { index: 'byValue' }).map(({ record }) => record.key),
      ]),
    );
  expect(await rowsOf(storage)).toEqual(await rowsOf(model));
}

/** What was acknowledged is there, unchanged. */
function checkAcknowledged(acknowledged: readonly Noted[], stored: readonly Logged[]): void {
  const byIndex = new Map(stored.map((each) => [each.index, each]));
  for (const { operation, result, index, error } of acknowledged) {
    if (error !== undefined) assert.equal(error.reason, 'busy', error.message);
    else if (operation.type !== 'look')
      assert.deepEqual(byIndex.get(index), { index, operation, result }, `write ${index} was acknowledged`);
  }
  assert.equal(
    new Set(stored.map(({ operation }) => operation.id)).size,
    stored.length,
    'an operation was written twice',
  );
}

/** What was acknowledged before another one began has the lower index. */
function checkTime(acknowledged: readonly Noted[]): void {
  const writes = acknowledged.filter(({ operation, error }) => error === undefined && operation.type !== 'look');
  const ends = writes.toSorted((a, b) => Number(BigInt(a.ended) - BigInt(b.ended)));
  let at = 0;
  let highest = 0;
  for (const write of writes.toSorted((a, b) => Number(BigInt(a.begun) - BigInt(b.begun)))) {
    for (; at < ends.length && BigInt((ends[at] as Noted).ended) < BigInt(write.begun); at += 1)
      highest = Math.max(highest, (ends[at] as Noted).index);
    assert.ok(write.index > highest, `write ${write.index} began after ${highest} was acknowledged`);
  }
}

/** Processes that work on the store. */
class Fleet {
  readonly #children: ChildProcess[] = [];
  readonly #url: string;
  readonly #schema: string;
  readonly #notes: string;
  #started = 0;

  constructor(url: string, schema: string, notes: string) {
    this.#url = url;
    this.#schema = schema;
    this.#notes = notes;
  }

  async start(): Promise<void> {
    for (let at = 0; at < processes; at += 1) await this.#begin(at);
  }

  async #begin(at: number): Promise<void> {
    this.#started += 1;
    const program = join(import.meta.dirname, 'postgres-history/client.ts');
    const child = fork(
      program,
      [this.#url, this.#schema, `c${this.#started}`, String(this.#started * 7919), this.#notes],
      {
        execArgv: ['--import', 'tsx'],
      },
    );
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

  async kill(at: number): Promise<void> {
    this.#children[at]?.kill('SIGKILL');
    await this.#begin(at);
  }

  pause(at: number, ms: number): void {
    const child = this.#children[at];
    child?.kill('SIGSTOP');
    setTimeout(() => child?.kill('SIGCONT'), ms);
  }

  end(): void {
    for (const child of this.#children) child.kill('SIGKILL');
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

function countLines(file: string): number {
  return existsSync(file) ? readFileSync(file, 'latin1').split('\n').length - 1 : 0;
}

function readNotes(file: string): Noted[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Noted);
}
