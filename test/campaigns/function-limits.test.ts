import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SqliteStorage } from '../../adapters/sqlite/index.js';
import { hasEnded, runs } from '../../src/functions/run.js';
import { createFunctions, defineFunction, type Functions } from '../../src/functions.js';
import { orThrow } from '../../src/index.js';
import { engineOver, folderOf, pause } from '../support/children.js';
import { eventually } from '../support/installation.js';
import { patience } from '../support/patience.js';

/*
 * Processes on one SQLite file with a limit of one run for each key, of which one after the other is stopped for longer than its lease and
 * continued: no key ever has two runs under way. `SIGNALBOX_FUNCTION_STOP_SECONDS=60` stops each for a minute.
 */
const stopped = Number(process.env['SIGNALBOX_FUNCTION_STOP_SECONDS'] ?? 1.6) * 1000;
const rounds = 2;
const keys = 3;

let folder: string;
let storage: SqliteStorage;
let functions: Functions;
let children: ChildProcess[];
const work = defineFunction<{ key: string }, { key: string }>({
  name: 'work',
  concurrency: { limit: 1, key: ({ key }) => key },
});

beforeEach(async () => {
  folder = await folderOf('function-limits-child');
  children = [];
  const opened = await engineOver(join(folder, 'limits.sqlite'));
  storage = opened.storage;
  functions = createFunctions(opened.engine, [work]);
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

test('limits of one are never exceeded by processes that are stopped and continued', {
  timeout: 120_000 + 2 * rounds * 2 * stopped,
}, async () => {
  const attempts: Attempt[] = [];
  const stops: { readonly pid: number; readonly from: number; readonly to: number }[] = [];
  const processes = await Promise.all([0, 1].map(() => begin(attempts)));
  let isOver = false;
  let enqueued = 0;
  const enqueueing = (async () => {
    while (!isOver) {
      await functions.enqueue(work, { key: `k${enqueued++ % keys}` });
      // Somewhat more than they can do.
      await pause(15);
    }
  })();
  const watching = (async () => {
    while (!isOver) {
      const underWay = orThrow(
        await storage.read((view) => view.list(runs, { index: 'live' }).map(({ record }) => record.limits?.[0] ?? '')),
      );
      expect(underWay.toSorted()).toEqual([...new Set(underWay)].toSorted());
      await pause(10);
    }
  })();
  for (let round = 0; round < rounds; round += 1)
    for (const child of processes) {
      const before = attempts.filter(({ endedAt }) => endedAt !== undefined).length;
      await pause(300);
      const from = now();
      child.kill('SIGSTOP');
      await pause(stopped);
      child.kill('SIGCONT');
      stops.push({ pid: child.pid ?? 0, from, to: now() });
      // The other one has continued meanwhile.
      expect(attempts.filter(({ endedAt }) => endedAt !== undefined).length).toBeGreaterThan(before);
    }
  isOver = true;
  await Promise.all([enqueueing, watching]);
  const all = async () => orThrow(await storage.read((view) => view.list(runs).map(({ record }) => record)));
  expect(await eventually(2 * patience, async () => (await all()).every(hasEnded))).toBe(true);
  const stored = await all();
  expect(stored.length).toBe(enqueued);
  expect(stored.filter(({ state }) => state !== 'succeeded').map(({ error }) => error)).toEqual([]);
  await pause(200);
  // What was taken away from a process that was stopped continues there until it knows: only such an attempt may run beside another one.
  const interrupted = new Set(stored.flatMap((run) => (run.interruptions > 0 ? `work/${run.number}` : [])));
  const isLost = ({ run, child, beganAt, endedAt = beganAt }: Attempt): boolean =>
    interrupted.has(run) &&
    stops.some(({ pid, from, to }) => pid === child && beganAt < to + 1_000_000 && endedAt > from);
  expect(overlaps(attempts.filter((attempt) => !isLost(attempt)))).toEqual([]);
  // A run begins again only after it has been taken away from a process, which may have been stopped before its handler began.
  for (const { number, interruptions } of stored) {
    const times = attempts.filter(({ run }) => run === `work/${number}`).length;
    expect(times).toBeGreaterThanOrEqual(1);
    expect(times).toBeLessThanOrEqual(1 + interruptions);
  }
  // Some were under way in a process that was stopped: these runs were taken away from it.
  expect(stored.some(({ interruptions }) => interruptions > 0)).toBe(true);
});

/** Microseconds of a clock that all processes of the machine share. */
const now = (): number => Number(process.hrtime.bigint() / 1000n);

/** One call of the handler. Times by that clock. */
interface Attempt {
  readonly run: string;
  readonly key: string;
  readonly child: number;
  readonly beganAt: number;
  endedAt: number | undefined;
}

/** Attempts that began while another one of their key was under way. */
function overlaps(kept: readonly Attempt[]): unknown[] {
  return kept.flatMap((attempt) =>
    kept
      .filter(
        (other) =>
          other !== attempt &&
          other.key === attempt.key &&
          other.beganAt <= attempt.beganAt &&
          (other.endedAt ?? Number.POSITIVE_INFINITY) > attempt.beganAt,
      )
      .map((other) => [other, attempt]),
  );
}

async function begin(attempts: Attempt[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(folder, 'function-limits-child.mjs'), join(folder, 'limits.sqlite')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const pid = child.pid ?? 0;
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [kind, run = '', key = '', time] = line.split(' ');
      if (kind === 'ready') resolve();
      else if (kind === 'began')
        attempts.push({ ...{ run, key, child: pid, beganAt: Number(time) }, endedAt: undefined });
      else {
        const ended = attempts.findLast((each) => each.run === run && each.child === pid);
        if (ended !== undefined) Object.assign(ended, { endedAt: Number(time) });
      }
    });
  });
  return child;
}
