import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SqliteStorage } from '../../adapters/sqlite/index.js';
import { batches, functionCounts, hasEnded, runs, type StoredRun, steps } from '../../src/functions/run.js';
import { createFunctions, defineFunction, type Functions } from '../../src/functions.js';
import { hostPrincipal, orThrow } from '../../src/index.js';
import { events } from '../../src/notifications/events/event.js';
import type { Table } from '../../src/shared/table.js';
import { engineOver, folderOf, pause } from '../support/children.js';
import type { ChildMode, WorkInput } from './function-child.js';

/*
 * Two processes on one SQLite file enqueue and run functions, and are killed again and again, at any moment; some are stopped for
 * longer than their lease and continued. What was accepted ends once, a finished step is not repeated, rows of the host are there
 * for exactly the runs that exist. `SIGNALBOX_FUNCTION_KILLS=1000` for the long run, whose figures it prints.
 */
const asked = process.env['SIGNALBOX_FUNCTION_KILLS'];
const kills = Number(asked ?? 8);

const children = new Set<ChildProcess>();
let place: Place;

/** One store, as seen from outside of the processes that are killed. */
interface Place {
  readonly folder: string;
  readonly file: string;
  readonly storage: SqliteStorage;
  /** Enqueues, reads and retries; runs nothing. */
  readonly functions: Functions;
}

const keep = { succeeded: { age: '7d', count: 1_000_000 }, others: { age: '7d', count: 1_000_000 } } as const;
const work = defineFunction<WorkInput, WorkInput, string>({ name: 'work', keep });
const poison = defineFunction({ name: 'poison', keep });

beforeEach(async () => {
  const folder = await folderOf('function-child');
  const file = join(folder, 'kills.sqlite');
  const { engine, storage } = await engineOver(file);
  const functions = createFunctions(engine, [work, poison]);
  const handle = new Database(file);
  handle.exec('CREATE TABLE orders (id TEXT PRIMARY KEY); CREATE TABLE paid (id TEXT NOT NULL)');
  handle.close();
  const box = engine.as(hostPrincipal);
  await orThrow(box.workspaces.put('ws-shop', { name: 'shop', organization: 'acme' }));
  await orThrow(box.eventTypes.put('order.paid', { description: 'An order was paid' }));
  place = { folder, file, storage, functions };
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await place.storage.close();
  rmSync(place.folder, { recursive: true, force: true });
});

