import { ok } from 'neverthrow';
import { afterEach, describe, expect, it } from 'vitest';
import {
  flaky,
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { commit } from '../../../src/operations/commit.js';
import { answerQuery } from '../../../src/operations/waiting/blocking-query.js';
import { type BlockingQuery, noRows, rowsUnder } from '../../../src/operations/waiting/parked-queries.js';
import { nodes } from '../../../src/scheduler/node.js';
import { jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

let engine: Engine;
let clock: ManualClock;
let runs = 0;

function open(storage = memoryStorage()): void {
  clock = manualClock();
  runs = 0;
  engine = createEngine({ storage, clock, ids: sequentialIds({ fraction: 0 }), delivery: recordingDelivery() });
}
afterEach(() => engine.stop());

const jobQuery = (id: string): BlockingQuery<number | null> => ({
  key: `job:${id}`,
  tables: [jobs],
  run: (view) => {
    runs += 1;
    const row = view.get(jobs, ['default', id]);
    return { index: row?.modifyIndex ?? view.tableIndex(jobs), value: row?.record.Priority ?? null };
  },
});

async function put(id: string, priority = 50): Promise<number> {
  const written = await engine.storage.write((view) =>
    ok<void, never>(view.put(jobs, jobFrom({ ID: id, Priority: priority }, { Namespace: 'default' }))),
  );
  return written._unsafeUnwrap().index;
}

describe('a blocking query', () => {
  it('answers at once without an index, and when its index has passed', async () => {
    open();
    const index = await put('a');
    expect((await answerQuery(engine, jobQuery('a')))._unsafeUnwrap()).toEqual({ index, value: 50 });
    expect((await answerQuery(engine, jobQuery('a'), { after: index - 1 }))._unsafeUnwrap()).toEqual({
      index,
      value: 50,
    });
  });

  it('waits for its own row, and not for others of the table', async () => {
    open();
    const index = await put('a');
    const waiting = answerQuery(engine, jobQuery('a'), { after: index });
    await put('b');
    await clock.settle();
    expect(engine.parked.size).toBe(1);
    const changed = await put('a', 70);
    expect((await waiting)._unsafeUnwrap()).toEqual({ index: changed, value: 70 });
    expect(engine.parked.size).toBe(0);
  });

  it('is not looked at when other tables change', async () => {
    open();
    const index = await put('a');
    const waiting = answerQuery(engine, jobQuery('a'), { after: index });
    await clock.settle();
    const before = runs;
    (await engine.storage.write((view) => ok<void, never>(view.put(nodes, nodeFrom('n1')))))._unsafeUnwrap();
    await clock.settle();
    expect(runs).toBe(before);
    await put('a');
    await waiting;
  });

  it('answers with what it has when the wait is over: the wait, the default, and at most the maximum', async () => {
    open();
    const index = await put('a');
    for (const [wait, lasts] of [
      [1000, 1000],
      [undefined, 300_000],
      [-5, 300_000],
      [900_000, 300_000],
    ] as const) {
      const start = clock.now();
      const waiting = answerQuery(engine, jobQuery('a'), { after: index + 5, ...(wait === undefined ? {} : { wait }) });
      await clock.advanceUntil(() => engine.parked.size === 0 && clock.now() > start, 600_000);
      expect((await waiting)._unsafeUnwrap()).toEqual({ index, value: 50 });
      expect(clock.now() - start).toBe(lasts);
    }
  });

  it('ends when its reader goes away, and when the engine stops', async () => {
    open();
    const index = await put('a');
    let cancel = (): void => undefined;
    const gone = answerQuery(engine, jobQuery('a'), {
      after: index,
      whenCancelled: (give) => {
        cancel = give;
      },
    });
    const stopped = answerQuery(engine, jobQuery('a'), { after: index });
    await clock.settle();
    cancel();
    expect((await gone).isOk()).toBe(true);
    expect(engine.parked.size).toBe(1);
    await engine.stop();
    expect((await stopped).isOk()).toBe(true);
    expect(clock.sleepers).toBe(0);
  });

  it('runs once for all readers of one query, who get the same answer object', async () => {
    open();
    const index = await put('a');
    const waiting = Array.from({ length: 1000 }, () => answerQuery(engine, jobQuery('a'), { after: index }));
    await clock.settle();
    runs = 0;
    await put('a', 60);
    const answers = await Promise.all(waiting);
    expect(runs).toBe(1);
    expect(new Set(answers.map((answer) => answer._unsafeUnwrap())).size).toBe(1);
  });

  it('tells its readers when the store fails', async () => {
    const storage = memoryStorage();
    let broken = false;
    open(
      flaky(storage, {
        read: { calls: () => broken, error: { type: 'storage_failed', reason: 'io', message: 'broken' } },
      } as never),
    );
    const index = await put('a');
    const waiting = answerQuery(engine, jobQuery('a'), { after: index });
    await clock.settle();
    broken = true;
    await put('a');
    expect((await waiting)._unsafeUnwrapErr()).toMatchObject({ type: 'storage_failed' });
  });

  /** Counts the runs of each. */
  const watching = (name: string, tables: BlockingQuery<number>['tables'], ran: string[]): BlockingQuery<number> => ({
    key: name,
    tables,
    run: (view) => {
      ran.push(name);
      return { index: view.tableIndex(jobs), value: view.index };
    },
  });

  const register = async (id: string, namespace = 'default', parent = ''): Promise<number> => {
    const record = jobFrom({ ID: id }, { Namespace: namespace, ParentID: parent });
    return (await commit(engine, hostPrincipal, (tx) => ok<void, never>(tx.put(jobs, record))))._unsafeUnwrap().index;
  };

  it('runs for writes of this engine only when a row that it watches is put or removed', async () => {
    open();
    await register('a');
    const index = await register('c', 'default', 'old');
    const ran: string[] = [];
    const parts = {
      all: [jobs],
      none: [noRows(jobs)],
      'namespace default': [rowsUnder(jobs, ['default'])],
      'namespace other': [rowsUnder(jobs, ['other'])],
      'job a': [rowsUnder(jobs, ['default', 'a'])],
      'children of old': [rowsUnder(jobs, ['default', 'old'], 'by_parent')],
      'children of new': [rowsUnder(jobs, ['default', 'new'], 'by_parent')],
    };
    const after = index + 100;
    for (const [name, tables] of Object.entries(parts)) {
      // Nobody is answered: the index is never passed.
      void answerQuery(engine, watching(name, tables, ran), { after });
    }
    await clock.settle();
    const runsOf = async (change: () => Promise<unknown>): Promise<readonly string[]> => {
      ran.length = 0;
      await change();
      await clock.settle();
      return ran.toSorted();
    };
    expect(await runsOf(() => register('a'))).toEqual(['all', 'job a', 'namespace default']);
    expect(await runsOf(() => register('b'))).toEqual(['all', 'namespace default']);
    expect(await runsOf(() => register('a', 'other'))).toEqual(['all', 'namespace other']);
    // The row leaves one part of the index and enters another one.
    const moved = ['all', 'children of new', 'children of old', 'namespace default'];
    expect(await runsOf(() => register('c', 'default', 'new'))).toEqual(moved);
    const remove = () => commit(engine, hostPrincipal, (tx) => ok<boolean, never>(tx.remove(jobs, ['default', 'c'])));
    expect(await runsOf(async () => remove())).toEqual(['all', 'children of new', 'namespace default']);
    // What another process has written is not known.
    const watchers = Object.keys(parts).filter((name) => name !== 'none');
    expect(await runsOf(() => put('z'))).toEqual(watchers.toSorted());
    expect(await runsOf(() => register('a', 'other'))).toEqual(['all', 'namespace other']);
  });

  it('has the newest answer that was read when its wait is over, though no row that it watches has changed', async () => {
    open();
    const index = await register('a');
    const query = (): BlockingQuery<number> => watching('one', [rowsUnder(jobs, ['default', 'a'])], []);
    const waiting = answerQuery(engine, query(), { after: index + 5, wait: 1000 });
    await clock.settle();
    const newer = await register('b');
    const later = answerQuery(engine, query(), { after: newer, wait: 1000 });
    await clock.settle();
    await clock.advanceUntil(() => engine.parked.size === 0, 10_000);
    expect((await later)._unsafeUnwrap().index).toBe(newer);
    expect((await waiting)._unsafeUnwrap().index).toBe(newer);
  });

  it('shares turns with those of other callers, and leaves the event loop to others between its turns', async () => {
    open();
    const index = await register('a');
    const ran: string[] = [];
    const slow = (name: string): BlockingQuery<number> => {
      const query = watching(name, [jobs], ran);
      return {
        ...query,
        run: (view) => {
          const end = performance.now() + 0.2;
          while (performance.now() < end);
          return query.run(view);
        },
      };
    };
    for (let count = 0; count < 300; count += 1)
      void answerQuery(engine, slow(`many ${count}`), { after: index + 100, owner: 'many' });
    void answerQuery(engine, slow('single'), { after: index + 100, owner: 'single' });
    await clock.settle();
    ran.length = 0;
    const most: number[] = [];
    await register('a');
    while (ran.length < 301) {
      const before = ran.length;
      await new Promise((resolve) => setImmediate(resolve));
      most.push(ran.length - before);
    }
    expect(ran.indexOf('single')).toBeLessThan(3);
    expect(Math.max(...most)).toBeLessThanOrEqual(64);
  });

  it('never misses a change between its first look and its wait', async () => {
    open();
    let index = await put('a');
    for (let round = 0; round < 50; round += 1) {
      const waiting = answerQuery(engine, jobQuery('a'), { after: index });
      index = await put('a', round);
      expect((await waiting)._unsafeUnwrap().index).toBe(index);
    }
  });
});
