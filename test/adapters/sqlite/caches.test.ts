import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { listCache, listKey } from '../../../adapters/sqlite/caches.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { SqliteKeyedRow } from '../../../adapters/sqlite/sqlite-rows.js';
import type { ListQuery, Storage, WriteView } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import type { AnyTable } from '../../../src/storage/records.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { scratchFolder } from './sqlite-files.js';

interface Item {
  readonly id: string;
  readonly group: string;
  readonly value: number;
}

const items = table<Item>('items', ({ id }) => [id], {
  by_group: { version: 1, key: ({ group }) => [group] },
});
const otherItems = table<Item>('items', ({ id }) => [id], {
  by_group: { version: 1, key: ({ group }) => [group] },
  by_value: { version: 1, key: ({ value }) => [value] },
});

const folder = scratchFolder();
afterAll(() => folder.remove());
let files = 0;

const id = fc.constantFrom('a', 'b', 'c');
const group = fc.constantFrom('one', 'two');
const query: fc.Arbitrary<ListQuery> = fc.oneof(
  group.map((each) => ({ index: 'by_group', prefix: [each] })),
  fc.constantFrom<ListQuery>({}, { reverse: true }, { limit: 1 }, { index: 'by_group', limit: 2 }),
);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant('put' as const), id, group, value: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), id }) },
);
const write = fc.record({
  /** Which of two connections to the file. */
  by: fc.constantFrom(0, 1),
  before: query,
  steps: fc.array(step, { maxLength: 2 }),
  after: query,
  outcome: fc.constantFrom('ok', 'ok', 'err', 'throws'),
  of: fc.constantFrom(items, items, otherItems),
});
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

/** What the write's work sees, before and after its own changes; several times, so that lists are cached. */
async function play(storage: Storage, { before, steps, after, outcome, of }: Write): Promise<unknown> {
  const seen: unknown[] = [];
  const look = (view: WriteView, asked: ListQuery): void => {
    const rows = view.list(of, asked);
    seen.push(rows.map(({ record }) => record));
    // A caller may do with its list what it likes.
    rows.length = 0;
  };
  const written = storage.write((view) => {
    seen.length = 0;
    look(view, before);
    look(view, before);
    for (const each of steps) {
      if (each.type === 'put') view.put(of, { id: each.id, group: each.group, value: each.value });
      else view.remove(of, [each.id]);
    }
    look(view, after);
    if (outcome === 'throws') throw new Error('the work fails');
    return outcome === 'ok' ? ok(null) : err('refused' as const);
  });
  const ended = await written.then(
    (result) => result.isOk(),
    () => 'thrown',
  );
  return { seen, ended };
}

test('lists within writes are those of a store without a cache, whoever changes the rows and whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 25 }), async (writes) => {
      const path = folder.path(`${files++}.db`);
      const connections = [valueFrom(await sqliteStorage(path)), valueFrom(await sqliteStorage(path))];
      const model = memoryStorage();
      for (const each of writes) {
        expect(await play(connections[each.by] as Storage, each)).toEqual(await play(model, each));
      }
      for (const storage of [...connections, model]) await storage.close();
    }),
    { numRuns: 40 },
  );
});

/** What both readers see, several times, so that rows are remembered. */
async function lookAround(storage: Storage, asked: ListQuery): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let time = 0; time < 3; time += 1) {
    const read = await storage.read((view) =>
      view.list(items, asked).map(({ record, modifyIndex }) => [record, modifyIndex]),
    );
    seen.push(valueFrom(read));
  }
  return seen;
}

test('lists of readers are those of a store that remembers no rows, whoever changes them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(write, query), { maxLength: 25 }), async (turns) => {
      const path = folder.path(`${files++}.db`);
      const connections = [valueFrom(await sqliteStorage(path)), valueFrom(await sqliteStorage(path))];
      const model = memoryStorage();
      for (const [each, asked] of turns) {
        await play(connections[each.by] as Storage, each);
        await play(model, each);
        const expected = await lookAround(model, asked);
        for (const storage of connections) expect(await lookAround(storage, asked)).toEqual(expected);
      }
      for (const storage of [...connections, model]) await storage.close();
    }),
    { numRuns: 40 },
  );
});

describe('what is kept', () => {
  const row = (text: string) =>
    new SqliteKeyedRow(
      { text, createIndex: 1, modifyIndex: 1, rowKey: 'sa ' },
      { rid: 1, entries: '{}' },
      { indexId: () => 1 },
    );
  const list = listKey(items as unknown as AnyTable, {}, { lower: '', upper: 't' });
  if (list === undefined) throw new Error('a table that does not grow has keys of lists');
  const state = { changedAt: 5, epoch: 2 };

  test('a list that is read twice in one state of its table', () => {
    const cache = listCache();
    cache.offer(list, state, [row('1')]);
    expect(cache.get(list, state)).toBeUndefined();
    cache.offer(list, state, [row('1')]);
    expect(cache.get(list, state)?.map(({ text }) => text)).toEqual(['1']);
    expect(cache.get(list, { ...state, changedAt: 6 })).toBeUndefined();
    expect(cache.get(list, { ...state, epoch: 3 })).toBeUndefined();
  });

  test('no long list, and none of a table that grows', () => {
    const cache = listCache();
    const rows = Array.from({ length: 65 }, (_none, number) => row(`${number}`));
    cache.offer(list, state, rows);
    cache.offer(list, state, rows);
    expect(cache.get(list, state)).toBeUndefined();
    const growing = table<Item>('growing', ({ id: key }) => [key], {}, { grows: true });
    expect(listKey(growing as unknown as AnyTable, {}, { lower: '', upper: 't' })).toBeUndefined();
  });

  test('not more than two million characters', () => {
    const cache = listCache();
    const other = { ...list, text: 'other' };
    for (const each of [list, list, other]) cache.offer(each, state, [row('x'.repeat(2_000_000))]);
    expect(cache.get(list, state)).toBeUndefined();
  });
});