test(`${kills} kills in two processes lose no accepted run and record each once`, {
  timeout: 180_000 + kills * 10_000,
}, async () => {
  const log = newLog();
  const history = watchEnds();
  let lives = 0;
  let [killed, died, stopped] = [0, 0, 0];
  const slot = async (): Promise<void> => {
    while (lives < kills) {
      lives += 1;
      const at = lives;
      const child = start('enqueue', { life: `life${at}`, log, keys: unansweredOf(log) });
      await child.ready;
      if (at % 8 === 4) await place.functions.enqueue(poison);
      await pause(at % 5 === 0 ? 1500 : 50 + Math.random() * 700);
      if (at % 6 === 2) {
        stopped += 1;
        child.process.kill('SIGSTOP');
        await pause(1600);
        child.process.kill('SIGCONT');
        await pause(300);
      }
      if (await child.kill()) killed += 1;
      else died += 1;
      if (at % 10 === 0) await history.look();
    }
  };
  await Promise.all([slot(), slot()]);
  await drain(log, history);
  const interrupted = new Map((await stored(runs)).map(({ number, interruptions }) => [number, interruptions]));

  const died3 = { error: 'ProcessDied', limit: 10_000 };
  const lost = [
    ...(await place.functions.list({ ...died3, function: 'work' })),
    ...(await place.functions.list({ ...died3, function: 'parent' })),
  ];
  const poisoned = await place.functions.list({ function: 'poison', limit: 10_000 });
  expect(lost.map(({ interruptions }) => interruptions)).toEqual(lost.map(() => 3));
  expect(poisoned.map(({ state, interruptions, error }) => [state, interruptions, error?.name])).toEqual(
    poisoned.map(() => ['failed', 3, 'ProcessDied']),
  );
  // What three kills have hit ends like any other once it is asked for again.
  history.forget((await stored(runs)).filter(({ state }) => state === 'failed').map(({ number }) => number));
  let again = 0;
  for (const name of ['work', 'parent']) again += await place.functions.retry({ error: 'ProcessDied', function: name });
  // A parent whose called run has died three times is over as well.
  again += await place.functions.retry({ error: 'RunFailedError', function: 'parent' });
  expect(again).toBeGreaterThanOrEqual(lost.length);
  await drain(log, history);

  const every = await stored(runs);
  const all = every.filter((run) => run.function === 'work');
  const byId = new Map(every.map((run) => [`${run.function}/${run.number}`, run]));
  expect([...log.accepted].filter((id) => byId.get(id)?.state !== 'succeeded')).toEqual([]);
  expect(all.filter(({ state }) => state !== 'succeeded')).toEqual([]);
  for (const [key, id] of log.answered) expect([key, id]).toEqual([key, idOfKey(all, key)]);
  expect(duplicates(all.flatMap(({ input }) => (input as unknown as WorkInput).key ?? []))).toEqual([]);
  expect(hostRows()).toEqual(all.flatMap(({ input }) => (input as unknown as WorkInput).order ?? []).toSorted());
  // A called run that died for good fails its parent, which calls another one when it is asked for again.
  await checkParents(every, new Set(lost.map(({ id }) => id)));
  for (const run of all) {
    const id = `work/${run.number}`;
    const mostTimes = 1 + run.interruptions + (interrupted.get(run.number) ?? 0);
    for (const step of ['first', 'second']) {
      const times = log.did.get(`${id} ${step}`) ?? 0;
      expect(times, `${id} ${step}`).toBeGreaterThan(0);
      expect(times, `${id} ${step}`).toBeLessThanOrEqual(mostTimes);
    }
    expect(log.began.get(id)?.length, id).toBeLessThanOrEqual(run.starts);
  }
  // A change that came after a run had begun is worked on by another one.
  for (const [id, time] of log.unique) expect(Math.min(...(log.began.get(id) ?? [])), id).toBeGreaterThanOrEqual(time);
  await checkCounts();
  expect(log.refused).toEqual([]);
  expect(log.accepted.size).toBeGreaterThan(kills);
  if (asked !== undefined) {
    const repeated = [...log.did.values()].reduce((sum, times) => sum + times - 1, 0);
    const interruptions = [...interrupted.values()].reduce((sum, times) => sum + times, 0);
    const counts = { accepted: log.accepted.size, runs: all.length, began: sum(log.began), interruptions };
    const poisons = poisoned.length;
    console.info({ killed, died, stopped, ...counts, repeated, hitThreeTimes: lost.length, poisons, lost: 0 });
  }
});

const lives = asked === undefined ? 3 : Math.ceil(kills / 10);
test('an order, its runs and its event are stored together or not at all, whenever their process is killed', {
  timeout: 120_000 + lives * 10_000,
}, async () => {
  const log = newLog();
  await Promise.all(
    ['a', 'b'].map(async (slot) => {
      for (let at = 0; at < lives; at += 1) {
        const child = start('together', { life: `${slot}${at}`, log });
        await child.ready;
        await pause(100 + Math.random() * 300);
        await child.kill();
      }
    }),
  );
  await drain(log);
  const all = await stored(runs);
  const orders = hostRows();
  const paid = (await stored(events)).map(({ event }) => (event as unknown as { data: { order: string } }).data.order);
  expect(all.map(({ input }) => (input as unknown as WorkInput).order).toSorted()).toEqual(orders);
  expect(paid.toSorted()).toEqual(orders.filter((id) => !id.endsWith('-again')));
  expect(duplicates(paid)).toEqual([]);
  const ids = all.map(({ number }) => `work/${number}`);
  expect([...log.accepted].filter((id) => !ids.includes(id))).toEqual([]);
  expect(log.refused).toEqual([]);
  expect(log.accepted.size).toBeGreaterThan(0);
  if (asked !== undefined) console.info({ kills: 2 * lives, orders: paid.length });
});

