import { afterEach, describe, expect, test } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { defineFunction, type FunctionDefinition } from '../../../src/functions/define-function.js';
import { createEngine, type Engine, hostPrincipal, orThrow } from '../../../src/index.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { Functions, FunctionsOptions } from '../../../src/operations/functions/functions-api.js';
import { day, hour, minute } from '../../../src/shared/duration.js';
import { type World, world } from '../../support/function-processes.js';

const old = defineFunction<number>({ name: 'old' }, () => undefined);
const kept = defineFunction<number>({ name: 'kept' }, () => undefined);

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A process with these functions. */
async function deployed(
  { clock, storage, ids }: World,
  definitions: readonly FunctionDefinition<never, unknown>[],
  { starts = true, ...options }: FunctionsOptions & { readonly starts?: boolean } = {},
): Promise<{ readonly engine: Engine; readonly functions: Functions }> {
  const engine = createEngine({ storage, clock, ids, delivery: recordingDelivery({ clock }) });
  const functions = createFunctions(engine, definitions, options);
  if (starts) await functions.start();
  stops.push(() => functions.stop({ deadline: 0 }));
  return { engine, functions };
}

const listed = async (engine: Engine, namespace = '*') =>
  (await orThrow(engine.as(hostPrincipal).functions.list({ namespace }))).value.items.map(({ name, missingSince }) =>
    missingSince === undefined ? name : `${name} missing`,
  );
const jobsOf = async (engine: Engine, namespace = 'default') =>
  (await orThrow(engine.as(hostPrincipal).jobs.list({ namespace }))).value.items.map(({ ID }) => ID);

/** A store in which the code of one function has been removed: `runs` are enqueued by the process that had it. */
async function removed(runs: (functions: Functions, own: World) => Promise<unknown> = async () => undefined) {
  const own = world();
  const before = await deployed(own, [old, kept]);
  await runs(before.functions, own);
  await own.clock.settle();
  await before.functions.stop();
  const { engine, functions } = await deployed(own, [kept]);
  await own.clock.advance(20 * minute);
  return { own, engine, functions };
}

describe('a function that has left the code', () => {
  test('is listed as missing, and goes a day later', async () => {
    const { own, engine, functions } = await removed();
    expect(await listed(engine)).toEqual(['kept', 'old missing']);
    const { value: status } = await orThrow(engine.as(hostPrincipal).functions.read('old', {}));
    expect(Date.parse(status?.missingSince ?? '')).toBeGreaterThan(own.clock.now() - 21 * minute);
    await own.clock.advance(23 * hour);
    expect(await listed(engine)).toEqual(['kept', 'old missing']);
    await own.clock.advance(2 * hour);
    expect(await listed(engine)).toEqual(['kept']);
    expect(await jobsOf(engine)).toEqual(['kept']);
    expect((await functions.enqueue(kept, 1)).isNew).toBe(true);
  });

  test('stays while a run of it waits, which explain and the list say', async () => {
    const { own, engine, functions } = await removed((before) => before.enqueue(old, 1, { delay: '1h' }));
    await own.clock.advance(10 * day);
    expect(await listed(engine)).toEqual(['kept', 'old missing']);
    const [run] = await functions.list({ function: 'old' });
    expect(await functions.explain(run?.id ?? '')).toEqual({ reason: 'no_process', message: 'no process runs old' });
    expect(await functions.discard({ function: 'old' })).toBe(1);
    expect(await listed(engine)).toEqual(['kept']);
    expect(await jobsOf(engine)).toEqual(['kept']);
  });

  test('keeps the history of its runs for as long as its code asked for', async () => {
    const { own, engine, functions } = await removed(async (before) => {
      await (await before.enqueue(old, 1)).result();
      await (await before.enqueue(old, 2, { delay: '1h' })).cancel();
    });
    expect(await functions.list({ function: 'old' })).toHaveLength(2);
    await own.clock.advance(day + hour);
    expect((await functions.list({ function: 'old' })).map(({ state }) => state)).toEqual(['cancelled']);
    expect(await listed(engine)).toEqual(['kept', 'old missing']);
    await own.clock.advance(30 * day);
    expect(await functions.list({ function: 'old' })).toEqual([]);
    expect(await listed(engine)).toEqual(['kept']);
  });

  test('goes at once when what is left of it is discarded', async () => {
    const { engine, functions } = await removed(async (before) => (await before.enqueue(old, 1)).result());
    expect(await functions.discard({ function: 'old' })).toBe(1);
    expect(await listed(engine)).toEqual(['kept']);
    // One that a process has stays.
    await (await functions.enqueue(kept, 1)).result();
    await functions.discard({});
    expect(await listed(engine)).toEqual(['kept']);
  });

  test.each<[string, (functions: Functions) => Promise<unknown>]>([
    ['its pause', (functions) => functions.pause(old)],
    [
      'a schedule that is data',
      (functions) => functions.schedule(old, { id: 'tenant', schedule: '0 3 * * *', input: 1 }),
    ],
  ])('stays for %s, which the code would need again', async (_what, keeping) => {
    const { own, engine, functions } = await removed(keeping);
    await own.clock.advance(3 * day);
    expect(await listed(engine)).toEqual(['kept', 'old missing']);
    await functions.discard({ function: 'old' });
    expect(await listed(engine)).toEqual(['kept']);
  });

  test('is there again when its code is, with what it had', async () => {
    const { own, engine } = await removed((before) => before.enqueue(old, 1, { delay: '1d' }));
    await own.clock.advance(hour);
    const { functions } = await deployed(own, [old]);
    expect(await listed(engine)).toEqual(['kept', 'old']);
    await own.clock.advance(day);
    expect(await functions.list({ function: 'old', state: 'succeeded' })).toHaveLength(1);
  });

  test('is declared again by a process that only enqueues', async () => {
    const own = world();
    const sender = await deployed(own, [old], { starts: false });
    const runner = await deployed(own, [old]);
    await (await sender.functions.enqueue(old, 1)).result();
    await runner.functions.stop();
    const { engine, functions } = await deployed(own, [kept]);
    await functions.discard({ function: 'old' });
    expect(await listed(engine)).toEqual(['kept']);
    const run = await sender.functions.enqueue(old, 1);
    expect(await listed(engine)).toEqual(['kept', 'old']);
    expect((await run.status()).state).toBe('queued');
  });

  test('is not looked for while none is missing: an idle process sleeps', async () => {
    const own = world();
    let reads = 0;
    const counting: World = {
      ...own,
      storage: {
        ...own.storage,
        write: (work) => {
          reads += 1;
          return own.storage.write(work);
        },
      },
    };
    await deployed(counting, [kept]);
    await own.clock.advance(hour);
    const before = reads;
    await own.clock.advance(7 * day);
    expect(reads - before).toBeLessThan(3);
  });
});

