import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  rerunning,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { prometheusObserver } from '../../../adapters/prometheus/index.js';
import {
  defineFunction,
  type FunctionDefinition,
  type FunctionOptions,
} from '../../../src/functions/define-function.js';
import { functionReports } from '../../../src/functions/reports.js';
import { runs } from '../../../src/functions/run.js';
import {
  anonymousPrincipal,
  createEngine,
  type Engine,
  type EnginePorts,
  hostPrincipal,
  orThrow,
} from '../../../src/index.js';
import { events } from '../../../src/notifications/events/event.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { Functions, FunctionsOptions } from '../../../src/operations/functions/functions-api.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import {
  putWorkspace,
  removeWorkspace,
} from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { readMetrics } from '../../../src/operations/store/read-metrics.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { Storage } from '../../../src/ports/storage.js';
import type { SpanEnd, SpanStart, Tracer } from '../../../src/ports/tracer.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { mortal } from '../../support/function-processes.js';

const opened: { readonly functions: Functions; readonly engine: Engine }[] = [];
afterEach(async () => {
  for (const { functions, engine } of opened.splice(0)) {
    void functions.stop({ deadline: 0 });
    void engine.stop({ deadline: 0 });
  }
});

interface World {
  readonly clock: ManualClock;
  readonly storage: Storage;
  readonly ids: ReturnType<typeof sequentialIds>;
  readonly delivery: ReturnType<typeof recordingDelivery>;
  /** Warnings and errors. */
  readonly log: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[];
}

function world(): World {
  const clock = manualClock();
  return {
    clock,
    storage: memoryStorage(),
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
    log: [],
  };
}

interface Process {
  readonly engine: Engine;
  readonly functions: Functions;
}

type Definitions = readonly FunctionDefinition<never, unknown>[];

function processOver(
  own: World,
  definitions: Definitions,
  options: FunctionsOptions = {},
  ports: Pick<EnginePorts, 'observer' | 'tracer' | 'secrets'> = {},
): Process {
  const { clock, storage, ids, delivery, log } = own;
  const silent = (): void => undefined;
  const note = (fields: object, message: string): void => void log.push({ message, fields: { ...fields } });
  const logger: Logger = { debug: silent, info: silent, warn: note, error: note };
  const engine = createEngine(
    { storage, clock, ids, delivery, logger, ...ports },
    { jobs: { runUrl: 'https://ci.example/{job}/{run}' } },
  );
  const functions = createFunctions(engine, definitions, options);
  opened.push({ functions, engine });
  return { engine, functions };
}

async function startedOver(own: World, definitions: Definitions, options?: FunctionsOptions): Promise<Process> {
  const started = processOver(own, definitions, options);
  await started.functions.start();
  return started;
}

/** A workspace with one configuration for these triggers. */
async function team(engine: Engine, ...triggers: readonly string[]): Promise<void> {
  await orThrow(putWorkspace(engine, hostPrincipal, { id: 'ws-shop', name: 'shop', organization: 'acme' }));
  const attributes = {
    name: 'team',
    destinationType: 'generic',
    url: 'https://hooks.example.net/',
    token: 'T0KEN-of-hook',
    triggers,
    enabled: true,
  };
  await orThrow(
    createNotificationConfiguration(engine, hostPrincipal, { workspaceId: 'ws-shop', attributes } as never),
  );
}

/** The events of runs in the order of their acceptance: trigger, status, message. */
async function reportsIn({ storage }: Pick<World, 'storage'>): Promise<string[]> {
  const read = await storage.read((view) => view.list(events).map(({ record }) => record.event));
  return read
    ._unsafeUnwrap()
    .flatMap((event) => (event.kind === 'run' ? [`${event.trigger} ${event.runStatus} ${event.runMessage}`] : []));
}

const all = ['run:created', 'run:applying', 'run:completed', 'run:errored', 'run:needs_attention'];
const never = (): Promise<never> => new Promise(() => undefined);
const work = (handler?: (n: number) => unknown, options: Partial<FunctionOptions<number, number>> = {}) =>
  defineFunction<number, number, unknown>(
    { name: 'work', notify: 'ws-shop', retry: { attempts: 1 }, ...options },
    handler,
  );
const boom = (): never => {
  throw new Error('no answer\n  from the warehouse');
};

