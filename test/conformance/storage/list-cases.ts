import assert from 'node:assert/strict';
import type { ListQuery, Storage } from '../../../src/ports/storage.js';
import type { Key } from '../../../src/shared/table.js';
import {
  assertFailed,
  look,
  type StorageSubject,
  store,
  type TestFunction,
  things,
  withStore,
} from './storage-subject.js';

const KEYS: readonly Key[] = [
  ['a', 'x', 1],
  ['a', 'x', 2],
  ['a', 'xy', 1],
  ['a', 'y', 1],
  ['b', 'x', 1],
  ['b', 'x', 10],
  ['c'],
];

/** The results of queries on `KEYS`, as positions. The same must hold on an index with these keys. */
const QUERIES: readonly (readonly [string, ListQuery, readonly number[]])[] = [
  ['no bounds', {}, [0, 1, 2, 3, 4, 5, 6]],
  ['reverse', { reverse: true }, [6, 5, 4, 3, 2, 1, 0]],
  ['a limit', { limit: 3 }, [0, 1, 2]],
  ['a limit and reverse', { limit: 3, reverse: true }, [6, 5, 4]],
  ['a limit of 0', { limit: 0 }, []],
  ['a limit beyond all', { limit: 1000 }, [0, 1, 2, 3, 4, 5, 6]],
  ['an infinite limit', { limit: Number.POSITIVE_INFINITY }, [0, 1, 2, 3, 4, 5, 6]],
  ['an empty prefix', { prefix: [] }, [0, 1, 2, 3, 4, 5, 6]],
  ['a prefix of one part', { prefix: ['a'] }, [0, 1, 2, 3]],
  ['a prefix of two parts', { prefix: ['a', 'x'] }, [0, 1]],
  ['a prefix that is a whole key', { prefix: ['a', 'x', 2] }, [1]],
  ['a prefix without matches', { prefix: ['a', 'z'] }, []],
  ['a prefix in reverse', { prefix: ['a'], reverse: true }, [3, 2, 1, 0]],
  ['a prefix in reverse with a limit', { prefix: ['a'], reverse: true, limit: 2 }, [3, 2]],
  ['a string prefix of the first part', { textPrefix: 'a' }, [0, 1, 2, 3]],
  ['a string prefix after a prefix', { prefix: ['a'], textPrefix: 'x' }, [0, 1, 2]],
  ['a longer string prefix', { prefix: ['a'], textPrefix: 'xy' }, [2]],
  ['a string prefix without matches', { prefix: ['a'], textPrefix: 'q' }, []],
  ['an empty string prefix: any string', { prefix: ['a'], textPrefix: '' }, [0, 1, 2, 3]],
  ['a string prefix at the position of numbers', { prefix: ['a', 'x'], textPrefix: '' }, []],
  ['a string prefix in reverse', { prefix: ['a'], textPrefix: 'x', reverse: true, limit: 2 }, [2, 1]],
  ['from a key', { from: ['a', 'y', 1] }, [3, 4, 5, 6]],
  ['from a shorter key', { from: ['b'] }, [4, 5, 6]],
  ['from between keys', { from: ['a', 'x', 1.5] }, [1, 2, 3, 4, 5, 6]],
  ['to a key, excluded', { to: ['b', 'x', 1] }, [0, 1, 2, 3]],
  ['to a shorter key, before its extensions', { to: ['b'] }, [0, 1, 2, 3]],
  ['from and to', { from: ['a', 'x', 2], to: ['b', 'x', 10] }, [1, 2, 3, 4]],
  ['from and to in reverse: the same rows', { from: ['a', 'x', 2], to: ['b', 'x', 10], reverse: true }, [4, 3, 2, 1]],
  ['from and to with a limit', { from: ['a', 'x', 2], to: ['c'], limit: 2 }, [1, 2]],
  ['from and to in reverse with a limit', { from: ['a', 'x', 2], to: ['c'], limit: 2, reverse: true }, [5, 4]],
  ['from equal to to', { from: ['b'], to: ['b'] }, []],
  ['from after to', { from: ['c'], to: ['a'] }, []],
  ['to the empty key: nothing', { to: [] }, []],
  ['from the empty key: all', { from: [] }, [0, 1, 2, 3, 4, 5, 6]],
  ['beyond the end', { from: ['d'] }, []],
  ['a prefix from within', { prefix: ['a'], from: ['a', 'x', 2] }, [1, 2, 3]],
  ['a prefix from within, with a limit', { prefix: ['a'], from: ['a', 'x', 2], limit: 2 }, [1, 2]],
  ['a prefix from before it', { prefix: ['b'], from: ['a', 'y'] }, [4, 5]],
  ['a prefix from beyond it', { prefix: ['a'], from: ['b'] }, []],
  ['a prefix to within, in reverse with a limit', { prefix: ['a'], to: ['a', 'y'], reverse: true, limit: 2 }, [2, 1]],
  ['a string prefix from within', { prefix: ['a'], textPrefix: 'x', from: ['a', 'x', 2] }, [1, 2]],
];

