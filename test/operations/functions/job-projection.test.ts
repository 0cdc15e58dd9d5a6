import fc from 'fast-check';
import type { ResultAsync } from 'neverthrow';
import { afterEach, describe, expect, test } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { orThrow } from '../../../src/client/index.js';
import { defineFunction, type FunctionDefinition } from '../../../src/functions/define-function.js';
import {
  runAllocationId,
  runJobId,
  runOfAllocationId,
  runOfJobId,
  runsOfAllocationPrefix,
  runsOfPrefix,
} from '../../../src/functions/job-projection.js';
import { createEngine } from '../../../src/index.js';
import type { QuotaRule } from '../../../src/jobs/admission/namespace-quota.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { periodicLaunches } from '../../../src/jobs/periodic/periodic-launch.js';
import { jobStubs, jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { Functions } from '../../../src/operations/functions/functions-api.js';
import type { Storage } from '../../../src/ports/storage.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';

const opened: Functions[] = [];
afterEach(() => {
  for (const functions of opened.splice(0)) void functions.stop({ deadline: 0 });
});

interface World {
  readonly clock: ReturnType<typeof manualClock>;
  readonly storage: Storage;
  readonly ids: ReturnType<typeof sequentialIds>;
}
const world = (): World => ({ clock: manualClock(), storage: memoryStorage(), ids: sequentialIds() });

/** A process of a service over a store, and a client of its engine. */
async function serviceWith(
  definitions: readonly FunctionDefinition<never, unknown>[],
  { clock, storage, ids }: World = world(),
  { starts = true, namespace = 'default', quotas = [] as readonly QuotaRule[] } = {},
) {
  const engine = createEngine({ storage, clock, ids, delivery: recordingDelivery({ clock }) }, { jobs: { quotas } });
  const functions = createFunctions(engine, definitions, { namespace });
  opened.push(functions);
  if (starts) await functions.start();
  return { clock, storage, ids, engine, functions, box: engine.as(hostPrincipal) };
}

type Service = Awaited<ReturnType<typeof serviceWith>>;

const payloadOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const n = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => checkedN(value) } };
function checkedN(value: unknown) {
  const isNumber = typeof (value as { n?: unknown } | null)?.n === 'number';
  return isNumber ? { value: value as { n: number } } : { issues: [{ message: 'n is a number' }] };
}

const work = (
  options: object = {},
  handler: (input: { n: number }, run: Parameters<Parameters<typeof defineFunction>[1] & object>[1]) => unknown = (
    input,
  ) => input.n * 2,
) => defineFunction<{ n: number }, { n: number }, unknown>({ name: 'work', input: n, ...options }, handler);

async function indexOf({ storage }: Pick<World, 'storage'>): Promise<number> {
  return (await storage.read((view) => view.index))._unsafeUnwrap();
}

async function jobOf({ box }: Service, id = 'work') {
  const { value } = await orThrow(box.jobs.read(id));
  if (value === undefined) throw new Error(`there is no job ${id}`);
  return value;
}

const allocationOf = async ({ box }: Service, child: string) => (await orThrow(box.jobs.allocations(child))).value?.[0];

/** The error of a call that is refused. */
async function refusalOf(call: Refusable): Promise<{ readonly type: string; readonly message?: string }> {
  const result = await call;
  expect(result.isErr()).toBe(true);
  return result._unsafeUnwrapErr();
}
type Refusable = ResultAsync<unknown, { readonly type: string; readonly message?: string }>;

async function logOf({ box }: Service, id: string, options: object = {}): Promise<string> {
  let text = '';
  const all = { task: 'function', type: 'stdout' as const, plain: true, ...options };
  for await (const piece of box.files.logs(id, all))
    if (piece instanceof Uint8Array) text += Buffer.from(piece).toString();
  return text;
}

