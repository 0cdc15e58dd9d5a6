import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createFunctions, defineFunction } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-functions-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('an order and its run are stored together or not at all, and the error of the host is its own', async () => {
  const handle = new Database(join(folder, 'shop.sqlite'));
  handle.exec('CREATE TABLE orders (id TEXT PRIMARY KEY)');
  const storage = (await sqliteStorage(handle))._unsafeUnwrap();
  const clock = systemClock();
  const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery() });
  const fulfil = defineFunction<{ order: string }, { order: string }, string>({ name: 'fulfil' }, ({ order }) => order);
  await using functions = createFunctions(engine, [fulfil]);
  await functions.start();
  const enqueue = (order: string) =>
    functions.enqueue(fulfil, { order }, { alongside: (sql) => sql.run('INSERT INTO orders (id) VALUES (?)', order) });

  const run = await enqueue('a');
  expect(await run.result()).toBe('a');
  await expect(enqueue('a')).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  const both = functions.enqueueMany(fulfil, [{ order: 'b' }, { order: 'c' }], {
    alongside: (sql) => {
      for (const order of ['b', 'a']) sql.run('INSERT INTO orders (id) VALUES (?)', order);
    },
  });
  await expect(both).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  expect(handle.prepare('SELECT id FROM orders').all()).toEqual([{ id: 'a' }]);
  expect(await functions.list()).toHaveLength(1);
  // The slot of a refused enqueue is free again.
  for (let n = 0; n < 40; n += 1) await enqueue('a').catch(() => undefined);
  expect(await (await enqueue('z')).result()).toBe('z');
});