describe('a workspace that a function notifies', () => {
  test('gets the outcomes of its runs, with the page of the run', async () => {
    const own = world();
    const fn = work((n) => (n === 1 ? n : boom()));
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:errored', 'run:completed');
    engine.start();
    const good = await functions.enqueue(fn, 1);
    const bad = await functions.enqueue(fn, 2);
    await own.clock.advance(minute);
    const bodies = own.delivery.requests.map(({ body }) => JSON.parse(String(body)));
    const ended = bodies.filter((body) => body.run_id !== null);
    expect(ended).toEqual([
      {
        payload_version: 1,
        notification_configuration_id: expect.any(String),
        run_url: `https://ci.example/work/${encodeURIComponent(good.id)}`,
        run_id: good.id,
        run_message: 'work, attempt 1',
        run_created_at: '2026-01-01T00:00:00.000Z',
        run_created_by: null,
        workspace_id: 'ws-shop',
        workspace_name: 'shop',
        organization_name: 'acme',
        notifications: [
          {
            message: 'Run Applied',
            trigger: 'run:completed',
            run_status: 'applied',
            run_updated_at: expect.stringMatching(/^2026-01-01T00:00:0/),
            run_updated_by: null,
            run_job: { namespace: 'default', id: 'work' },
            run_outcome: 'succeeded',
          },
        ],
      },
      expect.objectContaining({
        run_id: bad.id,
        run_message: 'work, attempt 1: no answer',
        notifications: [
          expect.objectContaining({
            message: 'Run Errored',
            trigger: 'run:errored',
            run_status: 'errored',
            run_outcome: 'failed',
          }),
        ],
      }),
    ]);
  });

  test('hears of every step that a configuration asks for, in order', async () => {
    const own = world();
    let isFirst = true;
    const flaky = work(
      () => {
        if (!isFirst) return 1;
        isFirst = false;
        return boom();
      },
      { retry: { attempts: 2 } },
    );
    const { engine, functions } = await startedOver(own, [flaky]);
    await team(engine, ...all);
    await functions.enqueue(flaky, 1);
    await own.clock.advance(minute);
    expect(await reportsIn(own)).toEqual([
      'run:created pending work',
      'run:applying applying work, attempt 1',
      'run:completed applied work, attempt 2',
    ]);
  });

  test('of steps that nobody asks for nothing is written', async () => {
    const own = world();
    const fn = work((n) => n);
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:errored');
    await (await functions.enqueue(fn, 1)).result();
    expect(await reportsIn(own)).toEqual([]);
  });

  test('of a failure the event is written whoever asks for it, so that it can be explained', async () => {
    const own = world();
    const fn = work(boom);
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine);
    await functions.enqueue(fn, 1);
    await own.clock.settle();
    expect(await reportsIn(own)).toEqual(['run:errored errored work, attempt 1: no answer']);
  });

  test.each([
    ['cancelled while it waits', { delay: '1h' }, 'run:errored canceled work: not needed'],
    ['cancelled under way', {}, 'run:errored canceled work, attempt 1: not needed'],
  ])('hears of a run that is %s', async (_name, options, expected) => {
    const own = world();
    const fn = work(never);
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:errored');
    const run = await functions.enqueue(fn, 1, options);
    await own.clock.settle();
    await run.cancel('not needed');
    await own.clock.advance(10 * second);
    expect(await reportsIn(own)).toEqual([expected]);
  });

  test('hears of what another process has cancelled, or lets expire, that does not know the function', async () => {
    const own = world();
    const fn = work(never, { timeout: false });
    const { engine, functions } = await startedOver(own, [fn], { lease: '1s' });
    await team(engine, 'run:errored');
    const late = await functions.enqueue(fn, 1, { delay: '1h' });
    const stranger = await startedOver(own, []);
    await stranger.functions.cancel({ function: 'work', state: 'scheduled' });
    expect(await reportsIn(own)).toEqual(['run:errored canceled work: cancelled by a filter']);
    expect((await late.status()).state).toBe('cancelled');
    await functions.enqueue(fn, 1, { delay: '1h', ttl: '1m' });
    await own.clock.advance(2 * minute);
    expect((await reportsIn(own))[1]).toBe('run:errored canceled work: expired');
  });

  test('hears of a run that its processes die of, from the one that finds the third one dead', async () => {
    const own = world();
    const fn = work(never);
    const { engine, functions } = processOver(own, [fn]);
    await team(engine, 'run:errored');
    await functions.enqueue(fn, 1);
    for (let death = 0; death < 3; death += 1) {
      const { storage, kill } = mortal(own.storage);
      await startedOver({ ...own, storage }, [fn], { lease: '1s' });
      await own.clock.advance(2 * second);
      kill();
    }
    await startedOver(own, []);
    await own.clock.advance(minute);
    expect(await reportsIn(own)).toEqual([
      'run:errored errored work, attempt 1: the process ended 3 times while it ran',
    ]);
  });

  test('gets no secrets of the host and of its destinations, and no tokens, that an error contains', async () => {
    const own = world();
    const fn = work((n) => {
      throw new Error(thrown[n]);
    });
    const { engine, functions } = processOver(own, [fn], {}, { secrets: ['host-S3CRET'] });
    await team(engine, 'run:errored');
    const token = await orThrow(putToken(engine, hostPrincipal, { name: 't', management: true }));
    const thrown = ['refused host-S3CRET', `401 for ${token.secret}`, 'signed with T0KEN-of-hook'];
    await functions.start();
    for (const n of thrown.keys()) await functions.enqueue(fn, n);
    await own.clock.settle();
    const sent = (await reportsIn(own)).join('\n');
    expect(sent).toContain('refused [redacted]');
    expect(sent).toContain('401 for [redacted]');
    for (const secret of ['S3CRET', token.secret, 'T0KEN-of-hook']) expect(sent).not.toContain(secret);
  });

  test('of a run that times out for good hears that', async () => {
    const own = world();
    const fn = work(never, { timeout: '10s' });
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:errored');
    await functions.enqueue(fn, 1);
    await own.clock.advance(minute);
    expect(await reportsIn(own)).toEqual([
      'run:errored errored work, attempt 1: the attempt took longer than 10000 ms',
    ]);
  });

  test('is that of the later version of the code; without one nobody is notified', async () => {
    const own = world();
    const { engine } = await startedOver(own, [work(boom, { version: 2 })]);
    await team(engine, 'run:errored');
    const old = await startedOver(own, [defineFunction<number>({ name: 'work', retry: { attempts: 1 } }, boom)]);
    await old.functions.enqueue(work(), 1).catch(() => undefined);
    const newer = await startedOver(own, [
      defineFunction<number>({ name: 'work', version: 3, retry: { attempts: 1 } }, boom),
    ]);
    expect(newer).toBeDefined();
    const rows = await own.storage.read((view) => view.list(functionReports).map(({ record }) => record));
    expect(rows._unsafeUnwrap()).toEqual([{ function: 'work', version: 3, workspace: null }]);
  });

  test.each([42, '', 'a/b', 'a b', 'x'.repeat(129)])('is named by its ID: not %j', (notify) => {
    expect(() => work(undefined, { notify: notify as string })).toThrow(/notify takes the ID of a workspace/);
  });
});