describe('a declared function', () => {
  test('is a parameterized job with its policy, and declaring it again writes nothing', async () => {
    const own = await serviceWith([work({ timeout: '30s', retry: { attempts: 8 }, priority: 70 })]);
    const job = await jobOf(own);
    expect(job).toMatchObject({
      ...{ ID: 'work', Type: 'batch', Namespace: 'default', Priority: 70, Version: 0, Status: 'running', Stop: false },
      ...{ Periodic: null, ParameterizedJob: { Payload: 'optional' } },
      TaskGroups: [
        {
          Count: 1,
          Tasks: [
            { Driver: 'function', Config: { function: 'work', version: 1, timeout: '30s', retry: { attempts: 8 } } },
          ],
        },
      ],
    });
    await own.functions.stop();
    const before = await indexOf(own);
    const again = await serviceWith([work({ timeout: '30s', retry: { attempts: 8 }, priority: 70 })], own);
    await again.functions.stop();
    expect(await jobOf(again)).toEqual(job);
    const rows = await own.storage.read((view) =>
      [jobs, jobStubs, jobSummaries].map((table) => view.tableIndex(table)),
    );
    expect(Math.max(...rows._unsafeUnwrap())).toBeLessThanOrEqual(before);
  });

  test('is a periodic job if it declares one cron, and its launches are only those of the function', async () => {
    const cron = { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', input: { n: 1 } };
    const own = await serviceWith([work({ cron }), work({ name: 'two', cron: [cron, { ...cron, id: 'b' }] })]);
    const periodic = {
      Spec: '30 2 * * *',
      TimeZone: 'Europe/Berlin',
      SpecType: 'cron',
      Enabled: true,
      ProhibitOverlap: true,
    };
    expect(await jobOf(own)).toMatchObject({ Periodic: periodic, ParameterizedJob: null });
    expect(await jobOf(own, 'two')).toMatchObject({ Periodic: null, ParameterizedJob: {} });
    expect((await own.storage.read((view) => view.list(periodicLaunches)))._unsafeUnwrap()).toEqual([]);
    own.engine.start();
    await own.clock.advance(2 * day);
    const { items } = (await orThrow(own.box.jobs.list({ prefix: 'work/' }))).value;
    expect(items.map(({ ID, ParentID, Status }) => [/^work\/periodic-\d+$/.test(ID), ParentID, Status])).toEqual([
      [true, 'work', 'dead'],
      [true, 'work', 'dead'],
    ]);
    const launched = await jobOf(own, items[0]?.ID);
    expect(launched).toMatchObject({ Periodic: null, ParameterizedJob: null, Dispatched: false });
    await own.engine.stop();
  });

  test('that has changed is a new version, whose diff shows what', async () => {
    const own = await serviceWith([work({ timeout: '30s' })]);
    await own.functions.stop();
    const changed = work({ timeout: '1m', retry: { attempts: 2 }, version: 2, concurrency: 3 });
    const next = await serviceWith([changed], own);
    const { value } = await orThrow(next.box.jobs.versions('work', { diffs: true }));
    expect(value.versions.map(({ Version }) => Version)).toEqual([1, 0]);
    const config = value.diffs?.[0]?.TaskGroups?.[0]?.Tasks?.[0]?.Objects?.find(({ Name }) => Name === 'Config');
    const changes = Object.fromEntries((config?.Fields ?? []).map(({ Name, Old, New }) => [Name, [Old, New]]));
    expect(changes).toMatchObject({
      timeout: ['30s', '1m0s'],
      'retry[attempts]': ['5', '2'],
      version: ['1', '2'],
      'concurrency[0][limit]': ['', '3'],
    });
  });

  test('that is enqueued before a process runs it is a job, too', async () => {
    const enqueues = defineFunction<{ n: number }>({ name: 'work' });
    const own = await serviceWith([enqueues], world(), { starts: false });
    await own.functions.enqueue(enqueues, { n: 1 });
    const { TaskGroups } = await jobOf(own);
    expect(TaskGroups[0]?.Tasks[0]?.Config).toEqual({ function: 'work', version: 1 });
    const { value } = await orThrow(own.box.jobs.summary('work'));
    expect(value?.Children).toEqual({ Pending: 1, Running: 0, Dead: 0 });
  });

  test('of a name that a job has is refused, and that job stays', async () => {
    const own = await serviceWith([work({ name: 'other' })]);
    const Tasks = [{ Name: 't', Driver: 'mock_driver' }];
    await orThrow(own.box.jobs.register({ ID: 'work', Type: 'batch', TaskGroups: [{ Name: 'g', Tasks }] }));
    const service = await serviceWith([work()], own, { starts: false });
    const message = expect.stringMatching(/'default' has a job "work" of another kind: purge/);
    await expect(service.functions.start()).rejects.toMatchObject({ type: 'permission_denied', message });
    await expect(service.functions.enqueue(work(), { n: 1 })).rejects.toThrow();
    expect((await jobOf(own)).TaskGroups[0]?.Name).toBe('g');
    await orThrow(own.box.jobs.stop('work', { purge: true }));
    await service.functions.start();
    expect(await jobOf(own)).toMatchObject({ TaskGroups: [{ Name: 'function' }] });
  });

  test('is not collected, however long it is paused', async () => {
    const own = await serviceWith([work()]);
    await orThrow(own.box.jobs.stop('work'));
    await own.clock.advance(400 * day);
    await orThrow(own.box.maintenance.collectGarbage());
    expect(await jobOf(own)).toMatchObject({ Status: 'dead', Stop: true });
  });
});

describe('stop and start', () => {
  test('of the job pause and resume the function, in either interface', async () => {
    const own = await serviceWith([work()]);
    await orThrow(own.box.jobs.stop('work'));
    expect((await orThrow(own.box.functions.read('work'))).value?.isPaused).toBe(true);
    const stopped = await jobOf(own);
    expect(stopped).toMatchObject({ Stop: true, Status: 'dead', Version: 1 });
    const run = await own.functions.enqueue(work(), { n: 1 });
    await own.clock.settle();
    expect((await run.status()).state).toBe('queued');
    await orThrow(own.box.jobs.stop('work'));
    expect((await jobOf(own)).Version).toBe(1);

    await orThrow(
      own.box.jobs.register({ ...stopped, Stop: false } as never, { enforceIndex: stopped.JobModifyIndex }),
    );
    await own.clock.settle();
    expect(await jobOf(own)).toMatchObject({ Stop: false, Status: 'running', Version: 2 });
    expect((await run.status()).state).toBe('succeeded');

    await own.functions.pause(work());
    expect(await jobOf(own)).toMatchObject({ Stop: true });
    await orThrow(own.box.functions.resume('work'));
    expect(await jobOf(own)).toMatchObject({ Stop: false });
  });

  test('a pause that began before the declaration is that of the job, and a changed policy does not end it', async () => {
    const own = await serviceWith([work()], world(), { starts: false });
    await own.functions.pause(work());
    await own.functions.start();
    expect(await jobOf(own)).toMatchObject({ Stop: true, Version: 0 });
    await own.functions.stop();
    const next = await serviceWith([work({ priority: 3 })], own);
    expect(await jobOf(next)).toMatchObject({ Stop: true, Version: 1, Priority: 3 });
  });

  test('the pause of a key leaves the job', async () => {
    const keyed = work({ concurrency: { limit: 1, key: (input: { n: number }) => String(input.n) } });
    const own = await serviceWith([keyed]);
    await own.functions.pause(keyed, '1');
    expect(await jobOf(own)).toMatchObject({ Stop: false, Version: 0 });
  });

  test('a purge discards the runs, and the function itself when no process has it', async () => {
    const held = new Promise<void>(() => undefined);
    const definition = work({}, async ({ n: number }, run) => {
      if (number === 0)
        await Promise.race([held, new Promise((_, reject) => run.signal.addEventListener('abort', reject))]);
      return number;
    });
    const own = await serviceWith([definition]);
    for (const number of [1, 0]) await own.functions.enqueue(definition, { n: number });
    await own.functions.enqueue(definition, { n: 2 }, { delay: '1h' });
    await own.clock.settle();
    await orThrow(own.box.jobs.stop('work', { purge: true }));
    expect(await own.functions.list()).toEqual([]);
    expect(await jobOf(own)).toMatchObject({ Stop: true });
    await own.functions.stop();

    const bystander = await serviceWith([], own, { starts: false });
    await orThrow(bystander.box.jobs.stop('work', { purge: true }));
    expect((await orThrow(bystander.box.jobs.list({}))).value.items).toEqual([]);
    expect((await orThrow(bystander.box.functions.list({}))).value.items).toEqual([]);
  });
});

describe('a dispatch', () => {
  test('enqueues a run with the JSON of the payload, the meta and the priority', async () => {
    const own = await serviceWith([work()]);
    const meta = { tenant: 'a' };
    const answer = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 21 }), meta, priority: 80 }));
    expect(answer).toMatchObject({ evalId: '', dispatchedJobId: `work/dispatch-${answer.jobCreateIndex}` });
    await own.clock.settle();
    const [run] = await own.functions.list();
    expect(run).toMatchObject({
      id: `work/${answer.jobCreateIndex}`,
      state: 'succeeded',
      result: 42,
      meta,
      priority: 80,
    });
    const child = await jobOf(own, answer.dispatchedJobId);
    expect(child).toMatchObject({ ParentID: 'work', Dispatched: true, Status: 'dead', Meta: meta, Priority: 80 });
    expect(Buffer.from(child.Payload ?? '', 'base64').toString()).toBe('{"n":21}');
    const { value } = await orThrow(own.box.jobs.summary('work'));
    expect(value?.Children).toEqual({ Pending: 0, Running: 0, Dead: 1 });
  });

  test('with a token that was used gives the first run, and refuses another input', async () => {
    const own = await serviceWith([work()]);
    const options = { payload: payloadOf({ n: 1 }), idempotencyToken: 'once' };
    const first = await orThrow(own.box.jobs.dispatch('work', options));
    const second = await orThrow(own.box.jobs.dispatch('work', options));
    expect(second.dispatchedJobId).toBe(first.dispatchedJobId);
    const other = own.box.jobs.dispatch('work', { ...options, payload: payloadOf({ n: 2 }) });
    expect(await refusalOf(other)).toMatchObject({ type: 'enqueue_refused', reason: 'mismatch' });
  });

  test.each([
    ['no JSON', { payload: Buffer.from('n: 1').toString('base64') }, 'invalid_request', /JSON of its input/],
    ['no text', { payload: Buffer.from([0xff, 0xfe]).toString('base64') }, 'invalid_request', /JSON of its input/],
    ['no base64', { payload: '{"n":1}' }, 'bad_request', /base64/],
    ['an input that the schema refuses', { payload: payloadOf({ n: 'x' }) }, 'enqueue_refused', /n is a number/],
    ['no input', {}, 'enqueue_refused', /n is a number/],
    [
      'a template of IDs',
      { payload: payloadOf({ n: 1 }), idPrefixTemplate: 'a' },
      'invalid_request',
      /named by their numbers/,
    ],
    ['a long token', { payload: payloadOf({ n: 1 }), idempotencyToken: 'x'.repeat(300) }, 'invalid_request', /256/],
    ['a priority', { payload: payloadOf({ n: 1 }), priority: 101 }, 'invalid_request', /1 to 100/],
    [
      'much meta',
      { payload: payloadOf({ n: 1 }), meta: Object.fromEntries([...Array(17).keys()].map((i) => [`k${i}`, ''])) },
      'invalid_request',
      /16 entries/,
    ],
  ])('with %s enqueues nothing', async (_, options, type, message) => {
    const own = await serviceWith([work()]);
    const refusal = await refusalOf(own.box.jobs.dispatch('work', options as never));
    expect(refusal).toMatchObject({ type, message: expect.stringMatching(message) });
    expect(await own.functions.list()).toEqual([]);
  });

  test('of a paused function is refused, and of one that this process cannot check', async () => {
    const own = await serviceWith([work()]);
    const elsewhere = await serviceWith([], own, { starts: false });
    const payload = payloadOf({ n: 1 });
    expect(await refusalOf(elsewhere.box.jobs.dispatch('work', { payload }))).toMatchObject({ reason: 'not_defined' });
    await own.functions.pause(work());
    const refusal = await refusalOf(own.box.jobs.dispatch('work', { payload }));
    expect(refusal).toMatchObject({ reason: 'stopped', message: expect.stringMatching(/paused.*job start/) });
  });

  test('a forced launch runs the schedule now, and is refused without one', async () => {
    const cron = { schedule: '0 3 * * *', input: { n: 5 } };
    const own = await serviceWith([work({ cron }), work({ name: 'other' })]);
    await orThrow(own.box.jobs.forceLaunch('work'));
    await own.clock.settle();
    expect(await own.functions.list()).toMatchObject([{ function: 'work', state: 'succeeded', input: { n: 5 } }]);
    expect(await refusalOf(own.box.jobs.forceLaunch('other'))).toMatchObject({ type: 'force_refused' });
  });
});

