import assert from 'node:assert/strict';
import { ok } from 'neverthrow';
import type { ReadView, Storage, WriteView } from '../../../src/ports/storage.js';
import {
  commit,
  errorOf,
  look,
  others,
  refuse,
  type StorageSubject,
  store,
  type TestFunction,
  things,
  unused,
  valueFrom,
  withStore,
} from './storage-subject.js';

/** Transactions and their indexes. */
export function writeCases(test: TestFunction, subject: StorageSubject): void {
  withStore(test, subject, 'an empty store and all its tables have an index of at least 1', async (storage) => {
    const [index, tableIndex] = await look(storage, (view) => [view.index, view.tableIndex(things)]);
    assert.ok((index as number) >= 1);
    assert.ok((tableIndex as number) >= 1);
    assert.ok((tableIndex as number) <= (index as number));
  });

  withStore(test, subject, 'the first write has an index above that of every untouched table', async (storage) => {
    const before = await look(storage, (view) => view.tableIndex(unused));
    const { index } = await store(storage, { key: ['a'] });
    assert.ok(index > before);
    assert.equal(await look(storage, (view) => view.tableIndex(unused)), before);
  });

  withStore(test, subject, 'each write has a higher index, which the store returns', async (storage) => {
    let last = await look(storage, (view) => view.index);
    for (let i = 0; i < 10; i++) {
      const { index, changed } = await store(storage, { key: [i] });
      assert.equal(changed, true);
      assert.ok(index > last);
      last = index;
      assert.equal(await look(storage, (view) => view.index), index);
    }
  });

  withStore(test, subject, 'the view of a write has the index of the write', async (storage) => {
    await store(storage, { key: ['a'] });
    const { value, index } = await commit(storage, (view) => {
      const before = view.index;
      view.put(things, { key: ['b'] });
      return [before, view.index];
    });
    assert.deepEqual(value, [index, index]);
  });

  withStore(
    test,
    subject,
    'a write may have several indexes; rows and tables have the one of their change',
    async (storage) => {
      await store(storage, { key: ['before'] });
      const { value, index } = await commit(storage, (view) => {
        const first = view.index;
        view.put(things, { key: ['a'] });
        view.put(things, { key: ['b'] });
        const second = view.nextIndex();
        view.put(others, { key: ['c'] });
        assert.equal(view.index, second);
        const third = view.nextIndex();
        view.put(things, { key: ['b'], text: 'again' });
        return [first, second, third];
      });
      const [first, second, third] = value as [number, number, number];
      assert.deepEqual([second, third, index], [first + 1, first + 2, first + 2]);
      await look(storage, (view) => {
        assert.equal(view.index, third);
        assert.equal(view.get(things, ['a'])?.modifyIndex, first);
        assert.deepEqual([view.get(things, ['b'])?.createIndex, view.get(things, ['b'])?.modifyIndex], [first, third]);
        assert.equal(view.get(others, ['c'])?.createIndex, second);
        assert.deepEqual([view.tableIndex(things), view.tableIndex(others)], [third, second]);
      });
      assert.equal((await store(storage, { key: ['after'] })).index, third + 1);
    },
  );

  withStore(test, subject, 'a write without changes uses no index', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const nothing = await commit(storage, (view) => view.list(things).length);
    assert.deepEqual(nothing, { value: 1, index, changed: false });
    const missed = await commit(storage, (view) => view.remove(things, ['no such key']));
    assert.deepEqual(missed, { value: false, index, changed: false });
    assert.equal(await look(storage, (view) => view.index), index);
    assert.ok((await store(storage, { key: ['b'] })).index > index);
  });

  withStore(test, subject, 'a failed write uses no index', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    await storage.write((view) => {
      view.put(things, { key: ['b'] });
      return refuse();
    });
    assert.equal(await look(storage, (view) => view.index), index);
    assert.equal(await look(storage, (view) => view.tableIndex(things)), index);
  });

  withStore(test, subject, 'a row has the indexes of its creation and of its last change', async (storage) => {
    const first = await store(storage, { key: ['a'] });
    assert.deepEqual(await indexes(storage), [first.index, first.index]);
    const second = await store(storage, { key: ['a'], text: 'changed' });
    assert.deepEqual(await indexes(storage), [first.index, second.index]);
    const third = await store(storage, { key: ['a'], text: 'changed' });
    assert.deepEqual(await indexes(storage), [first.index, third.index]);
  });

  withStore(test, subject, 'writes to other rows do not change the indexes of a row', async (storage) => {
    const first = await store(storage, { key: ['a'] });
    await store(storage, { key: ['b'] });
    await commit(storage, (view) => view.remove(things, ['b']));
    assert.deepEqual(await indexes(storage), [first.index, first.index]);
  });

  withStore(test, subject, 'a row stored again after its removal is a new row', async (storage) => {
    const first = await store(storage, { key: ['a'] });
    await commit(storage, (view) => view.remove(things, ['a']));
    assert.equal(await look(storage, (view) => view.get(things, ['a'])), undefined);
    const again = await store(storage, { key: ['a'] });
    assert.ok(again.index > first.index + 1);
    assert.deepEqual(await indexes(storage), [again.index, again.index]);
  });

  withStore(test, subject, 'a row removed and stored again within one write is a new row, too', async (storage) => {
    await store(storage, { key: ['a'] });
    const { index } = await commit(storage, (view) => {
      assert.equal(view.remove(things, ['a']), true);
      assert.equal(view.remove(things, ['a']), false);
      view.put(things, { key: ['a'] });
    });
    assert.deepEqual(await indexes(storage), [index, index]);
  });

  withStore(test, subject, 'a row stored several times within one write has the last content', async (storage) => {
    const { index } = await commit(storage, (view) => {
      for (const text of ['1', '2', '3']) view.put(things, { key: ['a'], text });
    });
    assert.deepEqual(await indexes(storage), [index, index]);
    assert.deepEqual(await look(storage, (view) => view.list(things).map((row) => row.record.text)), ['3']);
  });

  withStore(test, subject, 'rows of one write have the same index', async (storage) => {
    const { index } = await store(storage, { key: ['a'] }, { key: ['b'] }, { key: ['c'] });
    const found = await look(storage, (view) => view.list(things).map((row) => row.modifyIndex));
    assert.deepEqual(found, [index, index, index]);
  });

  withStore(test, subject, 'a table has the index of its last change, by a put or a removal', async (storage) => {
    const first = await store(storage, { key: ['a'] });
    const second = await commit(storage, (view) => view.put(others, { key: ['a'] }));
    const at = () => look(storage, (view) => [view.tableIndex(things), view.tableIndex(others)]);
    assert.deepEqual(await at(), [first.index, second.index]);
    const third = await commit(storage, (view) => view.remove(things, ['a']));
    assert.deepEqual(await at(), [third.index, second.index]);
    const fourth = await commit(storage, (view) => {
      view.put(things, { key: ['b'] });
      view.put(others, { key: ['b'] });
    });
    assert.deepEqual(await at(), [fourth.index, fourth.index]);
  });

  withStore(test, subject, 'a write always sees its own changes', async (storage) => {
    await store(storage, { key: ['a'], text: 'old' });
    await commit(storage, (view) => {
      assert.equal(view.get(things, ['a'])?.record.text, 'old');
      view.put(things, { key: ['a'], text: 'new' });
      const row = view.get(things, ['a']);
      assert.equal(row?.record.text, 'new');
      assert.equal(row?.modifyIndex, view.index);
      assert.equal(view.tableIndex(things), view.index);
      view.put(things, { key: ['b'] });
      assert.equal(view.list(things).length, 2);
      assert.equal(view.remove(things, ['a']), true);
      assert.equal(view.get(things, ['a']), undefined);
      assert.deepEqual(
        view.list(things).map((found) => found.record.key),
        [['b']],
      );
    });
  });

  withStore(test, subject, 'an error result rolls back all changes and is returned', async (storage) => {
    await store(storage, { key: ['kept'], text: 'old' });
    const result = await storage.write((view) => {
      view.put(things, { key: ['kept'], text: 'new' });
      view.put(things, { key: ['added'] });
      view.put(others, { key: ['added'] });
      view.remove(things, ['kept']);
      return refuse('because');
    });
    assert.equal(errorOf(result), 'because');
    assert.deepEqual(await look(storage, (view) => view.list(things).map((row) => row.record)), [
      { key: ['kept'], text: 'old' },
    ]);
    assert.equal(await look(storage, (view) => view.list(others).length), 0);
  });

  withStore(test, subject, 'an exception rolls back all changes and rejects with this exception', async (storage) => {
    await store(storage, { key: ['kept'], text: 'old' });
    const thrown = new Error('a defect of the work');
    const write = async () =>
      storage.write((view) => {
        view.put(things, { key: ['kept'], text: 'new' });
        view.put(things, { key: ['added'] });
        throw thrown;
      });
    await assert.rejects(write(), (caught) => caught === thrown);
    assert.deepEqual(await look(storage, (view) => view.list(things).map((row) => row.record.text)), ['old']);
    await store(storage, { key: ['later'] });
  });

  withStore(test, subject, 'an exception in a read rejects with this exception', async (storage) => {
    const thrown = new Error('a defect of the work');
    const read = async () =>
      storage.read(() => {
        throw thrown;
      });
    await assert.rejects(read(), (caught) => caught === thrown);
    assert.ok((await look(storage, (view) => view.index)) >= 1);
  });

  withStore(test, subject, 'a work function that returns no Result rejects and changes nothing', async (storage) => {
    const write = async () =>
      storage.write(((view: WriteView) => {
        view.put(things, { key: ['a'] });
      }) as never);
    await assert.rejects(write(), TypeError);
    const promised = async () =>
      storage.write((async (view: WriteView) => ok(view.put(things, { key: ['b'] }))) as never);
    await assert.rejects(promised(), TypeError);
    assert.equal(await look(storage, (view) => view.list(things).length), 0);
  });

  withStore(test, subject, 'concurrent writers: every increment counts', async (storage) => {
    await store(storage, { key: ['n'], text: '0' });
    const increments = Array.from({ length: 200 }, () =>
      commit(storage, (view) => {
        const n = Number(view.get(things, ['n'])?.record.text) + 1;
        view.put(things, { key: ['n'], text: String(n) });
        return n;
      }),
    );
    const written = await Promise.all(increments);
    assert.equal(await look(storage, (view) => view.get(things, ['n'])?.record.text), '200');
    assert.equal(new Set(written.map((write) => write.index)).size, 200);
    assert.deepEqual(
      written.map((write) => write.value).sort((a, b) => a - b),
      Array.from({ length: 200 }, (_, i) => i + 1),
    );
  });

  withStore(test, subject, 'concurrent writers: the second one sees the conflict', async (storage) => {
    const claim = (owner: string) =>
      storage.write((view) => {
        if (view.get(things, ['lease']) !== undefined) return refuse('taken');
        view.put(things, { key: ['lease'], text: owner });
        return ok(owner);
      });
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => claim(owner)));
    const winners = claims.filter((result) => result.isOk());
    assert.equal(winners.length, 1);
    const winner = valueFrom(winners[0] as (typeof claims)[number]);
    assert.equal(await look(storage, (view) => view.get(things, ['lease'])?.record.text), winner.value);
  });

  withStore(test, subject, 'concurrent writers: a list is still current at the commit', async (storage) => {
    // Each write stores the number of rows that it saw; two with the same number were not serialised.
    const counts = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        commit(storage, (view) => {
          const count = view.list(things).length;
          view.put(things, { key: [i], text: String(count) });
          return count;
        }),
      ),
    );
    assert.equal(new Set(counts.map((write) => write.value)).size, 100);
  });

  withStore(test, subject, 'concurrent writers: a failing write does not affect the others', async (storage) => {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        storage.write((view) => {
          view.put(things, { key: [i] });
          return i % 3 === 0 ? refuse() : ok(i);
        }),
      ),
    );
    assert.equal(results.filter((result) => result.isErr()).length, 20);
    const kept = await look(storage, (view) => view.list(things).map((row) => row.record.key[0] as number));
    assert.deepEqual(
      kept,
      Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 3 !== 0),
    );
    const indexes = results.flatMap((result) => (result.isOk() ? [result.value.index] : []));
    assert.equal(new Set(indexes).size, 40);
  });

  withStore(test, subject, 'concurrent writers: a throwing write does not affect the others', async (storage) => {
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, async (_, i) =>
        storage.write((view) => {
          view.put(things, { key: [i] });
          if (i % 10 === 0) throw new Error('a defect');
          return ok(i);
        }),
      ),
    );
    assert.equal(results.filter((result) => result.status === 'rejected').length, 3);
    assert.equal(await look(storage, (view) => view.list(things).length), 27);
  });

  withStore(test, subject, 'a resolved write is visible to the next read', async (storage) => {
    for (let i = 0; i < 20; i++) {
      await store(storage, { key: ['a'], text: String(i) });
      assert.equal(await look(storage, (view) => view.get(things, ['a'])?.record.text), String(i));
    }
  });

  withStore(test, subject, 'later writes do not change a row that was read', async (storage) => {
    const { index } = await store(storage, { key: ['a'], text: 'old' });
    const row = await look(storage, (view) => view.get(things, ['a']));
    await store(storage, { key: ['a'], text: 'new' });
    await commit(storage, (view) => view.remove(things, ['a']));
    assert.equal(row?.record.text, 'old');
    assert.equal(row?.modifyIndex, index);
  });

  withStore(test, subject, 'a read requested during a write does not see its uncommitted changes', async (storage) => {
    await store(storage, { key: ['a'], text: 'old' });
    let seen: Promise<unknown> | undefined;
    await storage.write((view) => {
      view.put(things, { key: ['a'], text: 'half' });
      seen = look(storage, (inner) => inner.get(things, ['a'])?.record.text);
      return refuse();
    });
    assert.equal(await seen, 'old');
  });

  withStore(test, subject, 'a write requested during a write runs after it', async (storage) => {
    let inner: Promise<{ index: number; value: number }> | undefined;
    const outer = await commit(storage, (view) => {
      inner = commit(storage, (later) => later.list(things).length);
      view.put(things, { key: ['a'] });
    });
    assert.equal((await inner)?.value, 1);
    assert.equal((await inner)?.index, outer.index);
  });

  withStore(test, subject, 'a view used outside its work function throws a clear error', async (storage) => {
    await store(storage, { key: ['a'] });
    let read: ReadView | undefined;
    await look(storage, (view) => {
      read = view;
    });
    assert.throws(() => read?.get(things, ['a']), /view has ended/);
    assert.throws(() => read?.list(things), /view has ended/);
    assert.throws(() => read?.tableIndex(things), /view has ended/);
    let write: WriteView | undefined;
    await commit(storage, (view) => {
      write = view;
    });
    assert.throws(() => write?.get(things, ['a']), /view has ended/);
    assert.throws(() => write?.put(things, { key: ['b'] }), /view has ended/);
    assert.throws(() => write?.remove(things, ['a']), /view has ended/);
    assert.deepEqual(await look(storage, (view) => view.list(things).map((row) => row.record.key)), [['a']]);
  });

  withStore(test, subject, 'a read sees one snapshot: indexes and rows agree', async (storage) => {
    const writes = Array.from({ length: 50 }, (_, i) => store(storage, { key: ['a'], text: String(i) }));
    const reads = Array.from({ length: 50 }, () =>
      look(storage, (view) => [view.get(things, ['a'])?.modifyIndex ?? 1, view.tableIndex(things), view.index]),
    );
    await Promise.all(writes);
    for (const [row, table, index] of await Promise.all(reads)) {
      assert.equal(row, table);
      assert.equal(table, index);
    }
  });
}

async function indexes(storage: Storage): Promise<unknown[]> {
  const row = await look(storage, (view) => view.get(things, ['a']));
  return [row?.createIndex, row?.modifyIndex];
}
