import assert from 'node:assert/strict';
import type { Storage } from '../../../src/ports/storage.js';
import { type Key, table } from '../../../src/shared/table.js';
import {
  assertFailed,
  commit,
  look,
  refuse,
  type StorageSubject,
  store,
  type TestFunction,
  type Thing,
  things,
  withStore,
} from './storage-subject.js';

/** Secondary indexes: their rows and their order. */
export function indexCases(test: TestFunction, subject: StorageSubject): void {
  withStore(test, subject, 'an index omits records without an index key', async (storage) => {
    await store(storage, { key: ['in'], rank: [1] }, { key: ['out'] });
    assert.deepEqual(await ranked(storage), ['in']);
    assert.equal(await look(storage, (view) => view.list(things).length), 2);
  });

  withStore(test, subject, 'an empty index key is a key and sorts before all others', async (storage) => {
    await store(storage, { key: ['b'], rank: [null] }, { key: ['a'], rank: [] });
    assert.deepEqual(await ranked(storage), ['a', 'b']);
  });

  withStore(test, subject, 'rows with equal index keys sort by primary key', async (storage) => {
    await store(storage, ...['c', 'a', 'd', 'b'].map((id) => ({ key: [id], rank: [1] })));
    assert.deepEqual(await ranked(storage), ['a', 'b', 'c', 'd']);
    const reverse = await look(storage, (view) => view.list(things, { index: 'byRank', reverse: true, limit: 2 }));
    assert.deepEqual(
      reverse.map((row) => row.record.key),
      [['d'], ['c']],
    );
  });

  withStore(test, subject, 'equal index keys and primary keys of unequal length', async (storage) => {
    const keys: Key[] = [['a'], ['a', 1], ['a', 'b'], ['a '], ['b']];
    await store(storage, ...[...keys].reverse().map((key) => ({ key, rank: ['same'] })));
    const found = await look(storage, (view) => view.list(things, { index: 'byRank' }).map((row) => row.record.key));
    assert.deepEqual(found, keys);
  });

  withStore(
    test,
    subject,
    'a shorter index key sorts before its extensions, whatever the primary keys',
    async (storage) => {
      await store(storage, { key: ['z'], rank: ['a'] }, { key: ['a'], rank: ['a', null] });
      assert.deepEqual(await ranked(storage), ['z', 'a']);
    },
  );

  withStore(test, subject, 'a record that changes its index key moves', async (storage) => {
    await store(storage, { key: ['a'], rank: [1] }, { key: ['b'], rank: [2] });
    await store(storage, { key: ['a'], rank: [3] });
    assert.deepEqual(await ranked(storage), ['b', 'a']);
    assert.equal(await look(storage, (view) => view.list(things, { index: 'byRank', prefix: [1] }).length), 0);
  });

  withStore(test, subject, 'a record enters and leaves a sparse index', async (storage) => {
    await store(storage, { key: ['a'] });
    assert.deepEqual(await ranked(storage), []);
    await store(storage, { key: ['a'], rank: [1] });
    assert.deepEqual(await ranked(storage), ['a']);
    await store(storage, { key: ['a'] });
    assert.deepEqual(await ranked(storage), []);
  });

  withStore(
    test,
    subject,
    'a replaced record is read with its new content through an unchanged index key',
    async (storage) => {
      await store(storage, { key: ['a'], rank: [1], text: 'old' });
      await store(storage, { key: ['a'], rank: [1], text: 'new' });
      const rows = await look(storage, (view) => view.list(things, { index: 'byRank' }));
      assert.deepEqual(
        rows.map((row) => row.record.text),
        ['new'],
      );
    },
  );

  withStore(test, subject, 'a removed record leaves the index', async (storage) => {
    await store(storage, { key: ['a'], rank: [1] }, { key: ['b'], rank: [1] });
    await commit(storage, (view) => view.remove(things, ['a']));
    assert.deepEqual(await ranked(storage), ['b']);
  });

  withStore(test, subject, 'a failed write leaves the index unchanged', async (storage) => {
    await store(storage, { key: ['a'], rank: [1] }, { key: ['b'], rank: [2] });
    await storage.write((view) => {
      view.put(things, { key: ['a'], rank: [9] });
      view.remove(things, ['b']);
      view.put(things, { key: ['c'], rank: [0] });
      return refuse();
    });
    assert.deepEqual(await ranked(storage), ['a', 'b']);
  });

  withStore(test, subject, 'a write sees its own changes in the index', async (storage) => {
    await store(storage, { key: ['a'], rank: [1] }, { key: ['b'], rank: [2] });
    const { value } = await commit(storage, (view) => {
      view.put(things, { key: ['a'], rank: [3] });
      view.put(things, { key: ['c'], rank: [0] });
      view.remove(things, ['b']);
      return view.list(things, { index: 'byRank' }).map((row) => row.record.key[0]);
    });
    assert.deepEqual(value, ['c', 'a']);
  });

  withStore(test, subject, 'after several moves in one write, only the last position counts', async (storage) => {
    await commit(storage, (view) => {
      for (const rank of [5, 1, 4, 2]) view.put(things, { key: ['a'], rank: [rank] });
    });
    const found = await look(storage, (view) => view.list(things, { index: 'byRank' }).map((row) => row.record.rank));
    assert.deepEqual(found, [[2]]);
  });

  withStore(test, subject, 'an invalid index key is refused and changes nothing', async (storage) => {
    await store(storage, { key: ['a'], rank: [1] });
    assertFailed(
      await storage.write((view) => {
        view.put(things, { key: ['b'], rank: [2] });
        view.put(things, { key: ['a'], rank: [Number.NaN] });
        return refuse();
      }),
      'invalid_record',
    );
    assert.deepEqual(await ranked(storage), ['a']);
  });

  withStore(test, subject, 'many indexes of one table are independent', async (storage) => {
    const wide = table<{ id: number; a: string; b: number }>('wide', (row) => [row.id], {
      byA: { version: 1, key: (row) => [row.a] },
      byB: { version: 1, key: (row) => [row.b] },
      byBoth: { version: 1, key: (row) => [row.a, row.b] },
      'odd "name"; drop': { version: 1, key: (row) => (row.id % 2 === 1 ? [row.id] : undefined) },
    });
    const rows = Array.from({ length: 20 }, (_, id) => ({ id, a: 'xyz'[id % 3] as string, b: 20 - id }));
    await commit(storage, (view) => {
      for (const row of rows) view.put(wide, row);
    });
    const ids = (index: string, prefix: Key = []) =>
      look(storage, (view) => view.list(wide, { index, prefix }).map((row) => row.record.id));
    assert.deepEqual(await ids('byB'), rows.map((row) => row.id).reverse());
    assert.deepEqual(await ids('byA', ['y']), [1, 4, 7, 10, 13, 16, 19]);
    assert.deepEqual(await ids('byBoth', ['y']), [19, 16, 13, 10, 7, 4, 1]);
    assert.deepEqual(await ids('odd "name"; drop'), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
  });

  withStore(test, subject, 'a new index contains the existing rows', async (storage) => {
    const before = table<Thing>('grown', (thing) => thing.key);
    const after = table<Thing>('grown', (thing) => thing.key, { byRank: { version: 1, key: (thing) => thing.rank } });
    await commit(storage, (view) => {
      for (let i = 0; i < 600; i++) view.put(before, { key: [i], ...(i % 2 === 0 ? { rank: [-i] } : {}) });
    });
    const found = await look(storage, (view) => view.list(after, { index: 'byRank' }).map((row) => row.record.key[0]));
    assert.equal(found.length, 300);
    assert.deepEqual(found.slice(0, 2), [598, 596]);
  });

  withStore(test, subject, 'a redefined index sorts by the new definition', async (storage) => {
    const before = table<Thing>('redefined', (thing) => thing.key, {
      byRank: { version: 1, key: (thing) => thing.rank },
    });
    const after = table<Thing>('redefined', (thing) => thing.key, {
      byRank: { version: 2, key: (thing) => (thing.text === undefined ? undefined : [thing.text]) },
    });
    await commit(storage, (view) => {
      view.put(before, { key: ['a'], rank: [1], text: 'z' });
      view.put(before, { key: ['b'], rank: [2], text: 'y' });
      view.put(before, { key: ['c'], rank: [3] });
    });
    const found = await look(storage, (view) => view.list(after, { index: 'byRank' }).map((row) => row.record.key[0]));
    assert.deepEqual(found, ['b', 'a']);
    await commit(storage, (view) => view.put(after, { key: ['c'], text: 'x' }));
    const moved = await look(storage, (view) => view.list(after, { index: 'byRank' }).map((row) => row.record.key[0]));
    assert.deepEqual(moved, ['c', 'b', 'a']);
  });

  withStore(test, subject, 'two versions of an index are both correct, whichever program writes', async (storage) => {
    await mixedVersions(storage, storage);
  });

  const { share } = subject;
  if (share !== undefined) {
    withStore(
      test,
      subject,
      'two versions of an index, each used by a separate program, are both correct',
      async (storage) => {
        const other = await share(storage);
        try {
          await mixedVersions(storage, other);
        } finally {
          await other.close();
        }
      },
    );
  }

  withStore(
    test,
    subject,
    'two versions of an index in one write are both correct, before and after the commit',
    async (storage) => {
      await commit(storage, (view) => view.put(byRank, { key: ['a'], rank: [2], text: 'x' }));
      const { value } = await commit(storage, (view) => {
        view.put(byText, { key: ['b'], rank: [1], text: 'y' });
        view.put(byRank, { key: ['c'], rank: [3], text: 'w' });
        return [byRank, byText].map((of) => view.list(of, { index: 'order' }).map((row) => row.record.key[0]));
      });
      const expected = [
        ['b', 'a', 'c'],
        ['c', 'a', 'b'],
      ];
      assert.deepEqual(value, expected);
      assert.deepEqual([await ordered(storage, byRank), await ordered(storage, byText)], expected);
    },
  );

  withStore(
    test,
    subject,
    'a table may first be used in the middle of a write, after changes of another table',
    async (storage) => {
      const late = table<Thing>('late', (thing) => thing.key, { byRank: { version: 1, key: (thing) => thing.rank } });
      const { value } = await commit(storage, (view) => {
        view.put(things, { key: ['a'], rank: [1] });
        view.put(late, { key: ['b'], rank: [1] });
        return [view.list(things, { index: 'byRank' }).length, view.list(late, { index: 'byRank' }).length];
      });
      assert.deepEqual(value, [1, 1]);
      assert.deepEqual(await ranked(storage), ['a']);
    },
  );
}

const byRank = table<Thing>('mixed', (thing) => thing.key, { order: { version: 1, key: (thing) => thing.rank } });
const byText = table<Thing>('mixed', (thing) => thing.key, {
  order: { version: 2, key: (thing) => (thing.text === undefined ? undefined : [thing.text]) },
});

/** One program orders by rank, the other by text; both put, replace and remove rows of each other. */
async function mixedVersions(one: Storage, other: Storage): Promise<void> {
  for (let i = 0; i < 6; i++) {
    await commit(one, (view) => {
      view.put(byRank, { key: [`one ${i}`], rank: [-i], text: `t${i}` });
      if (i > 1) view.put(byRank, { key: [`other ${i - 2}`], rank: [i], text: 'replaced' });
    });
    await commit(other, (view) => {
      view.put(byText, { key: [`other ${i}`], rank: [i + 0.5], text: `t${9 - i}` });
      if (i > 2) view.remove(byText, [`one ${i - 3}`]);
      if (i === 5) view.put(byText, { key: ['one 4'], rank: [100] });
    });
  }
  const rows = [
    ...[5, 3].map((i) => ({ id: `one ${i}`, rank: -i, text: `t${i}` })),
    { id: 'one 4', rank: 100, text: undefined },
    ...[0, 1, 2, 3].map((i) => ({ id: `other ${i}`, rank: i + 2, text: 'replaced' })),
    ...[4, 5].map((i) => ({ id: `other ${i}`, rank: i + 0.5, text: `t${9 - i}` })),
  ];
  const by = (compare: (a: (typeof rows)[number], b: (typeof rows)[number]) => number) =>
    rows.toSorted((a, b) => compare(a, b) || (a.id < b.id ? -1 : 1));
  assert.deepEqual(
    await ordered(one, byRank),
    by((a, b) => a.rank - b.rank).map((row) => row.id),
  );
  assert.deepEqual(
    await ordered(other, byText),
    by((a, b) => (a.text === b.text ? 0 : (a.text ?? '') < (b.text ?? '') ? -1 : 1))
      .filter((row) => row.text !== undefined)
      .map((row) => row.id),
  );
}

function ordered(storage: Storage, of: typeof byRank): Promise<unknown[]> {
  return look(storage, (view) => view.list(of, { index: 'order' }).map((row) => row.record.key[0]));
}

function ranked(storage: Storage): Promise<unknown[]> {
  return look(storage, (view) => view.list(things, { index: 'byRank' }).map((row) => row.record.key[0]));
}