describe('a workspace that does not exist', () => {
  test('fails no run; a warning says so at the start and when something would have been sent', async () => {
    const own = world();
    const fn = work(boom);
    const { engine, functions } = await startedOver(own, [fn]);
    const warning = {
      message: expect.stringMatching(/its workspace does not exist. Create it with putWorkspace/),
      fields: { function: 'work', workspace: 'ws-shop' },
    };
    expect(own.log).toEqual([warning]);
    for (let n = 0; n < 5; n += 1) await functions.enqueue(fn, n);
    await own.clock.settle();
    expect(own.log).toEqual([warning, warning]);
    expect(await functions.list({ state: 'failed' })).toHaveLength(5);
    await team(engine, 'run:errored');
    await functions.enqueue(fn, 6);
    await own.clock.settle();
    expect(await reportsIn(own)).toEqual(['run:errored errored work, attempt 1: no answer']);
  });
});

describe('many failures', () => {
  test('are ten events and then one every five minutes with the number of the others, whichever process records them', async () => {
    const own = world();
    const fn = work(boom);
    const first = await startedOver(own, [fn]);
    const second = await startedOver(own, [fn]);
    await team(first.engine, 'run:errored');
    for (const { functions } of [first, second])
      await functions.enqueueMany(
        fn,
        Array.from({ length: 50 }, (_, n) => n),
      );
    await own.clock.advance(minute);
    expect(await reportsIn(own)).toHaveLength(10);
    await own.clock.advance(5 * minute);
    expect((await reportsIn(own)).slice(10)).toEqual([
      'run:errored errored work, attempt 1: no answer (and 89 others since the last notification)',
    ]);
    await own.clock.advance(hour);
    expect(await reportsIn(own)).toHaveLength(11);
    await first.functions.enqueue(fn, 1);
    await own.clock.settle();
    expect((await reportsIn(own)).slice(11)).toEqual(['run:errored errored work, attempt 1: no answer']);
  });

  test('what was held back by a process that is gone is sent by the next one', async () => {
    const own = world();
    const fn = work(boom);
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:errored');
    await functions.enqueueMany(
      fn,
      Array.from({ length: 30 }, (_, n) => n),
    );
    await own.clock.settle();
    await functions.stop({ deadline: 0 });
    await own.clock.advance(hour);
    expect(await reportsIn(own)).toHaveLength(10);
    await startedOver(own, []);
    await own.clock.settle();
    expect((await reportsIn(own)).slice(10)).toEqual([
      'run:errored errored work, attempt 1: no answer (and 19 others since the last notification)',
    ]);
  });

  test('are each sent or counted once, whichever processes die and however often the store runs its work', async () => {
    const step = fc.record({
      enqueued: fc.integer({ min: 0, max: 25 }),
      wait: fc.constantFrom(0, 30 * second, 4 * minute, 6 * minute, hour),
      kills: fc.boolean(),
      cancels: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (walk) => {
        const own = world();
        const fn = work((n) => own.clock.sleep(n, new AbortController().signal).then(boom));
        const { engine, functions: caller } = processOver(own, [fn]);
        await team(engine, 'run:errored');
        const begin = async () => {
          const store = mortal(rerunning(own.storage, (write) => write % 3));
          const { functions } = await startedOver({ ...own, storage: store.storage }, [fn], { lease: '3s' });
          return { ...store, functions };
        };
        const living = [await begin(), await begin()];
        for (const { enqueued, wait, kills, cancels } of walk) {
          const sleeps = Array.from({ length: enqueued }, (_, n) => n * 300);
          if (enqueued > 0) await caller.enqueueMany(fn, sleeps);
          await own.clock.advance(wait);
          if (cancels) await caller.cancel({ function: 'work', state: ['queued', 'running'] });
          if (!kills) continue;
          living.shift()?.kill();
          living.push(await begin());
        }
        await own.clock.advance(hour);
        const ended = await caller.list({ state: ['failed', 'cancelled'], limit: 10_000 });
        const counted = (await reportsIn(own)).map((one) => Number(/and (\d+) others?/.exec(one)?.[1] ?? 0) + 1);
        expect(counted.reduce((sum, count) => sum + count, 0)).toBe(ended.length);
        expect(await caller.list({ state: ['queued', 'scheduled', 'running'] })).toEqual([]);
        for (const { functions } of living) void functions.stop({ deadline: 0 });
      }),
      { numRuns: 6 },
    );
  }, 60_000);

  test('that were held back for a workspace that is gone by then are in the log', async () => {
    const own = world();
    const fn = work(boom);
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:errored');
    await functions.enqueueMany(
      fn,
      Array.from({ length: 12 }, (_, n) => n),
    );
    await own.clock.settle();
    await orThrow(removeWorkspace(engine, hostPrincipal, { workspaceId: 'ws-shop' }));
    own.log.length = 0;
    await own.clock.advance(hour);
    expect(own.log).toEqual([
      {
        message: expect.stringContaining('its workspace does not exist'),
        fields: { function: 'work', workspace: 'ws-shop' },
      },
    ]);
  });

  test('of other functions do not count', async () => {
    const own = world();
    const [one, two] = [work(boom), work(boom, { name: 'other' })];
    const { engine, functions } = await startedOver(own, [one, two]);
    await team(engine, 'run:errored');
    for (const fn of [one, two])
      await functions.enqueueMany(
        fn,
        Array.from({ length: 12 }, (_, n) => n),
      );
    await own.clock.settle();
    expect(await reportsIn(own)).toHaveLength(20);
  });

  test('cancellations by a filter are grouped, too', async () => {
    const own = world();
    const fn = work(never);
    const { engine, functions } = processOver(own, [fn]);
    await functions.start();
    await functions.pause(fn);
    await team(engine, 'run:errored');
    await functions.enqueueMany(
      fn,
      Array.from({ length: 500 }, (_, n) => n),
    );
    expect(await functions.cancel({ function: 'work' })).toBe(500);
    await own.clock.advance(6 * minute);
    const sent = await reportsIn(own);
    expect(sent).toHaveLength(11);
    expect(sent[10]).toBe(
      'run:errored canceled work: cancelled by a filter (and 489 others since the last notification)',
    );
  });
});

