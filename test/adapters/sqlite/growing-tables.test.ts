import fc from 'fast-check';
import { ok } from 'neverthrow';
import { afterAll, describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { loadDriver, type SqliteHandle } from '../../../adapters/sqlite/sqlite-handle.js';
import { numberFromBound, numberOfKey } from '../../../adapters/sqlite/sqlite-rows.js';
import type { ListQuery, Row, Storage } from '../../../src/ports/storage.js';
import { type Key, table } from '../../../src/shared/table.js';
import { encodeKey, keyBounds } from '../../../src/storage/records.js';
import { look, valueFrom } from '../../conformance/storage/storage-subject.js';
import { scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());

let files = 0;
const newPath = () => folder.path(`${files++}.db`);

interface Numbered {
  readonly number: number;
  readonly rank: Key;
}

const declared = (hints: { readonly grows?: boolean; readonly numbered?: boolean }, lazy?: number) => {
  const byRank = { version: 1, key: ({ rank }: Numbered) => rank, ...(lazy === undefined ? {} : { lazy }) };
  return table<Numbered>('numbered', ({ number }) => [number], { byRank }, hints);
};
const plain = declared({});
const growing = declared({ grows: true, numbered: true });
const lazy = declared({ grows: true, numbered: true }, 3);

const number = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 9 }) },
  { weight: 2, arbitrary: fc.maxSafeNat() },
  { weight: 1, arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER, 4096, 4097) },
);
const bound: fc.Arbitrary<Key> = fc.oneof(
  number.map((each) => [each]),
  fc.constantFrom<Key>([], [null], [true], ['a'], [-1], [0.5], [3.5], [1e300], [-1e300], [2, 'x'], [5e-324], [-0]),
);
const query: fc.Arbitrary<ListQuery> = fc.record(
  {
    index: fc.constant('byRank'),
    prefix: bound,
    textPrefix: fc.constantFrom('', 'a'),
    from: bound,
    to: bound,
    reverse: fc.boolean(),
    limit: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ put: number, rank: bound }) },
  { weight: 1, arbitrary: fc.record({ remove: number }) },
);
const program = fc.array(
  fc.record({ steps: fc.array(step, { maxLength: 5 }), asked: fc.array(query, { minLength: 1, maxLength: 4 }) }),
  { maxLength: 12 },
);

type Write = {
  readonly steps: readonly ({ readonly put: number; readonly rank: Key } | { readonly remove: number })[];
};

async function play(storage: Storage, of: typeof plain, { steps }: Write): Promise<void> {
  const written = await storage.write((view) => {
    for (const each of steps) {
      if ('put' in each) view.put(of, { number: each.put, rank: each.rank });
      else view.remove(of, [each.remove]);
    }
    return ok(null);
  });
  valueFrom(written);
}

const answers = (storage: Storage, of: typeof plain, asked: readonly ListQuery[]) =>
  look(storage, (view) => ({
    index: view.index,
    tableIndex: view.tableIndex(of),
    lists: asked.map((each) => view.list(of, each).map(contents)),
    rows: [0, 1, 2, 3].map((each) => contents(view.get(of, [each]))),
  }));

function contents(row: Row<Numbered> | undefined) {
  return row === undefined ? null : [row.record, row.createIndex, row.modifyIndex];
}

const kinds = fc.constantFrom(
  plain,
  growing,
  declared({ grows: true }),
  lazy,
  declared({ grows: true }, 4),
  declared({}, 2),
);

test('a table of any kind answers as any other, in every process that has the file open', async () => {
  await fc.assert(
    fc.asyncProperty(program, kinds, kinds, async (rounds, first, second) => {
      const memory = memoryStorage();
      const path = newPath();
      const [one, other] = [valueFrom(await sqliteStorage(path)), valueFrom(await sqliteStorage(path))];
      for (const [at, round] of rounds.entries()) {
        await play(memory, plain, round);
        await (at % 2 === 0 ? play(one, first, round) : play(other, second, round));
        const expected = await answers(memory, plain, round.asked);
        expect(await answers(one, first, round.asked)).toEqual(expected);
        expect(await answers(other, second, round.asked)).toEqual(expected);
      }
      for (const storage of [memory, one, other]) await storage.close();
      // Opening checks every row, every entry and the last change of every table.
      await valueFrom(await sqliteStorage(path)).close();
    }),
    { numRuns: 150 },
  );
});

