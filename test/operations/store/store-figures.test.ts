import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errAsync, okAsync } from 'neverthrow';
import { expect, test } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { prometheusObserver } from '../../../adapters/prometheus/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { anonymousPrincipal, createEngine } from '../../../src/index.js';
import { readMetrics } from '../../../src/operations/store/read-metrics.js';
import { readStoreStatus } from '../../../src/operations/store/store-figures.js';
import type { Storage } from '../../../src/ports/index.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';

function engineOver(storage: Storage) {
  const clock = manualClock();
  const delivery = recordingDelivery({ clock });
  return createEngine({ storage, clock, ids: sequentialIds(), delivery, observer: prometheusObserver() });
}

test('a file has its size and that of its log; a store in memory has no figures', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-figures-'));
  const storage = valueFrom(await sqliteStorage(join(folder, 'a.db')));
  const { Figures, Notes } = valueFrom(await readStoreStatus(engineOver(storage)));
  expect(Figures.map(({ Name, Unit, Labels, Value }) => [Name, Unit, Labels, Value > 0])).toEqual([
    ['signalbox.store.size', 'By', { part: 'file' }, true],
    ['signalbox.store.size', 'By', { part: 'log' }, true],
  ]);
  expect(Notes).toEqual([]);
  const text = valueFrom(await readMetrics(engineOver(storage), anonymousPrincipal, { format: 'prometheus' }));
  expect(text).toMatch(/^signalbox_store_size_bytes\{part="log"\} \d+$/m);
  await storage.close();
  rmSync(folder, { recursive: true });
  expect(valueFrom(await readStoreStatus(engineOver(memoryStorage())))).toEqual({
    ...{ Index: expect.any(Number), Figures: [], Notes: [] },
  });
});

test('are read once for many callers, leave the other metrics alone when they fail, and are for operators', async () => {
  let read = 0;
  const storage: Storage = {
    ...memoryStorage(),
    figures: () => {
      read += 1;
      return read === 1
        ? okAsync({
            families: [{ name: 'signalbox.store.races.lost', measured: [{ labels: {}, value: 7 }] }],
            notes: ['a'],
          })
        : errAsync({ type: 'storage_failed', reason: 'io', message: 'no answer' });
    },
  };
  const engine = engineOver(storage);
  const metrics = async () =>
    String(valueFrom(await readMetrics(engine, anonymousPrincipal, { format: 'prometheus' })));
  for (let call = 0; call < 3; call += 1)
    expect((await metrics()).match(/races_lost_total \d+/g)).toEqual(['races_lost_total 7']);
  expect(valueFrom(await readStoreStatus(engine)).Notes).toEqual(['a']);
  expect(read).toBe(1);
  await (engine.clock as ReturnType<typeof manualClock>).advance(5000);
  expect(await metrics()).toContain('signalbox_store_index');
  expect(valueFrom(await readStoreStatus(engine)).Notes).toEqual([
    'The figures of the store cannot be read: no answer',
  ]);
  expect(read).toBe(2);
  const stranger = { ...anonymousPrincipal, areas: { operator: 'list' as never } };
  expect((await engine.as(stranger).system.store())._unsafeUnwrapErr()).toEqual({ type: 'permission_denied' });
});
