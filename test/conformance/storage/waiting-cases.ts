import assert from 'node:assert/strict';
import {
  commit,
  look,
  never,
  others,
  refuse,
  type StorageSubject,
  settlesSoon,
  store,
  type TestFunction,
  things,
  unused,
  withStore,
} from './storage-subject.js';

/** Waiting for changes. */
export function waitingCases(test: TestFunction, subject: StorageSubject): void {
  withStore(test, subject, 'a wait for an earlier change ends immediately', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    assert.equal(await storage.waitForChange([things], index - 1, never), index);
    assert.equal(await storage.waitForChange([things], 0, never), index);
  });

  withStore(test, subject, 'a wait on an unchanged table with index 0 ends immediately', async (storage) => {
    assert.ok((await storage.waitForChange([unused], 0, never)) >= 1);
  });

  withStore(test, subject, 'a wait ends with a later write to the table', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const waiting = storage.waitForChange([things], index, never);
    assert.equal(await settlesSoon(waiting), false);
    const later = await store(storage, { key: ['b'] });
    assert.equal(await waiting, later.index);
  });

  withStore(test, subject, 'the change is visible when the wait ends', async (storage) => {
    const { index } = await store(storage, { key: ['a'], text: 'old' });
    const seen = storage
      .waitForChange([things], index, never)
      .then(() => look(storage, (view) => view.get(things, ['a'])?.record.text));
    await store(storage, { key: ['a'], text: 'new' });
    assert.equal(await seen, 'new');
  });

  withStore(test, subject, 'a removal ends the wait', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const waiting = storage.waitForChange([things], index, never);
    const removed = await commit(storage, (view) => view.remove(things, ['a']));
    assert.equal(await waiting, removed.index);
  });

  withStore(test, subject, 'a write to another table does not end the wait', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const waiting = storage.waitForChange([things], index, never);
    await commit(storage, (view) => view.put(others, { key: ['a'] }));
    assert.equal(await settlesSoon(waiting), false);
    const later = await store(storage, { key: ['b'] });
    assert.equal(await waiting, later.index);
  });

  withStore(test, subject, 'a write that fails or changes nothing does not end the wait', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const waiting = storage.waitForChange([things], index, never);
    await storage.write((view) => {
      view.put(things, { key: ['b'] });
      return refuse();
    });
    await commit(storage, (view) => view.list(things).length);
    assert.equal(await settlesSoon(waiting), false);
    await store(storage, { key: ['c'] });
    await waiting;
  });

  withStore(
    test,
    subject,
    'a wait on several tables ends with a change of any of them, with their highest index',
    async (storage) => {
      const first = await store(storage, { key: ['a'] });
      const second = await commit(storage, (view) => view.put(others, { key: ['a'] }));
      assert.equal(await storage.waitForChange([things, others], first.index, never), second.index);
      const waiting = storage.waitForChange([unused, things, others], second.index, never);
      assert.equal(await settlesSoon(waiting), false);
      const third = await store(storage, { key: ['b'] });
      assert.equal(await waiting, third.index);
    },
  );

  withStore(test, subject, 'a wait for a future index ends only when it is exceeded', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const waiting = storage.waitForChange([things], index + 2, never);
    await store(storage, { key: ['b'] });
    await store(storage, { key: ['c'] });
    assert.equal(await settlesSoon(waiting), false);
    const last = await store(storage, { key: ['d'] });
    assert.equal(await waiting, last.index);
  });

  withStore(test, subject, 'an abort ends the wait without a rejection', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const controller = new AbortController();
    const waiting = storage.waitForChange([things], index, controller.signal);
    assert.equal(await settlesSoon(waiting), false);
    controller.abort();
    assert.equal(await waiting, index);
  });

  withStore(test, subject, 'an aborted signal ends the wait immediately', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    assert.equal(await storage.waitForChange([things], index, AbortSignal.abort()), index);
  });

  withStore(test, subject, 'closing ends the wait without a rejection', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const waiting = storage.waitForChange([things], index, never);
    const nothing = storage.waitForChange([], index, never);
    assert.equal(await settlesSoon(waiting), false);
    await storage.close();
    assert.equal(await waiting, index);
    await nothing;
  });

  withStore(test, subject, 'a wait on a closed store ends immediately', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    await storage.close();
    assert.equal(await storage.waitForChange([things], index, never), index);
  });

  withStore(test, subject, 'one write wakes a thousand waiters of its table and no others', async (storage) => {
    const { index } = await store(storage, { key: ['a'] });
    const controller = new AbortController();
    const waiting = Array.from({ length: 1000 }, () => storage.waitForChange([things], index, controller.signal));
    const elsewhere = storage.waitForChange([others], index, controller.signal);
    const later = await store(storage, { key: ['b'] });
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([later.index]));
    assert.equal(await settlesSoon(elsewhere), false);
    controller.abort();
    await elsewhere;
  });

  withStore(test, subject, 'consecutive waits miss no change', async (storage) => {
    let seen = await look(storage, (view) => view.tableIndex(things));
    const follow = async (): Promise<number> => {
      let wakes = 0;
      // A read may see a later write than the wait before it.
      for (;;) {
        const [found, last] = await look(storage, (view) => [view.list(things).length, view.tableIndex(things)]);
        if (found === 20 && seen === last) return wakes;
        seen = await storage.waitForChange([things], seen, never);
        wakes++;
      }
    };
    const following = follow();
    for (let i = 0; i < 20; i++) await store(storage, { key: [i] });
    assert.ok((await following) >= 1);
    assert.equal(seen, await look(storage, (view) => view.tableIndex(things)));
  });
}
