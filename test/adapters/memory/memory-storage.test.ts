import { describe, expect, test } from 'vitest';
import { memoryStorage, rerunning } from '../../../adapters/memory/index.js';
import { storageConformance } from '../../conformance/storage/index.js';
import { commit, look, store, things } from '../../conformance/storage/storage-subject.js';
import { collectGarbage } from '../../support/collect-garbage.js';

describe('memory storage', () => {
  storageConformance(test, { open: async () => memoryStorage() });
});

describe('a storage that runs works again', () => {
  test('runs the work of a write twice and keeps the second run', async () => {
    const storage = rerunning(memoryStorage());
    const seen: number[] = [];
    const { index } = await commit(storage, (view) => {
      seen.push(view.list(things).length);
      view.put(things, { key: [seen.length], rank: [1] });
    });
    expect(seen).toEqual([0, 0]);
    const rows = await look(storage, (view) => view.list(things, { index: 'byRank' }));
    expect(rows.map((row) => [row.record.key, row.modifyIndex])).toEqual([[[2], index]]);
    await storage.close();
  });
});

describe('memory storage whose works run again', () => {
  storageConformance(test, { open: async () => rerunning(memoryStorage(), (write) => write % 3) });
});

describe('parsed values', () => {
  test('are kept within the budget, and parsed again after that', async () => {
    const storage = memoryStorage({ parsedBudget: 1000 });
    await store(storage, ...Array.from({ length: 50 }, (_, i) => ({ key: [i], text: 'x'.repeat(100) })));
    const rows = await look(storage, (view) => view.list(things));
    const first = rows[0]?.record;
    expect(rows[0]?.record).toBe(first);
    for (const row of rows) expect(row.record.text).toHaveLength(100);
    expect(rows[0]?.record).not.toBe(first);
    expect(rows[0]?.record).toEqual(first);
    await storage.close();
  });
});

describe('rows that were replaced or removed', () => {
  test('are held by nobody, though their values were read', async () => {
    const storage = memoryStorage();
    const last = async () => new WeakRef((await look(storage, (view) => view.list(things)))[0]?.record as object);
    await store(storage, { key: [1], text: 'first' });
    const replaced = await last();
    await store(storage, { key: [1], text: 'second' });
    const removed = await last();
    await commit(storage, (view) => void view.remove(things, [1]));
    await new Promise((resolve) => setTimeout(resolve));
    collectGarbage();
    expect([replaced.deref(), removed.deref()]).toEqual([undefined, undefined]);
    await storage.close();
  });
});

describe('memory storage that keeps no parsed values', () => {
  storageConformance(test, { open: async () => memoryStorage({ parsedBudget: 0 }) });
});
