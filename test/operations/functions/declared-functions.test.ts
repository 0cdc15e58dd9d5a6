import { afterEach, describe, expect, test } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { declarations } from '../../../src/functions/declaration.js';
import { defineFunction, type FunctionOptions } from '../../../src/functions/define-function.js';
import { createEngine } from '../../../src/index.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { Functions, FunctionsOptions } from '../../../src/operations/functions/functions-api.js';
import type { Storage } from '../../../src/ports/storage.js';
import { minute } from '../../../src/shared/duration.js';

const opened: Functions[] = [];
afterEach(async () => {
  for (const functions of opened.splice(0)) void functions.stop({ deadline: 0 });
});

interface World {
  readonly clock: ManualClock;
  readonly storage: Storage;
}
const world = (): World => ({ clock: manualClock(), storage: memoryStorage() });

const work = (options: Partial<FunctionOptions<{ n: number }, { n: number }>> = {}) =>
  defineFunction<{ n: number }, { n: number }, number>({ name: 'work', ...options }, ({ n }) => n);

/** The functions of another process over the store. */
function processOver(
  { clock, storage }: World,
  definitions: Parameters<typeof createFunctions>[1],
  options?: FunctionsOptions,
): Functions {
  const engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) });
  const functions = createFunctions(engine, definitions, options);
  opened.push(functions);
  return functions;
}

async function stored({ storage }: World) {
  const rows = await storage.read((view) => view.list(declarations));
  return rows._unsafeUnwrap().map(({ record, modifyIndex }) => ({ ...record, modifyIndex }));
}

describe('a start', () => {
  test('declares the functions of its process, and writes nothing when they are the same', async () => {
    const own = world();
    await processOver(own, [work()]).start();
    const first = await stored(own);
    expect(first).toMatchObject([{ name: 'work', namespace: 'default', version: 1 }]);
    await processOver(own, [work()]).start();
    expect(await stored(own)).toEqual(first);
    await processOver(own, [work({ priority: 7 })]).start();
    expect(await stored(own)).toMatchObject([{ priority: 7 }]);
  });

  test('of an earlier version leaves the declaration of a later one', async () => {
    const own = world();
    await processOver(own, [work({ version: 2 })]).start();
    await processOver(own, [work({ priority: 7 })]).start();
    expect(await stored(own)).toMatchObject([{ version: 2, priority: 50 }]);
  });

  test('is refused for a name of another namespace, and declares none of its functions', async () => {
    const own = world();
    await processOver(own, [work()]).start();
    const other = processOver(own, [work({ name: 'a' }), work({ cron: '* * * * *' })], { namespace: 'shop' });
    await expect(other.start()).rejects.toMatchObject({
      type: 'permission_denied',
      message: expect.stringMatching(/function work belongs to the namespace 'default'.*in 'shop'/),
    });
    await expect(other.enqueue(work(), { n: 1 })).rejects.toThrow();
    expect(await stored(own)).toHaveLength(1);
  });

  test.each(['', 'a b', '*', 7, 'x'.repeat(129)])('takes no namespace like %j', (namespace) => {
    expect(() => processOver(world(), [work()], { namespace: namespace as string })).toThrow(TypeError);
  });
});

describe('an enqueue', () => {
  test('of a process that was never started declares its function, unless it is declared', async () => {
    const own = world();
    const caller = defineFunction<{ n: number }>({ name: 'work' });
    const functions = processOver(own, [caller], { namespace: 'shop' });
    await functions.enqueue(caller, { n: 1 });
    await functions.enqueueMany(caller, [{ n: 2 }]);
    expect(await stored(own)).toMatchObject([{ name: 'work', namespace: 'shop', hasHandler: false }]);
    await processOver(own, [work({ priority: 7 })], { namespace: 'shop' }).start();
    expect(await stored(own)).toMatchObject([{ hasHandler: true, priority: 7 }]);
  });

  test('of a name of another namespace is refused, and enqueues nothing', async () => {
    const own = world();
    await processOver(own, [work()], { namespace: 'shop' }).start();
    const definition = work();
    const functions = processOver(own, [definition]);
    for (const enqueued of [functions.enqueue(definition, { n: 1 }), functions.enqueueMany(definition, [{ n: 1 }])])
      await expect(enqueued).rejects.toMatchObject({ type: 'permission_denied' });
    expect(await functions.list()).toEqual([]);
  });
});

test('what another process resumes or schedules begins at once', async () => {
  const own = world();
  const definition = work();
  const running = processOver(own, [definition]);
  const other = processOver(own, [definition]);
  await running.start();
  await running.pause(definition);
  const run = await running.enqueue(definition, { n: 1 });
  await own.clock.settle();
  expect((await run.status()).state).toBe('queued');
  await other.resume(definition);
  await own.clock.settle();
  expect((await run.status()).state).toBe('succeeded');
  await other.schedule(definition, { id: 'each-minute', schedule: '* * * * *', input: { n: 2 } });
  await own.clock.settle();
  await own.clock.advance(minute);
  expect(await other.list({ state: 'succeeded' })).toHaveLength(2);
});