/** Lists by primary key and by index. */
export function listCases(test: TestFunction, subject: StorageSubject): void {
  for (const [name, query, expected] of QUERIES) {
    withStore(test, subject, `list by primary key: ${name}`, async (storage) => {
      await store(storage, ...KEYS.map((key, position) => ({ key, text: String(position) })));
      assert.deepEqual(await positions(storage, query), expected);
    });

    withStore(test, subject, `list by index: ${name}`, async (storage) => {
      await store(storage, ...KEYS.map((rank, position) => ({ key: [-position], rank, text: String(position) })));
      assert.deepEqual(await positions(storage, { ...query, index: 'byRank' }), expected);
    });
  }

  withStore(
    test,
    subject,
    'a string prefix matches up to the first difference, also at the limits of Unicode',
    async (storage) => {
      const texts = ['a', 'a\ud7ff', 'a\ue000', 'a\uffff', 'a\u{10ffff}', 'a\u{10ffff}b', 'a\u{10ffff}\u{10ffff}', 'b'];
      await store(storage, ...texts.map((text) => ({ key: [text] })));
      const count = (textPrefix: string) => look(storage, (view) => view.list(things, { textPrefix }).length);
      assert.equal(await count('a'), 7);
      assert.equal(await count('a\ud7ff'), 1);
      assert.equal(await count('a\uffff'), 1);
      assert.equal(await count('a\u{10ffff}'), 3);
      assert.equal(await count('\u{10ffff}'), 0);
    },
  );

  withStore(test, subject, 'a string prefix with blanks and control characters', async (storage) => {
    await store(storage, { key: ['a b'] }, { key: ['a '] }, { key: ['a'] }, { key: ['a\0'] }, { key: ['a!'] });
    const found = await look(storage, (view) =>
      view.list(things, { textPrefix: 'a ' }).map((row) => row.record.key[0]),
    );
    assert.deepEqual(found, ['a ', 'a b']);
  });

  withStore(test, subject, 'lists of an empty table are empty, whatever the query', async (storage) => {
    for (const [, query] of QUERIES) {
      assert.deepEqual(await positions(storage, query), []);
      assert.deepEqual(await positions(storage, { ...query, index: 'byRank' }), []);
    }
  });

  withStore(test, subject, 'consecutive pages cover a large table, in both directions', async (storage) => {
    const size = 3000;
    const rows = Array.from({ length: size }, (_, i) => ({ key: [(i * 7919) % size], rank: [i % 7], text: String(i) }));
    await store(storage, ...rows);
    for (const reverse of [false, true]) {
      const seen: number[] = [];
      for (;;) {
        const last = seen.at(-1);
        const bound = last === undefined ? {} : reverse ? { to: [last] } : { from: [last + 0.5] };
        const page = await look(storage, (view) => view.list(things, { ...bound, reverse, limit: 700 }));
        if (page.length === 0) break;
        seen.push(...page.map((row) => row.record.key[0] as number));
      }
      const numbers = Array.from({ length: size }, (_, i) => (reverse ? size - 1 - i : i));
      assert.deepEqual(seen, numbers);
    }
    const ranked = await look(storage, (view) => view.list(things, { index: 'byRank', prefix: [3] }).length);
    assert.equal(ranked, rows.filter((row) => row.rank[0] === 3).length);
  });

  withStore(test, subject, 'an undeclared index is refused', async (storage) => {
    assertFailed(await storage.read((view) => view.list(things, { index: 'byNothing' })), 'invalid_record');
  });

  withStore(test, subject, 'a returned list belongs to the caller', async (storage) => {
    await store(storage, { key: ['a'] }, { key: ['b'] });
    const rows = await look(storage, (view) => view.list(things));
    rows.length = 0;
    assert.equal(await look(storage, (view) => view.list(things).length), 2);
  });
}

function positions(storage: Storage, query: ListQuery): Promise<number[]> {
  return look(storage, (view) => view.list(things, query).map((row) => Number(row.record.text)));
}
