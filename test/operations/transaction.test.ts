import { err, ok } from 'neverthrow';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { flaky, memoryStorage, rerunning } from '../../adapters/memory/index.js';
import { defineFunction } from '../../src/functions/define-function.js';
import { runs } from '../../src/functions/run.js';
import {
  anonymousPrincipal,
  type Client,
  type Engine,
  type EngineTransaction,
  hostPrincipal,
  SignalboxError,
  type TransactionClient,
} from '../../src/index.js';
import { jobs } from '../../src/jobs/job-record.js';
import { events } from '../../src/notifications/events/event.js';
import { NotCommittedError } from '../../src/operations/context/shared-write.js';
import { createFunctions } from '../../src/operations/functions/create-functions.js';
import type { Run } from '../../src/operations/functions/functions-api.js';
import type { ReadView, Storage } from '../../src/ports/storage.js';
import { second } from '../../src/shared/duration.js';
import { batchJob, parameterizedJob, serviceJob } from './jobs/world.js';
import { create, must, testEngine, workspaceId } from './notifications/engine-setup.js';

const work = defineFunction<{ n: number }, { n: number }, number>({ name: 'work' }, ({ n }) => 2 * n);
const strict = defineFunction<{ n: number }>({
  name: 'strict',
  input: {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (value) =>
        (value as { n: number }).n > 0 ? { value: value as { n: number } } : { issues: [{ message: 'n is positive' }] },
    },
  },
});

const paid = { trigger: 'run:errored', run_id: 'run-1' };

/** An engine with a parameterized job, a workspace with a configuration, and functions. */
async function setUp(storage: Storage = memoryStorage()) {
  const engine = await testEngine({}, { ports: { storage } });
  await must(create(engine));
  await must(engine.as(hostPrincipal).jobs.register(parameterizedJob('invoice') as never));
  const functions = createFunctions(engine, [work, strict]);
  return { engine, functions };
}

async function read<T>(engine: Engine, run: (view: ReadView) => T): Promise<T> {
  return (await engine.storage.read(run))._unsafeUnwrap();
}

/** How much of everything there is. */
const stored = (engine: Engine) =>
  read(engine, (view) => ({
    index: view.index,
    runs: view.list(runs).length,
    instances: view.list(jobs, { prefix: ['default'], textPrefix: 'invoice/' }).length,
    events: view.list(events).length,
  }));

const full = { type: 'storage_failed', reason: 'full', message: 'the disk is full' } as const;

const settledOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(ok, err).then((result) => (result.isOk() ? result.value : result.error));