test('ten thousand runs that are enqueued at once are a thousand events, and the others are counted in the next one', async () => {
  const own = world();
  const fn = work((n) => n);
  const { engine, functions } = processOver(own, [fn]);
  await functions.start();
  await functions.pause(fn);
  await team(engine, 'run:created');
  await functions.enqueueMany(
    fn,
    Array.from({ length: 3000 }, (_, n) => n),
  );
  expect(await reportsIn(own)).toHaveLength(1000);
  await functions.enqueue(fn, 1);
  await functions.enqueue(fn, 1);
  expect((await reportsIn(own)).slice(1000)).toEqual([
    'run:created pending work (and 2000 others since the last notification)',
    'run:created pending work',
  ]);
});

describe('runs that are not started', () => {
  const late = (sent: readonly string[]): string[] => sent.filter((one) => one.startsWith('run:needs_attention'));

  test('need attention once, after ten minutes, until it is over', async () => {
    const own = world();
    const fn = work((n) => n);
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:needs_attention');
    await functions.pause(fn);
    for (let n = 0; n < 3; n += 1) await functions.enqueue(fn, n);
    await own.clock.advance(10 * minute - 1);
    expect(late(await reportsIn(own))).toEqual([]);
    await own.clock.advance(1);
    const sentence = 'run:needs_attention pending work: the oldest due run has waited for 10 minutes: it is paused';
    expect(late(await reportsIn(own))).toEqual([sentence]);
    expect(own.log.at(-1)).toMatchObject({ message: 'Runs of a function are late', fields: { function: 'work' } });
    await functions.enqueue(fn, 4);
    await own.clock.advance(hour);
    expect(late(await reportsIn(own))).toHaveLength(1);
    await functions.resume(fn);
    await own.clock.advance(hour);
    expect(await functions.list({ state: 'succeeded' })).toHaveLength(4);
    await functions.pause(fn);
    await functions.enqueue(fn, 5);
    await own.clock.advance(11 * minute);
    expect(late(await reportsIn(own))).toEqual([sentence, sentence]);
  });

  test('are seen by a process that does not have the function, once over all processes', async () => {
    const own = world();
    const fn = work((n) => n);
    const gone = await startedOver(own, [fn]);
    await team(gone.engine, 'run:needs_attention');
    await gone.functions.stop();
    await gone.functions.enqueue(fn, 1);
    await startedOver(own, []);
    await startedOver(own, []);
    await own.clock.advance(hour);
    expect(late(await reportsIn(own))).toEqual([
      'run:needs_attention pending work: the oldest due run has waited for 10 minutes: no process has begun it in version 1',
    ]);
  });

  test('behind a limit are late; behind a run of higher priority, too', async () => {
    const own = world();
    const fn = work(never, { concurrency: 1, timeout: false });
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:needs_attention');
    await functions.enqueue(fn, 0);
    await functions.enqueue(fn, 1, { priority: 10 });
    await own.clock.advance(5 * minute);
    await functions.enqueue(fn, 2, { priority: 90 });
    await own.clock.advance(5 * minute);
    expect(late(await reportsIn(own))).toEqual([
      'run:needs_attention pending work: the oldest due run has waited for 10 minutes: a limit or rate holds it, or all processes are busy',
    ]);
  });

  test('that wait for their time, or for their next attempt, are not late', async () => {
    const own = world();
    const fn = work(boom, { retry: { attempts: 3, backoff: 'fixed', delay: '1h' } });
    const { engine, functions } = await startedOver(own, [fn]);
    await team(engine, 'run:needs_attention');
    await functions.enqueue(fn, 0, { delay: '3h' });
    await functions.enqueue(fn, 0);
    await own.clock.advance(5 * hour);
    expect(late(await reportsIn(own))).toEqual([]);
  });

  test('a launch that no process makes needs attention; also when a process comes back and makes it', async () => {
    const own = world();
    const nightly = defineFunction({ name: 'nightly', cron: '0 2 * * *', notify: 'ws-shop' }, () => undefined);
    const first = await startedOver(own, [nightly]);
    await team(first.engine, 'run:needs_attention');
    await own.clock.advance(hour);
    await first.functions.stop();
    await own.clock.advance(2 * hour);
    expect(late(await reportsIn(own))).toEqual([]);
    const second = await startedOver(own, [nightly]);
    await own.clock.settle();
    expect(late(await reportsIn(own))).toEqual([
      'run:needs_attention pending nightly: the launch of 2026-01-01 02:00 UTC was not made for 60 minutes: no process was there',
    ]);
    await second.functions.stop();
    await startedOver(own, []);
    await own.clock.advance(48 * hour);
    expect(late(await reportsIn(own)).slice(1)).toEqual([
      'run:needs_attention pending nightly: the launch of 2026-01-02 02:00 UTC was not made for 10 minutes: no process makes it',
    ]);
  });

  test('a process that has nothing to do is not woken by the check', async () => {
    const own = world();
    const nightly = defineFunction({ name: 'nightly', cron: '0 2 * * *', notify: 'ws-shop' }, () => undefined);
    let writes = 0;
    const counted: Storage = {
      ...own.storage,
      read: (read) => own.storage.read(read),
      waitForChange: (...args) => own.storage.waitForChange(...args),
      close: () => own.storage.close(),
      write: (write) => {
        writes += 1;
        return own.storage.write(write);
      },
    };
    await startedOver({ ...own, storage: counted }, [nightly]);
    await own.clock.settle();
    writes = 0;
    await own.clock.advance(10 * 24 * hour);
    expect(writes).toBeLessThan(60);
  });
});

