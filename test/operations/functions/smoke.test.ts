import { expect, test } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { defineFunction } from '../../../src/functions/define-function.js';
import { createEngine } from '../../../src/index.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';

test('smoke', async () => {
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) });
  let calls = 0;
  const add = defineFunction<{ a: number; b: number }, { a: number; b: number }, number>({ name: 'add' }, ({ a, b }) => { calls += 1; if (calls < 3) throw new Error('not yet'); return a + b; });
  await using functions = createFunctions(engine, [add]);
  await functions.start();
  const run = await functions.enqueue(add, { a: 1, b: 2 });
  await clock.settle();
  expect((await run.status()).state).toBe('scheduled');
  await clock.advance(10_000);
  expect(await run.result()).toBe(3);
  expect(await functions.list()).toMatchObject([{ id: run.id, state: 'succeeded', attempt: 3 }]);
});