describe('a run', () => {
  test('is pending, running and dead, with one allocation from its first attempt on', async () => {
    let finish = (): void => undefined;
    const definition = work(
      {},
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const own = await serviceWith([definition]);
    const later = await own.functions.enqueue(definition, { n: 1 }, { delay: '1h' });
    const id = `work/dispatch-${later.id.slice('work/'.length)}`;
    expect(await jobOf(own, id)).toMatchObject({ Status: 'pending' });
    expect(await allocationOf(own, id)).toBeUndefined();
    expect((await orThrow(own.box.jobs.summary(id))).value?.Summary['function']).toMatchObject({ Queued: 1 });
    await own.clock.advance(hour + second);
    expect(await jobOf(own, id)).toMatchObject({ Status: 'running' });
    const allocation = await allocationOf(own, id);
    expect(allocation).toMatchObject({
      ...{ JobID: id, ClientStatus: 'running', DesiredStatus: 'run' },
      TaskStates: { function: { State: 'running', StartedAt: '2026-01-01T01:00:00.000Z' } },
    });
    expect((await orThrow(own.box.jobs.summary('work'))).value?.Children).toEqual({ Pending: 0, Running: 1, Dead: 0 });
    finish();
    await own.clock.settle();
    const read = (await orThrow(own.box.allocations.read(allocation?.ID ?? ''))).value;
    expect(read).toMatchObject({ ClientStatus: 'complete', Outcome: 'succeeded', Job: { ID: id, Status: 'dead' } });
    expect((await orThrow(own.box.jobs.versions(id))).value.versions).toHaveLength(1);
    expect((await orThrow(own.box.jobs.evaluations(id))).value).toEqual([]);
    expect((await orThrow(own.box.jobs.deployments(id))).value).toEqual([]);
    expect((await orThrow(own.box.jobs.services(id))).value).toEqual([]);
    expect((await orThrow(own.box.allocations.services(allocation?.ID ?? ''))).value).toEqual([]);
    expect(await orThrow(own.box.jobs.actions(id))).toEqual([]);
  });

  test('that fails shows its attempts and its error', async () => {
    const definition = work({ retry: { attempts: 2, delay: '10s', jitter: 0 } }, () => {
      throw new Error('the printer burns\nat once');
    });
    const own = await serviceWith([definition]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.settle();
    expect(await jobOf(own, id)).toMatchObject({ Status: 'pending' });
    const between = await allocationOf(own, id);
    expect(between).toMatchObject({ ClientStatus: 'pending', TaskStates: { function: { State: 'pending' } } });
    expect(between?.TaskStates?.['function']?.Events?.map(({ Type }) => Type)).toEqual([
      ...['Received', 'Started', 'Terminated', 'Restarting'],
    ]);
    await own.clock.advance(minute);
    expect(await jobOf(own, id)).toMatchObject({ Status: 'dead', StatusDescription: 'the printer burns' });
    expect(await allocationOf(own, id)).toMatchObject({
      ...{ ClientStatus: 'failed', ClientDescription: 'the printer burns', Outcome: 'failed' },
      TaskStates: { function: { State: 'dead', Failed: true, Restarts: 1 } },
    });
    const { items } = (await orThrow(own.box.jobs.list({ prefix: id }))).value;
    expect(items).toMatchObject([{ ID: id, Outcome: 'failed', JobSummary: { Summary: { function: { Failed: 1 } } } }]);
  });

  test.each([
    ['its job', (own: Service, id: string) => own.box.jobs.stop(id)],
    [
      'its allocation',
      async (own: Service, id: string) => own.box.allocations.stop((await allocationOf(own, id))?.ID ?? ''),
    ],
  ])('is cancelled by a stop of %s', async (_, stop) => {
    const definition = work(
      {},
      (_input, { signal }) =>
        new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const own = await serviceWith([definition]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.settle();
    await orThrow((await stop(own, id)) as never);
    await own.clock.settle();
    expect(await own.functions.list()).toMatchObject([{ state: 'cancelled' }]);
    expect(await jobOf(own, id)).toMatchObject({ Status: 'dead', Stop: true });
    expect(await allocationOf(own, id)).toMatchObject({ DesiredStatus: 'stop', Outcome: 'stopped' });
    await orThrow(own.box.jobs.stop(id, { purge: true }));
    expect(await own.functions.list()).toEqual([]);
    expect((await orThrow(own.box.jobs.summary('work'))).value?.Children.Dead).toBe(0);
  });

  test('that times out is shown as timed out', async () => {
    const definition = work({ timeout: '10s', retry: { attempts: 1 } }, () => new Promise(() => undefined));
    const own = await serviceWith([definition]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.advance(minute);
    const { items } = (await orThrow(own.box.jobs.list({ prefix: 'work/' }))).value;
    expect(items).toMatchObject([{ ID: id, Status: 'dead', Outcome: 'timed_out' }]);
    expect(await allocationOf(own, id)).toMatchObject({ ClientStatus: 'failed' });
  });

  test('writes no row of a job, allocation or evaluation', async () => {
    const own = await serviceWith([work()]);
    const tables = [jobs, jobStubs, jobSummaries, allocations, evaluations];
    const indexes = async () =>
      (await own.storage.read((view) => tables.map((table) => view.tableIndex(table))))._unsafeUnwrap();
    const before = await indexes();
    for (let number = 0; number < 3; number += 1) await own.functions.enqueue(work(), { n: number });
    await own.clock.settle();
    expect(await indexes()).toEqual(before);
  });

  test('with an input that is stored apart has it as its payload', async () => {
    const definition = defineFunction<{ text: string }>({ name: 'long' }, () => undefined);
    const own = await serviceWith([definition]);
    const input = { text: 'ä'.repeat(5000) };
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('long', { payload: payloadOf(input) }));
    const { Payload } = await jobOf(own, id);
    expect(JSON.parse(Buffer.from(Payload ?? '', 'base64').toString())).toEqual(input);
  });
});

describe('the log of a run', () => {
  const talks = work({ retry: { attempts: 2, delay: '1m', jitter: 0 } }, ({ n: number }, run) => {
    run.log.info(`attempt ${run.attempt} of ${number}`);
    run.log.error('careful');
    if (run.attempt === 1) throw new Error('not yet');
  });

  test('is that of its task, whole or in parts', async () => {
    const own = await serviceWith([talks]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 7 }) }));
    await own.clock.advance(5 * minute);
    const allocation = (await allocationOf(own, id))?.ID ?? '';
    expect(await logOf(own, allocation)).toBe('attempt 1 of 7\nattempt 2 of 7\n');
    expect(await logOf(own, allocation, { type: 'stderr' })).toBe('careful\ncareful\n');
    expect(await logOf(own, allocation, { offset: 8 })).toBe('1 of 7\nattempt 2 of 7\n');
    expect(await logOf(own, allocation, { offset: 5, origin: 'end' })).toBe('of 7\n');
    await expect(logOf(own, allocation, { task: 'main' })).rejects.toThrow(/"function"/);
  });

  test('is followed until the run ends', async () => {
    const own = await serviceWith([talks]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 7 }) }));
    await own.clock.settle();
    const allocation = (await allocationOf(own, id))?.ID ?? '';
    const followed = logOf(own, allocation, { follow: true });
    await own.clock.advance(5 * minute);
    expect(await followed).toBe('attempt 1 of 7\nattempt 2 of 7\n');
  });
});