describe('a transaction', () => {
  test('stores several operations in one write, and gives their values in the form of what it returns', async () => {
    const { engine, functions } = await setUp();
    const outcome = await engine.transaction((tx) => ({
      run: functions.in(tx).enqueue(work, { n: 4 }),
      batch: functions.in(tx).enqueueMany(work, [{ n: 1 }, { n: 2 }]),
      instance: tx.as(hostPrincipal).jobs.dispatch('invoice', { meta: {} }),
      event: tx.as(hostPrincipal).notifications.send(workspaceId, paid),
      order: 17,
    }));
    expectTypeOf(outcome.run).toEqualTypeOf<Run<number>>();
    expectTypeOf(outcome.instance.dispatchedJobId).toEqualTypeOf<string>();
    expectTypeOf(outcome.order).toEqualTypeOf<17>();
    expect(await stored(engine)).toMatchObject({ runs: 3, instances: 1, events: 1 });
    expect(outcome.run.id).toMatch(/^work\/\d+$/);
    expect(outcome.batch.runs).toHaveLength(2);
    expect(outcome.instance.dispatchedJobId).toMatch(/^invoice\//);
    expect(outcome.event.deliveryIds).toHaveLength(1);
    expect(outcome.order).toBe(17);
    const [one, two] = await engine.transaction((tx) => [
      functions.in(tx).enqueue(work, { n: 5 }),
      tx.as(hostPrincipal).jobs.dispatch('invoice'),
    ]);
    expectTypeOf(one).toEqualTypeOf<Run<number>>();
    expect([one.isNew, two.dispatchedJobId]).toEqual([true, expect.stringMatching(/^invoice\//)]);
    expect((await engine.transaction((tx) => functions.in(tx).enqueue(work, { n: 6 }))).isNew).toBe(true);
    expect(await engine.transaction(() => undefined)).toBeUndefined();
    expect(await engine.transaction(() => null)).toBeNull();
  });

  test('is visible at once: no reader sees a part of it', async () => {
    const { engine, functions } = await setUp();
    const seen = new Set<string>();
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const { runs: queued, events: sent } = await stored(engine);
        seen.add(`${queued} ${sent}`);
      }
    })();
    for (let n = 0; n < 3; n += 1)
      await engine.transaction((tx) => [
        functions.in(tx).enqueue(work, { n }),
        tx.as(hostPrincipal).notifications.send(workspaceId, { ...paid, run_id: `run-${n}` }),
      ]);
    isOver = true;
    await watching;
    for (const state of seen) expect(['0 0', '1 1', '2 2', '3 3']).toContain(state);
  });

  test('lets each operation see what the ones before have changed, in the order of the calls', async () => {
    const { engine, functions } = await setUp();
    const job = parameterizedJob('later', { MetaOptional: ['a'] });
    const outcome = await engine.transaction((tx) => ({
      registered: tx.as(hostPrincipal).jobs.register(job as never),
      instance: tx.as(hostPrincipal).jobs.dispatch('later', { meta: { a: '1' } }),
      first: functions.in(tx).enqueue(work, { n: 1 }, { unique: 'a' }),
      same: functions.in(tx).enqueue(work, { n: 2 }, { unique: 'a' }),
    }));
    expect(outcome.instance.dispatchedJobId).toMatch(/^later\//);
    expect([outcome.first.isNew, outcome.same.isNew]).toEqual([true, false]);
    expect(outcome.same.id).toBe(outcome.first.id);
    // Indexes go on between them, as if they were writes one after the other.
    expect(outcome.instance.index).toBeGreaterThan(outcome.registered.index);
    await expect(
      engine.transaction((tx) => [
        tx.as(hostPrincipal).jobs.dispatch('too-late'),
        tx.as(hostPrincipal).jobs.register(parameterizedJob('too-late') as never),
      ]),
    ).rejects.toMatchObject({ type: 'job_not_found' });
  });
});

type Breaking = (tx: EngineTransaction, functions: ReturnType<typeof createFunctions>) => Promise<unknown>;
const breaking: [string, Breaking, object][] = [
  ['an error value', (tx) => tx.as(hostPrincipal).jobs.dispatch('unknown'), { type: 'job_not_found' }],
  ['a missing right', (tx) => tx.as(anonymousPrincipal).jobs.dispatch('invoice'), { type: 'permission_denied' }],
  ['a faulty argument', (tx) => tx.as(hostPrincipal).jobs.dispatch(17 as never), { type: 'bad_request' }],
  [
    'an aborted signal',
    (tx) => tx.as(hostPrincipal).jobs.dispatch('invoice', { signal: AbortSignal.abort() }),
    { type: 'aborted' },
  ],
  [
    'an input that its schema refuses',
    (tx, functions) => functions.in(tx).enqueue(strict, { n: 0 }),
    { type: 'invalid_input' },
  ],
  [
    'options that exclude each other',
    (tx, functions) => functions.in(tx).enqueue(work, { n: 0 }, { delay: 1, runAt: new Date() }),
    { name: 'TypeError' },
  ],
  [
    'a function of elsewhere',
    (tx, functions) => functions.in(tx).enqueue(defineFunction<{ n: number }>({ name: 'other' }), { n: 1 }),
    { name: 'TypeError' },
  ],
];

describe('nothing is stored', () => {
  test.each(breaking)('when one operation is refused: %s', async (_what, broken, error) => {
    for (const position of ['first', 'last']) {
      const { engine, functions } = await setUp();
      await functions.enqueue(work, { n: 0 });
      const before = await stored(engine);
      const facts: string[] = [];
      for (const name of ['job.dispatched', 'function.enqueued', 'notification.event'] as const)
        engine.events.on(name, () => facts.push(name));
      let others: Promise<unknown>[] = [];
      let guilty: Promise<unknown> | undefined;
      const failed = engine.transaction((tx) => {
        if (position === 'first') guilty = broken(tx, functions);
        others = [
          functions.in(tx).enqueue(work, { n: 1 }),
          tx.as(hostPrincipal).jobs.dispatch('invoice'),
          tx.as(hostPrincipal).notifications.send(workspaceId, paid),
        ];
        guilty ??= broken(tx, functions);
        return { guilty, others };
      });
      const refusal = await settledOf(failed);
      expect(refusal).toMatchObject(error);
      expect(await settledOf(guilty as Promise<unknown>)).toBe(refusal);
      for (const other of others) {
        const told = await settledOf(other);
        expect(told).toBeInstanceOf(NotCommittedError);
        expect(told).toMatchObject({ type: 'not_committed', cause: expect.anything() });
        expect((told as Error).message).toContain((refusal as Error).message);
      }
      expect(await stored(engine)).toEqual(before);
      expect(facts).toEqual([]);
      // Nothing is left over.
      expect((await engine.transaction((tx) => functions.in(tx).enqueue(work, { n: 1 }))).isNew).toBe(true);
    }
  });

  test('when the function throws, returns a promise of its own, or calls what is not one write', async () => {
    const { engine, functions } = await setUp();
    const before = await stored(engine);
    const enqueue = (tx: EngineTransaction) => functions.in(tx).enqueue(work, { n: 1 });
    const throwing = (tx: EngineTransaction): never => {
      void enqueue(tx);
      throw new Error('the order is closed');
    };
    await expect(engine.transaction(throwing)).rejects.toThrow('the order is closed');
    let late: Promise<unknown> | undefined;
    const waiting = engine.transaction(async (tx) => {
      await enqueue(tx).catch(() => undefined);
      late = settledOf((async () => enqueue(tx))());
    });
    await expect(waiting).rejects.toThrow('the function is synchronous');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await late).toMatchObject({ message: expect.stringContaining('the transaction is over') });
    const several = engine.transaction((tx) => {
      const { jobs: calls } = tx.as(hostPrincipal) as unknown as Client;
      return [enqueue(tx), calls.stop('invoice')];
    });
    await expect(several).rejects.toThrow('jobs.stop cannot be part of a transaction, because it is not one write');
    expect(await stored(engine)).toEqual(before);
  });

  test('when the store fails, which each operation is told', async () => {
    let isFailing = false;
    const storage = flaky(memoryStorage(), { write: { calls: () => isFailing, error: full } });
    const { engine, functions } = await setUp(storage);
    isFailing = true;
    let parts: Promise<unknown>[] = [];
    const failed = engine.transaction((tx) => {
      parts = [functions.in(tx).enqueue(work, { n: 1 }), tx.as(hostPrincipal).jobs.dispatch('invoice')];
      return parts;
    });
    await expect(failed).rejects.toMatchObject({ type: 'storage_failed' });
    for (const part of parts) expect(await settledOf(part)).toMatchObject({ type: 'storage_failed' });
    isFailing = false;
    expect(await stored(engine)).toMatchObject({ runs: 0, instances: 0 });
  });
});

describe('refusals that name what to do', () => {
  test('rows of the host in a store without its tables', async () => {
    const { engine, functions } = await setUp();
    const before = await stored(engine);
    const rows = (sql: { run(text: string): void }): void => sql.run('INSERT INTO orders VALUES (1)');
    const own = engine.transaction((tx) => {
      tx.alongside(rows);
      return functions.in(tx).enqueue(work, { n: 1 });
    });
    await expect(own).rejects.toThrow('alongside needs a store that has the tables of the host');
    const inCall = engine.transaction((tx) => functions.in(tx).enqueue(work, { n: 1 }, { alongside: rows }));
    await expect(inCall).rejects.toThrow('alongside needs a store that has the tables of the host');
    expect(await stored(engine)).toEqual(before);
  });

  test('what is no transaction, one of another engine, one that is over, and a caller that is none', async () => {
    const { engine, functions } = await setUp();
    const { engine: other } = await setUp();
    expect(() => functions.in({} as EngineTransaction)).toThrow(
      'functions.in: the argument is what engine.transaction passes',
    );
    expect(() => functions.in(undefined as unknown as EngineTransaction)).toThrow('functions.in');
    await expect(other.transaction((tx) => functions.in(tx).enqueue(work, { n: 1 }))).rejects.toThrow(
      'one of another engine',
    );
    let kept: EngineTransaction | undefined;
    await engine.transaction((tx) => {
      kept = tx;
    });
    expect(() => functions.in(kept as EngineTransaction).enqueue(work, { n: 1 })).toThrow('the transaction is over');
    expect(() => kept?.alongside(() => undefined)).toThrow('the transaction is over');
    await expect(engine.transaction((tx) => tx.as({} as never).jobs.dispatch('invoice'))).rejects.toThrow(
      'transaction.as',
    );
    await expect(engine.transaction('work' as never)).rejects.toThrow('engine.transaction: the argument is a function');
    const many = engine.transaction((tx) =>
      Array.from({ length: 1001 }, (_, n) => functions.in(tx).enqueue(work, { n })),
    );
    await expect(many).rejects.toThrow('at most 1000 operations');
    expect(await stored(engine)).toMatchObject({ runs: 0 });
  });
});

describe('what begins', () => {
  test('runs and deliveries that are claimed in their write begin when it is durable, in the process that has made it', async () => {
    const { engine, functions } = await running();
    const sent = engine.delivery.requests.length;
    const [run] = await engine.transaction((tx) => [
      functions.in(tx).enqueue(work, { n: 4 }),
      tx.as(hostPrincipal).notifications.send(workspaceId, { ...paid, run_id: 'now' }),
      tx.as(hostPrincipal).notifications.send(workspaceId, { ...paid, run_id: 'then' }),
      functions.in(tx).enqueue(work, { n: 5 }),
    ]);
    expect(await run.result()).toBe(8);
    await engine.clock.advance(second);
    expect(engine.delivery.requests.slice(sent).map(runIdOf)).toEqual(['now', 'then']);
    expect((await functions.list({ state: 'succeeded' })).length).toBe(3);
    await functions.stop();
    await engine.stop();
  });

  test('nothing, when the transaction was refused after they had been claimed, and their slots are free', async () => {
    const { engine, functions } = await running();
    const sent = engine.delivery.requests.length;
    for (let n = 0; n < 50; n += 1)
      await engine
        .transaction((tx) => [
          functions.in(tx).enqueue(work, { n: 100 }),
          tx.as(hostPrincipal).notifications.send(workspaceId, { ...paid, run_id: 'never' }),
          tx.as(hostPrincipal).jobs.dispatch('unknown'),
        ])
        .catch(() => undefined);
    await engine.clock.advance(second);
    expect(engine.delivery.requests).toHaveLength(sent);
    expect(await functions.list()).toHaveLength(1);
    const [run] = await engine.transaction((tx) => [
      functions.in(tx).enqueue(work, { n: 4 }),
      tx.as(hostPrincipal).notifications.send(workspaceId, { ...paid, run_id: 'after all' }),
    ]);
    expect(await run.result()).toBe(8);
    await engine.clock.advance(second);
    expect(engine.delivery.requests.slice(sent).map(runIdOf)).toEqual(['after all']);
    await functions.stop();
    await engine.stop();
  });

  test('readers that wait are answered, by the index of the part that concerns them', async () => {
    const { engine, functions } = await setUp();
    const box = engine.as(hostPrincipal);
    const { index } = (await box.jobs.list())._unsafeUnwrap();
    const listed = box.jobs.list({ index, wait: '1m' });
    await engine.clock.settle();
    await engine.transaction((tx) => [
      functions.in(tx).enqueue(work, { n: 4 }),
      tx.as(hostPrincipal).jobs.dispatch('invoice'),
    ]);
    const answer = (await listed)._unsafeUnwrap();
    expect(answer.index).toBeGreaterThan(index);
    // A gap between the parts would be taken for a write of another process.
    const later = box.jobs.list({ index: answer.index, wait: '1m' });
    await engine.clock.settle();
    await engine.transaction((tx) => tx.as(hostPrincipal).jobs.dispatch('invoice'));
    expect((await later)._unsafeUnwrap().index).toBeGreaterThan(answer.index);
  });
});

test('calls of functions over the interface are parts of it', async () => {
  const { engine, functions } = await setUp();
  const waiting = await functions.enqueue(work, { n: 1 }, { delay: '1h' });
  const before = await stored(engine);
  const broken = engine.transaction((tx) => {
    const { functions: calls, jobs: others } = tx.as(hostPrincipal);
    return [
      calls.enqueue('work', { input: { n: 2 } }),
      calls.cancelRun(waiting.id),
      calls.pause('work'),
      others.dispatch('unknown'),
    ];
  });
  await expect(broken).rejects.toMatchObject({ type: 'job_not_found' });
  expect(await stored(engine)).toEqual(before);
  expect((await waiting.status()).state).toBe('scheduled');
  const [enqueued, cancelled] = await engine.transaction((tx) => {
    const { functions: calls } = tx.as(hostPrincipal);
    return [calls.enqueue('work', { input: { n: 2 } }), calls.cancelRun(waiting.id), calls.pause('work')];
  });
  expect([enqueued.isNew, cancelled]).toEqual([true, { isChanged: true }]);
  expect((await waiting.status()).state).toBe('cancelled');
  const [again] = await engine.transaction((tx) => [
    tx.as(hostPrincipal).functions.retryRun(waiting.id),
    functions.in(tx).resume(work),
  ]);
  expect(again).toEqual({ isChanged: true });
});

test('schedules and pauses are parts of it', async () => {
  const { engine, functions } = await setUp();
  const cron = { id: 'hourly', schedule: '0 * * * *', input: { n: 1 } };
  await expect(
    engine.transaction((tx) => [functions.in(tx).schedule(work, cron), tx.as(hostPrincipal).jobs.dispatch('unknown')]),
  ).rejects.toBeInstanceOf(SignalboxError);
  expect(await functions.unschedule(work, 'hourly')).toBe(false);
  await engine.transaction((tx) => [functions.in(tx).schedule(work, cron), functions.in(tx).pause(work)]);
  expect(await engine.transaction((tx) => functions.in(tx).unschedule(work, 'hourly'))).toBe(true);
});

test('a store that repeats the write stores each part once', async () => {
  const { engine, functions } = await setUp(rerunning(memoryStorage()));
  const {
    first,
    second: other,
    event,
  } = await engine.transaction((tx) => ({
    first: functions.in(tx).enqueue(work, { n: 1 }),
    second: functions.in(tx).enqueue(work, { n: 2 }),
    event: tx.as(hostPrincipal).notifications.send(workspaceId, paid),
  }));
  expect(first.id).not.toBe(other.id);
  expect(event.deliveryIds).toHaveLength(1);
  expect(await stored(engine)).toMatchObject({ runs: 2, events: 1 });
});

type Calls = TransactionClient;
/** Each call that can be part of a transaction, with arguments that are accepted. */
const joined: { readonly [A in keyof Calls]: { readonly [M in keyof Calls[A]]: Parameters<Calls[A][M]> } } = {
  jobs: {
    register: [serviceJob('web') as never],
    update: ['web', serviceJob('web', { Priority: 60 }) as never],
    dispatch: ['invoice'],
    dispatchPayload: ['invoice', new Uint8Array()],
    revert: ['web', 0],
    scale: ['web', 'g', { count: 2, message: 'more' }],
    evaluate: ['web'],
    setStability: ['web', 0, true],
    tagVersion: ['web', 'first', { version: 0 }],
    untagVersion: ['web', 'first'],
    forceLaunch: ['nightly'],
  },
  functions: {
    enqueue: ['work', { input: { n: 1 } }],
    cancelRun: ['RUN'],
    retryRun: ['RUN'],
    pause: ['work'],
    resume: ['work'],
  },
  notifications: {
    send: [workspaceId, paid],
    pause: ['CONFIGURATION'],
    resume: ['CONFIGURATION'],
  },
  variables: {
    put: ['shop', { items: { a: 'b' } }],
    remove: ['shop'],
  },
  workspaces: { put: ['ws-2', { name: 'other', organization: 'acme' }] },
  users: { put: ['user-3', { username: 'user-3', email: 'user-3@example.org', organization: 'acme' }] },
};

test('each call that can be part of it is one write', async () => {
  const memory = memoryStorage();
  let writes = 0;
  const storage: Storage = {
    ...memory,
    write: (write) => {
      writes += 1;
      return memory.write(write);
    },
  };
  const { engine, functions } = await setUp(storage);
  const box = engine.as(hostPrincipal);
  const web = serviceJob('web');
  await must(box.jobs.register(web as never));
  await must(box.jobs.update('web', serviceJob('web', { Priority: 70 }) as never));
  await must(box.jobs.register(batchJob('nightly', { Periodic: { Spec: '0 3 * * *', SpecType: 'cron' } }) as never));
  const { id: run } = await functions.enqueue(work, { n: 1 }, { delay: '1h' });
  const [configuration] = (await must(box.notifications.list(workspaceId))).items;
  const ids: Readonly<Record<string, string | undefined>> = { RUN: run, CONFIGURATION: configuration?.id };
  const performed: string[] = [];
  for (const [area, methods] of Object.entries(joined))
    for (const [method, args] of Object.entries(methods as Record<string, readonly unknown[]>)) {
      writes = 0;
      const given = args.map((arg) => ids[arg as string] ?? arg);
      await engine.transaction((tx) => {
        const calls = tx.as(hostPrincipal) as unknown as Record<string, Record<string, (...all: unknown[]) => unknown>>;
        return [calls[area]?.[method]?.(...given), tx.as(hostPrincipal).notifications.send(workspaceId, paid)];
      });
      expect([`${area}.${method}`, writes]).toEqual([`${area}.${method}`, 1]);
      performed.push(method);
    }
  expect(performed).toHaveLength(23);
});

const runIdOf = ({ body }: { readonly body: string }): string => JSON.parse(body).run_id;

/** Functions and deliveries that run, and that have run once. */
async function running() {
  const { engine, functions } = await setUp();
  engine.start();
  await functions.start();
  await must(engine.as(hostPrincipal).notifications.send(workspaceId, { ...paid, run_id: 'first' }));
  await (await functions.enqueue(work, { n: 0 })).result();
  await engine.clock.advance(second);
  return { engine, functions };
}
