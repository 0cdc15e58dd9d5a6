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
import { createEngine, type Engine } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { answerQuery } from '../../../src/operations/waiting/blocking-query.js';
import type { BlockingQuery } from '../../../src/operations/waiting/parked-queries.js';
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