describe('lists', () => {
  test('have one entry for a function, and its runs for a prefix of its name and a slash', async () => {
    const own = await serviceWith([work(), work({ name: 'work/b' })]);
    const runs = [];
    for (let number = 0; number < 5; number += 1)
      runs.push(await own.functions.enqueue(work(), { n: number }, { delay: '1h' }));
    const ids = runs.map(({ id }) => `work/dispatch-${id.slice('work/'.length)}`);
    const listed = async (request: object) => {
      const { value } = await orThrow(own.box.jobs.list(request));
      return { ids: value.items.map(({ ID }) => ID), next: value.nextToken };
    };
    expect((await listed({})).ids).toEqual(['work', 'work/b']);
    expect((await listed({ prefix: 'work' })).ids).toEqual(['work', 'work/b']);
    expect((await listed({ prefix: 'work/' })).ids).toEqual(['work/b', ...ids]);
    expect((await listed({ prefix: 'work/', reverse: true })).ids).toEqual([...ids.toReversed(), 'work/b']);
    expect((await listed({ prefix: 'work/dispatch-' })).ids).toEqual(ids);
    expect((await listed({ prefix: 'work/periodic-' })).ids).toEqual([]);
    expect((await listed({ prefix: ids[2] })).ids).toEqual([ids[2]]);
    expect((await listed({ prefix: 'work/', namespace: '*' })).ids).toEqual(['work/b', ...ids]);
    expect((await listed({ prefix: 'work/', filter: `Status == "dead"` })).ids).toEqual([]);
    expect((await listed({ prefix: 'work/', filter: `ParentID == "work"` })).ids).toEqual(ids);
    for (const reverse of [false, true]) {
      const all: string[] = [];
      let nextToken = '';
      do {
        const page = await listed({ prefix: 'work/', perPage: 2, nextToken, reverse });
        all.push(...page.ids);
        nextToken = page.next;
      } while (nextToken !== '');
      expect(all).toEqual(reverse ? [...ids.toReversed(), 'work/b'] : ['work/b', ...ids]);
    }
  });

  test.each([
    ['ParentID == "work"', 'all'],
    ['ParentID == work and Status == "pending"', 'all'],
    ['Status == "pending" and (ParentID == `work` and Meta is not nil)', 'all'],
    ['"/ParentID" == "work"', 'all'],
    ['ParentID == "work" and Status == "dead"', 'none'],
    ['ParentID == "work" and ParentID == "work/b"', 'none'],
    ['ParentID == "nobody"', 'none'],
    // Only a filter that no other job could match names the function.
    ['ParentID == "work" or ID == "work/b"', 'work/b'],
    ['not (ParentID == "work") and ID == "work/b"', 'work/b'],
  ])('have the runs of the function whose instances a filter asks for: %s', async (filter, expected) => {
    const own = await serviceWith([work(), work({ name: 'work/b' })]);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { id } = await own.functions.enqueue(work(), { n }, { delay: '1h', meta: { a: 'b' } });
      ids.push(`work/dispatch-${id.slice('work/'.length)}`);
    }
    const wanted = expected === 'all' ? ids : expected === 'none' ? [] : [expected];
    const isAny = filter.includes(' or ');
    for (const request of [{}, { namespace: '*' }, { prefix: 'wo' }, ...(isAny ? [] : [{ prefix: 'work/' }])])
      expect((await orThrow(own.box.jobs.list({ ...request, filter }))).value.items.map(({ ID }) => ID)).toEqual(
        wanted,
      );
    for (const prefix of ['x', 'work/periodic-'])
      expect((await orThrow(own.box.jobs.list({ prefix, filter }))).value.items).toEqual([]);
    const all: string[] = [];
    let nextToken = '';
    do {
      const { value } = await orThrow(own.box.jobs.list({ filter, perPage: 2, nextToken }));
      all.push(...value.items.map(({ ID }) => ID));
      nextToken = value.nextToken;
    } while (nextToken !== '');
    expect(all).toEqual(wanted);
  });

  test('wait for a change of a run, and of the numbers of runs', async () => {
    const own = await serviceWith([work()]);
    await own.functions.pause(work());
    await own.functions.enqueue(work(), { n: 1 });
    const { index } = await orThrow(own.box.jobs.list({ prefix: 'work/' }));
    const waits = own.box.jobs.list({ prefix: 'work/', index, wait: '1m' });
    const all = await orThrow(own.box.jobs.list({}));
    const waitsForAll = own.box.jobs.list({ index: all.index, wait: '1m' });
    await own.clock.settle();
    await own.functions.resume(work());
    await own.clock.settle();
    expect((await orThrow(waits)).value.items).toMatchObject([{ ParentID: 'work' }]);
    await orThrow(waitsForAll);
    const after = await orThrow(own.box.jobs.list({}));
    expect(after.value.items).toMatchObject([{ ID: 'work', JobSummary: { Children: { Dead: 1 } } }]);
  });

  test('a reader of one run waits for its end', async () => {
    const own = await serviceWith([work()]);
    const run = await own.functions.enqueue(work(), { n: 1 }, { delay: '30s' });
    const id = `work/dispatch-${run.id.slice('work/'.length)}`;
    const { index } = await orThrow(own.box.jobs.read(id));
    const ends = own.box.jobs.read(id, { index, wait: '5m' });
    await own.clock.advance(minute);
    expect((await orThrow(ends)).index).toBeGreaterThan(index);
    await own.clock.settle();
    expect(await jobOf(own, id)).toMatchObject({ Status: 'dead' });
  });

  test('of allocations have that of a run for the first eight digits of its ID', async () => {
    const own = await serviceWith([work()]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.settle();
    const allocation = await allocationOf(own, id);
    const prefix = allocation?.ID.slice(0, 8) ?? '';
    const listed = async (request: object) =>
      (await orThrow(own.box.allocations.list(request))).value.items.map(({ ID }) => ID);
    expect(await listed({ prefix })).toEqual([allocation?.ID]);
    expect(await listed({ prefix: allocation?.ID })).toEqual([allocation?.ID]);
    expect(await listed({})).toEqual([]);
    expect(await listed({ prefix, namespace: 'other' })).toEqual([]);
  });

  test('of statuses have the states of runs of a function', async () => {
    const own = await serviceWith([work()]);
    await own.functions.enqueue(work(), { n: 1 });
    await own.clock.settle();
    await own.functions.enqueue(work(), { n: 2 }, { delay: '1h' });
    const { value } = await orThrow(own.box.jobs.statuses({}));
    expect(value.items).toMatchObject([{ ID: 'work', ChildStatuses: ['pending', 'dead'], Allocs: null }]);
  });
});

