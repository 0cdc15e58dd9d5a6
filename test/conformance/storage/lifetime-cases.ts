import assert from 'node:assert/strict';
import { ok } from 'neverthrow';
import type { Storage } from '../../../src/ports/storage.js';
import {
  assertFailed,
  commit,
  look,
  never,
  type StorageSubject,
  store,
  type TestFunction,
  things,
  valueFrom,
  withStore,
} from './storage-subject.js';

/** Closing and reopening. */
export function lifetimeCases(test: TestFunction, subject: StorageSubject): void {
  withStore(test, subject, 'operations on a closed store fail with closed', async (storage) => {
    await store(storage, { key: ['a'] });
    await storage.close();
    const ran: string[] = [];
    assertFailed(await storage.read(() => ran.push('read')), 'closed');
    assertFailed(await storage.write(() => ok(ran.push('write'))), 'closed');
    assert.deepEqual(ran, []);
  });

  withStore(test, subject, 'closing is idempotent, also concurrently', async (storage) => {
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  withStore(test, subject, 'closing completes accepted writes', async (storage) => {
    const writes = Array.from({ length: 50 }, (_, i) => commit(storage, (view) => view.put(things, { key: [i] })));
    const closed = storage.close();
    assertFailed(await storage.write(() => ok(1)), 'closed');
    const written = await Promise.all(writes);
    await closed;
    assert.equal(new Set(written.map((write) => write.index)).size, 50);
  });

  withStore(test, subject, 'two stores share nothing', async (storage) => {
    const other = await subject.open();
    try {
      await store(storage, { key: ['a'] });
      assert.equal(await look(other, (view) => view.list(things).length), 0);
    } finally {
      await other.close();
    }
  });

  const { reopen } = subject;
  if (reopen === undefined) return;

  withStore(test, subject, 'reopened: rows, indexes and strings are unchanged', async (storage) => {
    const first = await store(storage, { key: ['a', 1], rank: [2], text: 'x' }, { key: ['b'], text: '\ud800😀\0' });
    const second = await store(storage, { key: ['a', 1], rank: [1], text: 'y' }, { key: ['c'], rank: [0] });
    await commit(storage, (view) => view.remove(things, ['c']));
    const snapshot = (from: Storage) =>
      look(from, (view) => ({
        index: view.index,
        table: view.tableIndex(things),
        rows: view.list(things).map((row) => [row.record, row.text, row.createIndex, row.modifyIndex]),
        ranked: view.list(things, { index: 'byRank' }).map((row) => row.record.key),
      }));
    const before = await snapshot(storage);
    await storage.close();
    await reopened(reopen, storage, async (again) => {
      assert.deepEqual(await snapshot(again), before);
      const row = await look(again, (view) => view.get(things, ['a', 1]));
      assert.deepEqual([row?.createIndex, row?.modifyIndex], [first.index, second.index]);
    });
  });

  withStore(test, subject, 'reopened: write indexes continue', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    await storage.close();
    await reopened(reopen, storage, async (again) => {
      const later = await store(again, { key: ['b'] });
      assert.ok(later.index > index);
      assert.equal(await again.waitForChange([things], index, never), later.index);
    });
  });

  withStore(test, subject, 'reopened: writes accepted before closing are stored', async (storage) => {
    const writes = Array.from({ length: 30 }, (_, i) => commit(storage, (view) => view.put(things, { key: [i] })));
    await storage.close();
    await Promise.all(writes);
    await reopened(reopen, storage, async (again) => {
      assert.equal(await look(again, (view) => view.list(things).length), 30);
    });
  });

  withStore(test, subject, 'reopened: a table that was never used is empty', async (storage) => {
    await storage.close();
    await reopened(reopen, storage, async (again) => {
      assert.deepEqual(await look(again, (view) => view.list(things, { index: 'byRank' })), []);
    });
  });
}

/** Two connections to the same data, as of two processes. */
export function sharingCases(test: TestFunction, subject: StorageSubject): void {
  const { share } = subject;
  if (share === undefined) return;

  const shared = (name: string, run: (one: Storage, other: Storage) => Promise<void>) =>
    withStore(test, subject, `shared: ${name}`, async (storage) => {
      const other = await share(storage);
      try {
        await run(storage, other);
      } finally {
        await other.close();
      }
    });

  shared('a commit of one is visible to the other', async (one, other) => {
    for (let i = 0; i < 10; i++) {
      const [writer, reader] = i % 2 === 0 ? [one, other] : [other, one];
      const { index } = await store(writer, { key: ['a'], text: String(i), rank: [i] });
      const found = await look(reader, (view) => [
        view.get(things, ['a'])?.record.text,
        view.list(things, { index: 'byRank' }).length,
        view.index,
        view.tableIndex(things),
      ]);
      assert.deepEqual(found, [String(i), 1, index, index]);
    }
  });

  shared('indexes are unique and every increment counts', async (one, other) => {
    await store(one, { key: ['n'], text: '0' });
    const increments = Array.from({ length: 100 }, (_, i) =>
      commit(i % 2 === 0 ? one : other, (view) => {
        const n = Number(view.get(things, ['n'])?.record.text) + 1;
        view.put(things, { key: ['n'], text: String(n) });
      }),
    );
    const written = await Promise.all(increments);
    assert.equal(new Set(written.map((write) => write.index)).size, 100);
    assert.equal(await look(one, (view) => view.get(things, ['n'])?.record.text), '100');
    assert.equal(await look(other, (view) => view.get(things, ['n'])?.record.text), '100');
  });

  shared('a lease has one owner', async (one, other) => {
    const claim = (storage: Storage, owner: string) =>
      storage.write((view) => {
        const free = view.get(things, ['lease']) === undefined;
        if (free) view.put(things, { key: ['lease'], text: owner });
        return ok(free);
      });
    for (let round = 0; round < 5; round++) {
      const claims = await Promise.all([claim(one, 'one'), claim(other, 'other')]);
      assert.equal(claims.filter((result) => valueFrom(result).value).length, 1);
      await commit(round % 2 === 0 ? one : other, (view) => view.remove(things, ['lease']));
    }
  });

  shared('a write of one wakes waiters of the other', async (one, other) => {
    const { index } = await store(one, { key: ['a'] });
    const waiting = other.waitForChange([things], index, never);
    const later = await store(one, { key: ['b'] });
    assert.equal(await kept(waiting), later.index);
    const back = one.waitForChange([things], later.index, never);
    const last = await store(other, { key: ['c'] });
    assert.equal(await kept(back), last.index);
  });

  shared('an earlier write of the other ends a wait immediately', async (one, other) => {
    const { index } = await store(one, { key: ['a'] });
    await look(other, (view) => view.index);
    const later = await store(one, { key: ['b'] });
    assert.equal(await other.waitForChange([things], index, never), later.index);
  });

  shared('the other continues to work after one is closed', async (one, other) => {
    await store(one, { key: ['a'] });
    await other.close();
    await store(one, { key: ['b'] });
    assert.equal(await look(one, (view) => view.list(things).length), 2);
  });
}

/** Keeps the process alive meanwhile: waiting for other processes does not. */
async function kept<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 1000);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

async function reopened(
  reopen: NonNullable<StorageSubject['reopen']>,
  closed: Storage,
  run: (storage: Storage) => Promise<void>,
): Promise<void> {
  const again = await reopen(closed);
  try {
    await run(again);
  } finally {
    await again.close();
  }
}