describe('facts for listeners', () => {
  const names = [
    'function.enqueued',
    'function.started',
    'function.ended',
    'function.late',
    'function.blocked',
  ] as const;
  type Heard = { readonly name: string } & Readonly<Record<string, unknown>>;

  function listen({ engine }: Process): Heard[] {
    const heard: Heard[] = [];
    for (const name of names) engine.events.on(name, (fact: object) => void heard.push({ name, ...fact }));
    return heard;
  }

  test('follow a run from its enqueue over its attempts to its end', async () => {
    const own = world();
    const fn = work((n) => (n === 1 ? n : boom()), {
      retry: { attempts: 2, backoff: 'fixed', delay: '10s', jitter: 0 },
    });
    const one = await startedOver(own, [fn]);
    const heard = listen(one);
    const good = await one.functions.enqueue(fn, 1, { delay: '1m' });
    await own.clock.advance(minute);
    const at = Date.UTC(2026, 0, 1, 0, 1);
    const run = { function: 'work', runId: good.id };
    expect(heard.splice(0)).toEqual([
      { name: 'function.enqueued', ...run, dueAt: at },
      { name: 'function.started', ...run, attempt: 1, waited: 0 },
      { name: 'function.ended', ...run, outcome: 'succeeded', attempt: 1, took: 0, error: null },
    ]);
    await one.functions.enqueue(fn, 2);
    await own.clock.advance(minute);
    expect(heard.map(({ name, attempt, outcome, error }) => [name, attempt, outcome, error])).toEqual([
      ['function.enqueued', undefined, undefined, undefined],
      ['function.started', 1, undefined, undefined],
      ['function.started', 2, undefined, undefined],
      ['function.ended', 2, 'failed', 'Error'],
    ]);
  });

  test('a run that waits for a slot says how long it waited; one that is cancelled never ran', async () => {
    const own = world();
    const fn = work((n) => own.clock.sleep(n, new AbortController().signal), { timeout: false });
    const one = await startedOver(own, [fn], { concurrency: 1 });
    const heard = listen(one);
    await one.functions.enqueueMany(fn, [3000, 1000, 5]);
    const late = await one.functions.enqueue(fn, 7, { delay: '1h' });
    await late.cancel();
    await own.clock.advance(minute);
    const started = heard.filter(({ name }) => name === 'function.started').map(({ waited }) => waited);
    expect(started).toEqual([0, 3000, 4000]);
    const ended = heard.filter(({ name }) => name === 'function.ended').map(({ outcome, took }) => [outcome, took]);
    expect(ended).toEqual([
      ['cancelled', null],
      ['succeeded', 3000],
      ['succeeded', 1000],
      ['succeeded', 5],
    ]);
  });

  test('a late function without a workspace is a fact, too', async () => {
    const own = world();
    const fn = defineFunction<number>({ name: 'quiet' }, () => undefined);
    const one = await startedOver(own, [fn]);
    const heard = listen(one);
    await one.functions.pause(fn);
    const run = await one.functions.enqueue(fn, 1);
    await own.clock.advance(hour);
    expect(heard.filter(({ name }) => name === 'function.late')).toEqual([
      {
        name: 'function.late',
        function: 'quiet',
        runId: run.id,
        since: Date.UTC(2026, 0, 1),
        reason: 'the oldest due run has waited for 10 minutes: it is paused',
      },
    ]);
  });

  test.each([
    ['and returns', (_n: number) => undefined],
    ['and goes on', async (_n: number) => never()],
  ])('name the run whose handler blocks the event loop %s', async (_name, then) => {
    const own = world();
    let skipped = 0;
    // Time passes, and no sleeper wakes: so it is while JavaScript computes.
    const clock: ManualClock = { ...own.clock, monotonic: () => own.clock.monotonic() + skipped };
    const fn = work((n) => {
      if (n === 1) skipped += 7 * second;
      return then(n);
    });
    const one = await startedOver({ ...own, clock }, [fn]);
    const heard = listen(one);
    const run = await one.functions.enqueue(fn, 1);
    await own.clock.advance(2 * second);
    const blocked = heard.filter(({ name }) => name === 'function.blocked');
    expect(blocked).toEqual([
      { name: 'function.blocked', function: 'work', runId: run.id, seconds: expect.any(Number), candidates: 1 },
    ]);
    expect(blocked[0]?.['seconds']).toBeGreaterThanOrEqual(6.4);
    expect(own.log).toContainEqual({
      message: expect.stringMatching(/^The event loop was blocked while functions ran/),
      fields: { seconds: expect.any(Number), runs: [run.id], candidates: 1 },
    });
  });

  test('a handler that only takes long blocks nothing', async () => {
    const own = world();
    const fn = work(() => own.clock.sleep(hour, new AbortController().signal), { timeout: false });
    const one = await startedOver(own, [fn]);
    const heard = listen(one);
    await one.functions.enqueue(fn, 1);
    await own.clock.advance(2 * hour);
    expect(heard.filter(({ name }) => name === 'function.blocked')).toEqual([]);
  });
});