describe('what a function or run has no part in', () => {
  const refused: readonly [string, (own: Service, id: string) => Refusable][] = [
    [
      'register',
      ({ box }, ID) =>
        box.jobs.register({
          ID,
          Type: 'batch',
          TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock_driver' }] }],
        }),
    ],
    [
      'plan',
      ({ box }, ID) =>
        box.jobs.plan(ID, {
          ID,
          Type: 'batch',
          TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'mock_driver' }] }],
        }),
    ],
    ['scale', ({ box }, id) => box.jobs.scale(id, 'function', { count: 3, message: 'more' })],
    ['evaluate', ({ box }, id) => box.jobs.evaluate(id)],
    ['stability', ({ box }, id) => box.jobs.setStability(id, 0, true)],
    ['revert', ({ box }, id) => box.jobs.revert(id, 0)],
  ];
  test.each(refused)('%s is refused with what to do instead', async (_, call) => {
    const own = await serviceWith([work()]);
    const { dispatchedJobId } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.settle();
    const before = await indexOf(own);
    for (const id of ['work', dispatchedJobId]) {
      const refusal = await refusalOf(call(own, id));
      expect(refusal).toMatchObject({
        type: 'job_of_function',
        message: expect.stringMatching(/function, so it cannot be/),
      });
    }
    expect(await indexOf(own)).toBe(before);
  });

  test.each<[string, (own: Service, id: string) => Refusable]>([
    ['restart', ({ box }, id) => box.allocations.restart(id, {})],
    ['signal', ({ box }, id) => box.allocations.signal(id, 'SIGHUP')],
    ['stats', ({ box }, id) => box.allocations.stats(id)],
    ['files', ({ box }, id) => box.files.list(id, {})],
  ])('%s of its allocation is refused', async (_, call) => {
    const own = await serviceWith([work()]);
    const { dispatchedJobId } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.settle();
    const id = (await allocationOf(own, dispatchedJobId))?.ID ?? '';
    expect(await refusalOf(call(own, id))).toMatchObject({
      type: 'command_invalid',
      message: expect.stringMatching(/a run of a function/),
    });
  });

  test('an ID that no run has names no job', async () => {
    const own = await serviceWith([work(), work({ name: 'b' })]);
    const { dispatchedJobId } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    const number = dispatchedJobId.slice('work/dispatch-'.length);
    for (const id of [
      `work/periodic-${number}`,
      `b/dispatch-${number}`,
      `work/dispatch-0${number}`,
      'work/dispatch-99',
      'work/dispatch-',
    ])
      expect((await orThrow(own.box.jobs.read(id))).value).toBeUndefined();
  });
});