describe('one fault at a time', () => {
  test('a handler that ends its process fails after three, and its 63 neighbours succeed', async () => {
    const log = newLog();
    for (let n = 0; n < 32; n += 1) await place.functions.enqueue(work, { kind: 'quick' });
    const bad = await place.functions.enqueue(poison);
    for (let n = 0; n < 31; n += 1) await place.functions.enqueue(work, { kind: 'quick' });
    expect(await drain(log)).toBe(3);
    expect(await bad.status()).toMatchObject({ state: 'failed', interruptions: 3, error: { name: 'ProcessDied' } });
    const others = await place.functions.list({ function: 'work', state: 'succeeded' });
    expect(others).toHaveLength(63);
    for (const { interruptions } of others) expect(interruptions).toBeLessThanOrEqual(1);
    await checkCounts();
  });

  test('a process that was stopped for longer than its lease records nothing of what was taken from it', async () => {
    const log = newLog();
    const run = await place.functions.enqueue(work, { kind: 'held' });
    const first = start('hold', { life: 'one', log });
    await expect.poll(() => log.began.get(run.id)?.length).toBe(1);
    first.process.kill('SIGSTOP');
    const second = start('run', { life: 'two', log });
    expect(await run.result({ timeout: '60s' })).toBe('two');
    const record = JSON.stringify(await run.status());
    first.process.kill('SIGCONT');
    await expect.poll(() => log.aborted).toEqual([`${run.id} lost`]);
    // It works for itself again, and the handler that has lost its run is over by then.
    await second.kill();
    const next = await place.functions.enqueue(work, { kind: 'quick' });
    expect(await next.result({ timeout: '60s' })).toBe('one');
    await pause(1200);
    expect(JSON.stringify(await run.status())).toBe(record);
    const names = (await stored(steps)).filter(({ run: of }) => run.id === `work/${of}`).map(({ name }) => name);
    expect(names).toEqual(['first', 'two']);
    await checkCounts();
  });
});

/** What the processes have printed. Runs by their IDs. */
interface Log {
  readonly accepted: Set<string>;
  readonly asked: Set<string>;
  /** Runs by idempotency key. */
  readonly answered: Map<string, string>;
  /** Times of the handler's calls. */
  readonly began: Map<string, number[]>;
  /** How many times the work of `RUN STEP` was done. */
  readonly did: Map<string, number>;
  /** Runs that a unique key led to, with the time of the latest call that it did for. */
  readonly unique: Map<string, number>;
  readonly aborted: string[];
  readonly refused: string[];
}

function newLog(): Log {
  return {
    accepted: new Set(),
    asked: new Set(),
    answered: new Map(),
    began: new Map(),
    did: new Map(),
    unique: new Map(),
    aborted: [],
    refused: [],
  };
}

function note(log: Log, line: string): void {
  const [kind, first = '', second = ''] = line.split(' ');
  if (kind === 'accepted') log.accepted.add(first);
  else if (kind === 'asked') log.asked.add(first);
  else if (kind === 'answered') log.answered.set(first, second);
  else if (kind === 'began') log.began.set(first, [...(log.began.get(first) ?? []), Number(second)]);
  else if (kind === 'did') log.did.set(`${first} ${second}`, (log.did.get(`${first} ${second}`) ?? 0) + 1);
  else if (kind === 'unique') log.unique.set(first, Math.max(log.unique.get(first) ?? 0, Number(second)));
  else if (kind === 'aborted') log.aborted.push(`${first} ${second}`);
  else if (kind === 'refused') log.refused.push(line);
}

/** At most ten: the processes that get them may be killed as well. */
const unansweredOf = ({ asked: keys, answered }: Log): string[] =>
  [...keys].filter((key) => !answered.has(key)).slice(-10);

function start(
  mode: ChildMode,
  given: { readonly life: string; readonly log: Log; readonly keys?: readonly string[] },
) {
  const args = [
    join(place.folder, 'function-child.mjs'),
    place.file,
    given.life,
    mode,
    JSON.stringify(given.keys ?? []),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
      else note(given.log, line);
    });
    void ended.then(() => resolve());
  });
  return {
    process: child,
    ready,
    ended,
    /** False when it had ended. */
    kill: async (): Promise<boolean> => {
      const isAlive = child.exitCode === null;
      child.kill('SIGKILL');
      await ended;
      children.delete(child);
      return isAlive;
    },
  };
}