test('bounds of queries are found among the numbers', () => {
  fc.assert(
    fc.property(number, query, (each, { prefix, textPrefix, from, to }) => {
      const key = encodeKey([each]) as string;
      expect(numberOfKey(key)).toBe(each);
      const given = { prefix, textPrefix, from, to };
      const range = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const { lower, upper } = keyBounds(range) as { lower: string; upper: string };
      expect(numberFromBound(lower) <= each).toBe(lower <= key);
      expect(each < numberFromBound(upper)).toBe(key < upper);
    }),
    { numRuns: 2000 },
  );
});

test.each([[['a']], [[-1]], [[0.5]], [[1, 2]], [[]], [[2 ** 53]]])(
  'a key of a numbered table must be one whole number: %j',
  (key: Key) => {
    expect(() => numberOfKey(encodeKey(key) as string)).toThrow('non-negative integer');
  },
);

async function raw<T>(path: string, use: (handle: SqliteHandle) => T | Promise<T>): Promise<T> {
  const open = await loadDriver(undefined);
  if (typeof open !== 'function') throw new Error(open.message);
  const handle = open(path, false);
  try {
    return await use(handle);
  } finally {
    handle.close();
  }
}

/** The rows that have entries in the first index of a file. */
const entered = (path: string) =>
  raw(path, (handle) => {
    const rows = handle.prepare('SELECT rid FROM signalbox_entries_1 ORDER BY rid').all() as { rid: number }[];
    return rows.map(({ rid }) => rid);
  });

test('the newest rows are entered in a lazy index together, and are found before', async () => {
  const path = newPath();
  const storage = valueFrom(await sqliteStorage(path));
  const numbers = (asked: ListQuery) =>
    look(storage, (view) => view.list(lazy, { index: 'byRank', ...asked }).map(({ record }) => record.number));
  for (const each of [1, 2]) await play(storage, lazy, { steps: [{ put: each, rank: [-each] }] });
  expect(await entered(path)).toEqual([]);
  expect(await numbers({})).toEqual([2, 1]);
  await play(storage, lazy, { steps: [{ put: 3, rank: [-3] }] });
  expect(await entered(path)).toEqual([1, 2, 3]);
  await play(storage, lazy, { steps: [{ put: 4, rank: [-2.5] }] });
  expect(await entered(path)).toEqual([1, 2, 3]);
  expect(await numbers({})).toEqual([3, 4, 2, 1]);
  expect(await numbers({ reverse: true, limit: 3 })).toEqual([1, 2, 4]);
  expect(await numbers({ from: [-2.7], to: [-1] })).toEqual([4, 2]);
  // A change and a removal of late rows, and one of a row that was entered.
  await play(storage, lazy, { steps: [{ put: 4, rank: [9] }, { put: 5, rank: [8] }, { remove: 2 }] });
  expect(await numbers({})).toEqual([3, 1, 5, 4]);
  await play(storage, lazy, { steps: [{ remove: 5 }] });
  expect(await numbers({})).toEqual([3, 1, 4]);
  await storage.close();
  // Opening checks every row and every entry.
  const again = valueFrom(await sqliteStorage(path));
  await play(again, lazy, { steps: [{ put: 6, rank: [-6] }] });
  await again.close();
  // The late row of before is counted.
  const last = valueFrom(await sqliteStorage(path));
  await play(last, lazy, { steps: [{ put: 7, rank: [-7] }] });
  expect(await entered(path)).toEqual([1, 3, 4]);
  await play(last, lazy, { steps: [{ put: 8, rank: [-8] }] });
  expect(await entered(path)).toEqual([1, 3, 4, 6, 7, 8]);
  await last.close();
});