describe('rights', () => {
  const caller = (...capabilities: string[]): Principal =>
    ({ ...hostPrincipal, management: false, namespaces: { default: { capabilities } } }) as unknown as Principal;

  test('are those of the namespace of the function', async () => {
    const own = await serviceWith([work()]);
    const { dispatchedJobId: id } = await orThrow(own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    await own.clock.settle();
    const allocation = (await allocationOf(own, id))?.ID ?? '';
    const reads = own.engine.as(caller('read-job'));
    const lists = own.engine.as(caller('list-jobs'));
    const dispatches = own.engine.as(caller('dispatch-job'));
    const denied = { type: 'permission_denied' };
    expect((await orThrow(reads.jobs.read(id))).value?.ID).toBe(id);
    expect((await orThrow(reads.allocations.read(allocation))).value?.ID).toBe(allocation);
    expect(await refusalOf(lists.jobs.read(id))).toMatchObject(denied);
    expect((await orThrow(lists.jobs.list({ prefix: 'work/' }))).value.items).toHaveLength(1);
    expect(
      (
        await orThrow(
          lists.jobs
            .list({ prefix: 'work/', filter: 'Payload != ""' })
            .orElse(() => lists.jobs.list({ prefix: 'none/' })),
        )
      ).value.items,
    ).toEqual([]);
    expect(await refusalOf(reads.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }))).toMatchObject(denied);
    await orThrow(dispatches.jobs.dispatch('work', { payload: payloadOf({ n: 1 }) }));
    expect(await refusalOf(dispatches.jobs.stop('work'))).toMatchObject(denied);
    expect(await refusalOf(reads.allocations.stop(allocation))).toMatchObject(denied);
    await expect(logOf({ ...own, box: reads } as Service, allocation)).rejects.toMatchObject(denied);
    expect(await logOf({ ...own, box: own.engine.as(caller('read-logs')) } as Service, allocation)).toBe('');
  });
});

