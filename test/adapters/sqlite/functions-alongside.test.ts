import { expect, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createFunctions, defineFunction } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';
import { fileOpener } from './sqlite-files.js';

const openFile = fileOpener();

test('an order and its run are stored together or not at all, and the error of the host is its own', async () => {
  const handle = openFile(':memory:', false);
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
  await expect(enqueue('a')).rejects.toThrow(/^UNIQUE constraint failed: orders\.id/);
  const both = functions.enqueueMany(fulfil, [{ order: 'b' }, { order: 'c' }], {
    alongside: (sql) => {
      for (const order of ['b', 'a']) sql.run('INSERT INTO orders (id) VALUES (?)', order);
    },
  });
  await expect(both).rejects.toThrow(/^UNIQUE constraint failed: orders\.id/);
  expect(handle.prepare('SELECT id FROM orders').all()).toEqual([{ id: 'a' }]);
  expect(await functions.list()).toHaveLength(1);
  // The slot of a refused enqueue is free again.
  for (let n = 0; n < 40; n += 1) await enqueue('a').catch(() => undefined);
  expect(await (await enqueue('z')).result()).toBe('z');
});