describe('a function in another namespace', () => {
  test('moves with its history when none of its runs is unfinished', async () => {
    const own = world();
    const first = await deployed(own, [kept], { namespace: 'default' });
    await (await first.functions.enqueue(kept, 1)).result();
    await first.functions.stop();
    await orThrow(first.engine.as(hostPrincipal).namespaces.put('shop', {}));
    const { engine } = await deployed(own, [kept], { namespace: 'shop' });
    expect(await listed(engine, 'default')).toEqual([]);
    expect(await jobsOf(engine, 'default')).toEqual([]);
    expect(await listed(engine, 'shop')).toEqual(['kept']);
    expect(await jobsOf(engine, 'shop')).toEqual(['kept']);
    const runs = await orThrow(engine.as(hostPrincipal).functions.runs('kept', { namespace: 'shop' }));
    expect(runs.value?.items.map(({ state }) => state)).toEqual(['succeeded']);
  });

  test('is refused while some are, and the refusal says what to do', async () => {
    const own = world();
    const first = await deployed(own, [kept]);
    await first.functions.enqueue(kept, 1, { delay: '1h' });
    await first.functions.stop();
    const moving = deployed(own, [kept], { namespace: 'shop' });
    await expect(moving).rejects.toMatchObject({
      type: 'permission_denied',
      message:
        "the function kept belongs to the namespace 'default', and createFunctions declares it in 'shop': it moves when none of its " +
        'runs is unfinished, and 1 is: wait for them, cancel or discard them, or use that namespace or another name',
    });
    expect(await first.functions.cancel({ function: 'kept' })).toBe(1);
    const { engine } = await deployed(own, [kept], { namespace: 'shop' });
    expect(await listed(engine, 'shop')).toEqual(['kept']);
  });

  test('does not move while a process runs it there', async () => {
    const own = world();
    await deployed(own, [kept]);
    await expect(deployed(own, [kept], { namespace: 'shop' })).rejects.toThrow(
      'a process that runs it there has not been stopped: stop it, or use that namespace or another name',
    );
  });

  test('does not move for code without a handler, or an earlier version of it', async () => {
    const own = world();
    const newer = defineFunction<number>({ name: 'kept', version: 2 }, () => undefined);
    const first = await deployed(own, [newer]);
    await first.functions.stop();
    for (const fn of [kept, defineFunction<number>({ name: 'kept', version: 2 })])
      await expect(deployed(own, [fn], { namespace: 'shop' })).rejects.toThrow('use that namespace, or another name');
    const sender = await deployed(own, [newer], { namespace: 'shop', starts: false });
    await expect(sender.functions.enqueue(newer, 1)).rejects.toThrow('use that namespace, or another name');
  });
});