describe('metrics', () => {
  const textOf = async ({ engine }: Process): Promise<string> =>
    (await readMetrics(engine, hostPrincipal, { format: 'prometheus' }))._unsafeUnwrap() as string;

  test('count what ended, and measure waits and attempts, by function', async () => {
    const own = world();
    const fn = work((n) => (n < 0 ? boom() : own.clock.sleep(n, new AbortController().signal)), { timeout: false });
    const one = processOver(own, [fn], { concurrency: 1 }, { observer: prometheusObserver() });
    const ended = (outcome: string) => `signalbox_function_runs_total{function="work",outcome="${outcome}"}`;
    expect(await textOf(one)).toContain(`${ended('failed')} 0\n`);
    await one.functions.start();
    await one.functions.enqueueMany(fn, [3000, 2000, -1]);
    await (await one.functions.enqueue(fn, 1, { delay: '1h' })).cancel();
    await own.clock.advance(minute);
    const text = await textOf(one);
    expect(text).toContain(`${ended('succeeded')} 2\n`);
    expect(text).toContain(`${ended('failed')} 1\n`);
    expect(text).toContain(`${ended('cancelled')} 1\n`);
    expect(text).toContain('signalbox_function_attempt_lag_seconds_sum{function="work"} 8\n');
    expect(text).toContain('signalbox_function_attempt_lag_seconds_count{function="work"} 3\n');
    expect(text).toContain('signalbox_function_attempt_duration_seconds_sum{function="work"} 5\n');
  });

  test('name no function to callers who may not read agents', async () => {
    const own = world();
    const waiting = processOver(own, [work(() => undefined)], {}, { observer: prometheusObserver() });
    await waiting.functions.enqueue(
      work(() => undefined),
      1,
    );
    const text = (await readMetrics(waiting.engine, anonymousPrincipal, { format: 'prometheus' }))._unsafeUnwrap();
    expect(text).toContain('signalbox_store_index');
    expect(text).not.toContain('signalbox_function');
    expect(await textOf(waiting)).toContain('signalbox_function_queued{function="work"} 1');
  });

  test('show what is due and not started, and since when', async () => {
    const own = world();
    const [one, two] = [work(() => undefined), work(() => undefined, { name: 'other' })];
    const waiting = processOver(own, [one, two], {}, { observer: prometheusObserver() });
    await waiting.functions.enqueueMany(
      one,
      Array.from({ length: 300 }, (_, n) => n),
    );
    await own.clock.advance(90 * second);
    await waiting.functions.enqueue(two, 1, { priority: 90 });
    await own.clock.advance(30 * second);
    await waiting.functions.enqueue(two, 1, { delay: '1h' });
    const text = await textOf(waiting);
    expect(text).toContain(
      'signalbox_function_queued{function="other"} 1\nsignalbox_function_queued{function="work"} 300\n',
    );
    expect(text).toContain('signalbox_function_oldest_wait_seconds{function="other"} 30\n');
    expect(text).toContain('signalbox_function_oldest_wait_seconds{function="work"} 120\n');
  });

  test('count at most ten thousand waiting runs of a function, and those of the next one all the same', async () => {
    const own = world();
    const [one, two] = [work(() => undefined), work(() => undefined, { name: 'yet-another' })];
    const waiting = processOver(own, [one, two], {}, { observer: prometheusObserver() });
    for (let part = 0; part < 2; part += 1)
      await waiting.functions.enqueueMany(
        one,
        Array.from({ length: 6000 }, (_, n) => n),
      );
    await waiting.functions.enqueue(two, 1);
    const text = await textOf(waiting);
    expect(text).toContain('signalbox_function_queued{function="work"} 10000\n');
    expect(text).toContain('signalbox_function_queued{function="yet-another"} 1\n');
  });

  test('distinguish a bounded number of functions', async () => {
    const own = world();
    const many = Array.from({ length: 250 }, (_, n) => work(() => undefined, { name: `f${n}` }));
    const one = processOver(own, many, {}, { observer: prometheusObserver() });
    await one.functions.start();
    for (const fn of many) await one.functions.enqueue(fn, 1);
    await own.clock.settle();
    const names = new Set([...(await textOf(one)).matchAll(/runs_total\{function="(\w+)",/g)].map(([, name]) => name));
    expect(names.size).toBe(201);
    expect(await textOf(one)).toContain('signalbox_function_runs_total{function="_other",outcome="succeeded"} 50\n');
  });
});

describe('spans', () => {
  const host = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  interface Recorded {
    readonly start: SpanStart;
    readonly traceparent: string;
    end?: SpanEnd;
  }

  function recordingTracer(active?: string): { readonly tracer: Tracer; readonly spans: Recorded[] } {
    const spans: Recorded[] = [];
    const tracer: Tracer = {
      active: () => active,
      begin: (start) => {
        const id = (spans.length + 1).toString(16).padStart(16, '0');
        const span: Recorded = { start, traceparent: `${(start.parent ?? host).slice(0, 36)}${id}-01` };
        spans.push(span);
        return {
          traceparent: span.traceparent,
          end: (end = {}) => {
            span.end = end;
          },
        };
      },
    };
    return { tracer, spans };
  }

  test('of an enqueue and of each attempt are one trace, with the messages of the run', async () => {
    const own = world();
    const { tracer, spans } = recordingTracer(host);
    const fn = work((n) => (n === 1 ? 1 : boom()), { retry: { attempts: 2 } });
    const one = processOver(own, [fn], {}, { tracer });
    await one.functions.start();
    await team(one.engine, 'run:errored');
    spans.length = 0;
    const run = await one.functions.enqueue(fn, 2);
    await own.clock.advance(minute);
    expect(spans.map(({ start, end }) => [start.name, start.parent, start.attributes, end?.failure])).toEqual([
      ['function enqueue', host, { 'signalbox.function': 'work', 'signalbox.runs': 1 }, undefined],
      ...[1, 2].map((attempt) => [
        'function attempt',
        spans[0]?.traceparent,
        { 'signalbox.function': 'work', 'signalbox.run': run.id, 'signalbox.attempt': attempt },
        'Error',
      ]),
    ]);
    for (const { end } of spans) expect(end?.at).toBeGreaterThan(0);
    const [event] = (await own.storage.read((view) => view.list(events)))._unsafeUnwrap();
    expect(event?.record.traceparent).toBe(spans[0]?.traceparent);
  });

  test('of runs that are enqueued together have one parent; without an active span the enqueue begins a trace', async () => {
    const own = world();
    const { tracer, spans } = recordingTracer();
    const fn = work(() => undefined);
    const one = processOver(own, [fn], {}, { tracer });
    await one.functions.start();
    await one.functions.enqueueMany(fn, [1, 2]);
    await own.clock.settle();
    expect(spans.map(({ start }) => [start.name, start.parent])).toEqual([
      ['function enqueue', undefined],
      ['function attempt', spans[0]?.traceparent],
      ['function attempt', spans[0]?.traceparent],
    ]);
    expect(spans.map(({ end }) => end?.attributes?.['signalbox.status'])).toEqual([
      undefined,
      'succeeded',
      'succeeded',
    ]);
  });

  test('of an enqueue that is refused or whose store fails say so', async () => {
    const own = world();
    const { tracer, spans } = recordingTracer();
    const { storage, kill } = mortal(own.storage);
    const fn = work(() => undefined);
    const one = processOver({ ...own, storage }, [fn], {}, { tracer });
    kill();
    await expect(one.functions.enqueue(fn, 1)).rejects.toThrow();
    expect(spans.map(({ end }) => end?.failure)).toEqual(['FunctionsError']);
  });

  test('without a tracer the trace takes no room in a run', async () => {
    const own = world();
    const fn = work(() => undefined);
    const one = processOver(own, [fn]);
    await one.functions.enqueue(fn, 1);
    const rows = await own.storage.read((view) => view.list(runs).map(({ record }) => record.trace));
    expect(rows._unsafeUnwrap()).toEqual([undefined]);
  });
});