/** Runs what is left, in one process after the other, until nothing is; how many of them died. */
async function drain(log: Log, history = watchEnds()): Promise<number> {
  for (let died = 0; ; died += 1) {
    const child = start('run', { life: `drain${died}`, log });
    let isOver = false;
    const done = (async () => {
      while (!isOver) {
        if ((await unfinished()) === 0) return true;
        await pause(50);
      }
      return false;
    })();
    const isDone = await Promise.race([done, child.ended.then(() => false)]);
    isOver = true;
    await done;
    await child.kill();
    await history.look();
    if (isDone) return died;
  }
}

async function unfinished(): Promise<number> {
  return orThrow(
    await place.storage.read((view) =>
      ['ready', 'suspects', 'due', 'live'].reduce((sum, index) => sum + view.list(runs, { index, limit: 1 }).length, 0),
    ),
  );
}

async function stored<R>(table: Table<R>): Promise<R[]> {
  return orThrow(await place.storage.read((view) => view.list(table).map(({ record }) => record)));
}

/** Whether the rows of ended runs ever change. */
function watchEnds() {
  const seen = new Map<number, string>();
  return {
    look: async (): Promise<void> => {
      for (const run of await stored(runs)) {
        if (!hasEnded(run)) expect(seen.has(run.number), `work/${run.number} had ended`).toBe(false);
        else {
          const row = JSON.stringify(run);
          expect(row).toBe(seen.get(run.number) ?? row);
          seen.set(run.number, row);
        }
      }
    },
    forget: (numbers: readonly number[]): void => {
      for (const number of numbers) seen.delete(number);
    },
  };
}

/** An outcome that was recorded twice would be counted twice. */
async function checkCounts(): Promise<void> {
  const all = await stored(runs);
  const count = (name: string, isOfGroup: (run: StoredRun) => boolean): number =>
    all.filter((run) => run.function === name && hasEnded(run) && isOfGroup(run)).length;
  for (const counts of await stored(functionCounts))
    expect(counts).toMatchObject({
      unfinished: all.filter((run) => run.function === counts.function && !hasEnded(run)).length,
      succeeded: count(counts.function, ({ state }) => state === 'succeeded'),
      others: count(counts.function, ({ state }) => state !== 'succeeded'),
    });
}

/** Each has called one run and left one row, and each batch has been followed once. */
async function checkParents(all: readonly StoredRun[], died: ReadonlySet<string>): Promise<void> {
  const parents = all.filter((run) => run.function === 'parent');
  expect(parents.filter(({ state }) => state !== 'succeeded')).toEqual([]);
  expect(hostRows('paid')).toEqual(parents.map(({ number }) => `parent/${number}`).toSorted());
  const called = all.flatMap(({ parent, state, function: name, number }) =>
    parent === undefined || state !== 'succeeded' || died.has(`${name}/${number}`) ? [] : parent.run,
  );
  expect(called.toSorted((a, b) => a - b)).toEqual(parents.map(({ number }) => number));
  const followed = (await stored(batches)).filter(({ next }) => next !== undefined);
  expect(followed.filter((batch) => batch.followed !== true)).toEqual([]);
  const summaries = all.filter((run) => run.function === 'summary');
  expect(summaries.map(({ input }) => (input as { batch: string }).batch).toSorted()).toEqual(
    followed.map(({ number }) => `batch/${number}`).toSorted(),
  );
}

function hostRows(name: 'orders' | 'paid' = 'orders'): string[] {
  const handle = new Database(place.file, { readonly: true });
  const rows = handle.prepare(`SELECT id FROM ${name} ORDER BY id`).all() as { readonly id: string }[];
  handle.close();
  return rows.map(({ id }) => id);
}

const idOfKey = (all: readonly StoredRun[], key: string): string | undefined =>
  all
    .filter(({ input }) => (input as unknown as WorkInput).key === key)
    .map(({ number }) => `work/${number}`)
    .join(' and ');

function duplicates(list: readonly string[]): string[] {
  const seen = new Set<string>();
  return list.filter((entry) => seen.size === seen.add(entry).size);
}

const sum = (times: ReadonlyMap<string, readonly number[]>): number =>
  [...times.values()].reduce((total, list) => total + list.length, 0);