describe('files of before', () => {
  /** A store with rows as the second format has them: the last change of every table is noted. */
  async function secondFormat(): Promise<string> {
    const path = newPath();
    const storage = valueFrom(await sqliteStorage(path));
    for (const each of [5, 3]) await play(storage, plain, { steps: [{ put: each, rank: [-each] }] });
    await storage.close();
    await raw(path, (handle) =>
      handle.exec(
        `ALTER TABLE signalbox_indexes DROP COLUMN entered_to;
         ALTER TABLE signalbox_tables RENAME COLUMN noted_at TO changed_at;
         ALTER TABLE signalbox_tables DROP COLUMN growing;
         ALTER TABLE signalbox_tables DROP COLUMN numbered;
         UPDATE signalbox_store SET format = 2;`,
      ),
    );
    return path;
  }

  test('are brought up to date, keep their rows where they are and find the new ones', async () => {
    const path = await secondFormat();
    const storage = valueFrom(await sqliteStorage(path));
    await play(storage, growing, { steps: [{ put: 4, rank: [-4] }] });
    await play(storage, growing, { steps: [{ put: 9, rank: [-9] }] });
    const found = await look(storage, (view) => ({
      index: view.tableIndex(growing),
      all: view.list(growing).map(({ record }) => record.number),
      some: view.list(growing, { from: [4], to: [9] }).map(({ record }) => record.number),
      byRank: view.list(growing, { index: 'byRank' }).map(({ record }) => record.number),
    }));
    expect(found).toEqual({ index: 5, all: [3, 4, 5, 9], some: [4, 5], byRank: [9, 5, 4, 3] });
    await storage.close();
    const [kept] = await raw(path, (handle) =>
      handle.prepare('SELECT noted_at, growing, numbered FROM signalbox_tables').all(),
    );
    // The last two writes were told by their rows alone.
    expect(kept).toEqual({ noted_at: 3, growing: 1, numbered: 0 });
  });

  test('have whole indexes, which may have late rows from then on', async () => {
    const path = newPath();
    const before = valueFrom(await sqliteStorage(path));
    for (const each of [1, 2]) await play(before, growing, { steps: [{ put: each, rank: [-each] }] });
    await before.close();
    await raw(path, (handle) =>
      handle.exec(
        `ALTER TABLE signalbox_indexes DROP COLUMN entered_to;
         ALTER TABLE signalbox_tables RENAME COLUMN growing TO grows;
         UPDATE signalbox_store SET format = 3;`,
      ),
    );
    const storage = valueFrom(await sqliteStorage(path));
    const byRank = () =>
      look(storage, (view) => view.list(lazy, { index: 'byRank' }).map(({ record }) => record.number));
    expect(await byRank()).toEqual([2, 1]);
    await play(storage, lazy, { steps: [{ put: 3, rank: [-3] }] });
    expect(await byRank()).toEqual([3, 2, 1]);
    expect(await entered(path)).toEqual([1, 2]);
    await storage.close();
  });

  test('a program of before that still has the file open fails, and takes no old index for the last one', async () => {
    const path = await secondFormat();
    await raw(path, async (handle) => {
      const note = handle.prepare('UPDATE signalbox_tables SET changed_at = ? WHERE name = ?');
      await valueFrom(await sqliteStorage(path)).close();
      expect(() => note.run(7, 'numbered')).toThrow('changed_at');
    });
  });
});

test('a write that only adds rows changes no page but theirs and those of their indexes', async () => {
  const path = newPath();
  const storage = valueFrom(await sqliteStorage(path));
  await play(storage, growing, { steps: [{ put: 1, rank: [1] }] });
  const tables = () => look(storage, (view) => [view.tableIndex(growing), view.index]);
  await play(storage, growing, { steps: [{ put: 2, rank: [1] }] });
  expect(await tables()).toEqual([3, 3]);
  // A row that is not the newest, and one that goes, are noted.
  await play(storage, growing, { steps: [{ put: 1, rank: [2] }] });
  expect(await tables()).toEqual([4, 4]);
  await play(storage, growing, { steps: [{ remove: 2 }] });
  expect(await tables()).toEqual([5, 5]);
  await storage.close();
  const again = valueFrom(await sqliteStorage(path));
  expect(await look(again, (view) => view.tableIndex(growing))).toBe(5);
  await again.close();
});