describe('IDs of runs', () => {
  const number = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 });
  const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}(\/[A-Za-z0-9._-]{1,20}){0,2}$/);
  const run = fc
    .record({ function: name, number })
    .chain((given) =>
      fc
        .constantFrom<object>({}, { schedule: 'cron' })
        .map((more): { function: string; number: number; schedule?: string } => ({ ...given, ...more })),
    );

  test('of jobs name their run, and each beginning of one selects it', () => {
    fc.assert(
      fc.property(run, fc.nat(), (given, cut) => {
        const id = runJobId(given);
        expect(runOfJobId(id)).toEqual({ function: given.function, number: given.number });
        const prefix = id.slice(0, given.function.length + 1 + (cut % (id.length - given.function.length)));
        const selected = runsOfPrefix(prefix);
        expect(selected?.function).toBe(given.function);
        expect([undefined, given.schedule !== undefined]).toContain(selected?.launched);
        expect(selected?.ranges.some(({ first, end }) => first <= given.number && given.number < end)).toBe(true);
      }),
    );
  });

  test('of other numbers are not selected by the digits of one', () => {
    fc.assert(
      fc.property(number, number, (one, other) => {
        const selected = runsOfPrefix(runJobId({ function: 'f', number: one }));
        const isSelected = selected?.ranges.some(({ first, end }) => first <= other && other < end) === true;
        expect(isSelected).toBe(String(other).startsWith(String(one)));
      }),
    );
  });

  test('of allocations are UUIDs that name their run, as are their first eight digits', () => {
    fc.assert(
      fc.property(number, (given) => {
        const id = runAllocationId(given);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
        expect(runOfAllocationId(id)).toBe(given);
        expect(runOfAllocationId(id.toUpperCase())).toBe(given);
        const small = (given % 2 ** 40) + 1;
        expect(runsOfAllocationPrefix(runAllocationId(small).slice(0, 8), small)).toContain(small);
        expect(runsOfAllocationPrefix(runAllocationId(small), small)).toEqual([small]);
      }),
    );
  });

  test.each([
    '',
    '/',
    'work',
    'work/',
    'work/dispatch-',
    'work/dispatch-0',
    'work/dispatch-01',
    'work/dispatch-1 ',
    'work/dispatch-99999999999999999',
    '/dispatch-1',
    `${'x'.repeat(129)}/dispatch-1`,
  ])('%j is none', (id) => {
    expect(runOfJobId(id)).toBeUndefined();
  });

  test.each([
    '',
    '0',
    '0000000',
    'zzzzzzzz',
    '00000001-0000-4000-8000-66756e637469',
    '00000001-0000-8000-8000-66756e63746a',
  ])('%j is that of no allocation of a run', (id) => {
    expect(runOfAllocationId(id)).toBeUndefined();
    expect(runsOfAllocationPrefix(id, 100)).toEqual([]);
  });
});

