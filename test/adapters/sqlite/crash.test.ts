import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { loadDriver } from '../../../adapters/sqlite/sqlite-handle.js';
import { table } from '../../../src/shared/table.js';
import { look, valueFrom } from '../../conformance/storage/storage-subject.js';
import { scratchFolder } from './sqlite-files.js';

interface Part {
  readonly writer: string;
  readonly number: number;
  readonly part: number;
}

const parts = table<Part>('parts', (part) => [part.writer, part.number, part.part], {
  byPart: { version: 1, key: (part) => [part.part, part.number] },
});
const counts = table<{ id: 'count'; count: number }>('counts', (count) => [count.id]);

const folder = scratchFolder();
const program = folder.path('crash-writer.mjs');

beforeAll(() => {
  // Compiled once: hundreds of processes are to start, and loading TypeScript in each would take most of the time.
  buildSync({
    entryPoints: [join(import.meta.dirname, 'crash-writer.ts')],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  symlinkSync(join(process.cwd(), 'node_modules'), folder.path('node_modules'));
}, 60_000);
afterAll(() => folder.remove());

/** `SIGNALBOX_CRASH_KILLS=500` for a longer run. */
const kills = Number(process.env['SIGNALBOX_CRASH_KILLS'] ?? 200);

test(`what was acknowledged survives a kill, and nothing is there by half: ${kills} kills while writing`, async () => {
  const perLane = Math.ceil(kills / 2);
  const lanes = ['one', 'two'].map((name) => killAgainAndAgain(folder.path(`${name}.db`), perLane));
  const acknowledged = await Promise.all(lanes);
  // Each writer was killed after its first write, so there is something to lose each time.
  for (const count of acknowledged) expect(count).toBeGreaterThanOrEqual(perLane);
}, 480_000);

test('a kill at any moment of the first start leaves a file that opens: 24 kills', async () => {
  for (let kill = 0; kill < 24; kill++) {
    const file = folder.path(`first-${kill}.db`);
    const writer = startWriter(file, 'a');
    await new Promise((resolve) => setTimeout(resolve, 40 + kill * 4));
    await killed(writer.process);
    await assertWhole(file, 'a', writer.acknowledged, 0);
  }
}, 120_000);

test('a kill while the log is being copied into the file loses nothing: 24 kills', async () => {
  const file = folder.path('copied.db');
  let reached = 0;
  for (let kill = 0; kill < 24; kill++) {
    const writer = startWriter(file, 'a', [Infinity, 60_000]);
    await writer.busy;
    // Rows of 30 KB on average: the log is copied every few commits.
    await new Promise((resolve) => setTimeout(resolve, 40 + kill * 3));
    await killed(writer.process);
    reached = await assertWhole(file, 'a', writer.acknowledged, reached);
  }
  expect(reached).toBeGreaterThan(200);
}, 120_000);

test('two processes write at once: every write is there once, with an index of its own', async () => {
  const file = folder.path('both.db');
  const writers = ['a', 'b', 'c'].map((name) => startWriter(file, name, [200]));
  await Promise.all(writers.map((writer) => ended(writer.process)));
  const indexes = writers.flatMap((writer) => writer.acknowledged.map((write) => write.index));
  expect(indexes).toHaveLength(600);
  expect(new Set(indexes).size).toBe(600);
  const storage = valueFrom(await sqliteStorage(file));
  expect(await look(storage, (view) => view.get(counts, ['count'])?.record.count)).toBe(600);
  expect(await look(storage, (view) => view.index)).toBe(Math.max(...indexes));
  await storage.close();
  for (const [position, name] of ['a', 'b', 'c'].entries()) {
    await assertWhole(file, name, writers[position]?.acknowledged ?? [], 0);
  }
}, 120_000);

interface Acknowledged {
  readonly number: number;
  readonly index: number;
}

interface Writer {
  readonly process: ChildProcess;
  readonly acknowledged: Acknowledged[];
  /** Resolves when the first write was acknowledged. */
  readonly busy: Promise<void>;
}

/** Lets a writer go on in the same file after each kill; gives the number of writes that were acknowledged. */
async function killAgainAndAgain(file: string, kills: number): Promise<number> {
  let total = 0;
  let reached = 0;
  for (let kill = 0; kill < kills; kill++) {
    const writer = startWriter(file, 'a');
    await writer.busy;
    await new Promise((resolve) => setTimeout(resolve, kill % 8));
    await killed(writer.process);
    total += writer.acknowledged.length;
    reached = await assertWhole(file, 'a', writer.acknowledged, reached);
  }
  const driver = await loadDriver(undefined);
  assert.ok(typeof driver === 'function');
  const raw = driver(file, true);
  expect(raw.prepare('PRAGMA integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }]);
  raw.close();
  return total;
}

/** Checks the file after a kill and gives the number of the last write that is there. */
async function assertWhole(file: string, name: string, acknowledged: Acknowledged[], before: number): Promise<number> {
  const storage = valueFrom(await sqliteStorage(file));
  const found = await look(storage, (view) => ({
    rows: view.list(parts, { prefix: [name] }),
    indexed: view.list(parts, { index: 'byPart' }).filter((row) => row.record.writer === name),
    index: view.index,
  }));
  await storage.close();

  const whole = new Map<number, number>();
  for (let i = 0; i < found.rows.length; i += 3) {
    const group = found.rows.slice(i, i + 3);
    const { record, modifyIndex } = group[0] as (typeof group)[number];
    assert.deepEqual(
      group.map((row) => row.record.number),
      [record.number, record.number, record.number],
    );
    assert.deepEqual(
      group.map((row) => row.record.part),
      [0, 1, 2],
    );
    assert.deepEqual(
      group.map((row) => row.modifyIndex),
      [modifyIndex, modifyIndex, modifyIndex],
    );
    whole.set(record.number, modifyIndex);
  }
  assert.equal(found.indexed.length, found.rows.length);

  const last = Math.max(before, ...whole.keys());
  for (const { number, index } of acknowledged) {
    // A write removes the one a hundred before it; those of the last lanes may not have come to it.
    if (number > last - 90) assert.equal(whole.get(number), index, `write ${number} was acknowledged and is lost`);
    assert.ok(index <= found.index);
  }
  assert.ok(last >= before);
  return last;
}

/** `numbers`: how many writes, and the characters of a row; see `crash-writer.ts`. */
function startWriter(file: string, name: string, numbers: readonly number[] = []): Writer {
  const args = [program, file, name, ...numbers.map(String)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged: Acknowledged[] = [];
  let rest = '';
  const busy = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [number, index] = line.split(' ').map(Number);
        acknowledged.push({ number: number as number, index: index as number });
      }
      resolve();
    });
    child.once('exit', (code) => reject(new Error(`the writer ended with ${code} before it wrote anything`)));
  });
  // Only some tests wait for the first write; a writer that is killed before it is no failure in the others.
  busy.catch(() => undefined);
  return { process: child, acknowledged, busy };
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await gone;
  assert.equal(child.signalCode, 'SIGKILL');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await new Promise((resolve) => child.once('close', resolve));
  assert.equal(child.exitCode, 0);
}