test('a run that waits for one that it has called counts once', async () => {
  const child = defineFunction<void, void, void>({ name: 'child', retry: { attempts: 2, delay: '1h' } }, (_, run) => {
    if (run.attempt === 1) throw new Error('later');
  });
  const parent = defineFunction<void, void, void>({ name: 'parent' }, (_, run) => run.call('child', child));
  const own = await serviceWith([parent, child]);
  const { id } = await own.functions.enqueue(parent);
  await own.clock.settle();
  expect((await orThrow(own.box.functions.read('parent'))).value?.counts).toMatchObject({ waiting: 1, queued: 0 });
  expect((await orThrow(own.box.jobs.summary('parent'))).value?.Children).toEqual({ Pending: 0, Running: 1, Dead: 0 });
  expect(await jobOf(own, `parent/dispatch-${id.slice('parent/'.length)}`)).toMatchObject({ Status: 'running' });
  expect((await orThrow(own.box.jobs.summary('child'))).value?.Children).toEqual({ Pending: 1, Running: 0, Dead: 0 });
});

describe('the quota of a namespace', () => {
  test('counts a function as one job, but does not keep the code of the service from declaring it', async () => {
    const quotas = [{ namespace: '*', jobs: 1 }];
    const own = await serviceWith([work(), work({ name: 'other' })], world(), { quotas });
    expect((await orThrow(own.box.jobs.list({}))).value.items.map(({ ID }) => ID)).toEqual(['other', 'work']);
    const Tasks = [{ Name: 't', Driver: 'function', Config: { function: 'work' } }];
    const refused = await own.box.jobs.register({ ID: 'third', Type: 'batch', TaskGroups: [{ Name: 'g', Tasks }] });
    expect(refused._unsafeUnwrapErr()).toMatchObject({
      type: 'quota_exceeded',
      message: 'the quota of namespace "default" would be exceeded: 3 jobs of 1',
    });
    expect(await (await own.functions.enqueue(work(), { n: 2 })).result()).toBe(4);
  });

  test('limits the dispatches of a function, and not what the code enqueues', async () => {
    const quotas = [{ namespace: 'default', dispatchesPerMinute: 2 }];
    const own = await serviceWith([work()], world(), { quotas });
    const dispatch = (idempotencyToken = '') =>
      own.box.jobs.dispatch('work', { payload: payloadOf({ n: 1 }), idempotencyToken });
    for (const token of ['', 'once', 'once']) expect((await dispatch(token)).isOk()).toBe(true);
    expect((await dispatch())._unsafeUnwrapErr()).toMatchObject({
      type: 'dispatch_rate_exceeded',
      message: 'namespace "default" may dispatch 2 times a minute; try again in 30 s',
    });
    expect((await dispatch('once')).isOk()).toBe(true);
    expect(await own.functions.list()).toHaveLength(2);
    await own.functions.enqueue(work(), { n: 1 });
    await own.clock.advance(minute / 2);
    expect((await dispatch()).isOk()).toBe(true);
  });
});
