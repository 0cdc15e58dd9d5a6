import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { createRunner, type RunnerOptions, rawExecDriver } from '../../../../adapters/runner/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { evaluateJob } from '../../../../src/operations/jobs/evaluate-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import type { Storage } from '../../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { agentLinkages, type LinkageKind } from '../../../support/agent-linkages.js';
import { groupDocument } from '../../../support/jobs.js';
import { untilRecords } from '../../../support/until-records.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface HouseOptions extends Partial<RunnerOptions> {
  readonly storage?: Storage;
  readonly linkage?: LinkageKind;
}

async function house({ storage = memoryStorage(), linkage = agentLinkages[0], ...options }: HouseOptions = {}) {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'signalbox-disk-'));
  const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  const link = await (linkage as LinkageKind).open(engine);
  const runner = createRunner(link.ports, { drivers: [rawExecDriver()], onStop: 'kill', ...options, directory });
  (await runner.start())._unsafeUnwrap();
  const stop = async (): Promise<void> => {
    await runner.stop({ deadline: 100 });
    await link.close();
    await engine.stop();
  };
  cleanups.push(async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return { engine, runner, directory, stop };
}

/** Adds a line to a file in each folder that is carried over, and to one in a folder that is not; then runs on. */
const diary = [
  'for folder in "$NOMAD_ALLOC_DIR/data" local tmp; do echo "$WORD" >> "$folder/diary"; done',
  "trap 'sleep 0.2; echo last of $WORD >> local/diary; exit 0' INT",
  'touch up; while true; do sleep 0.05; done',
].join('; ');

interface Version {
  readonly disk?: Record<string, unknown>;
  readonly text?: string;
  readonly group?: Record<string, unknown>;
  readonly job?: Record<string, unknown>;
  readonly task?: Record<string, unknown>;
}

/** A version of the service whose tasks write this word. */
async function register(engine: Engine, word: string, version: Version = {}): Promise<void> {
  const { disk = { Sticky: true }, text = diary, group = {}, job = {}, task: further = {} } = version;
  const policies = {
    EphemeralDisk: { SizeMB: 10, ...disk },
    RestartPolicy: { Attempts: 0, Interval: 5e9, Delay: 1e9, Mode: 'fail' },
    ...group,
  };
  const task = { Config: { command: '/bin/sh', args: ['-c', text] }, Env: { WORD: word }, ...further };
  const input = { ID: 'work', Datacenters: ['*'], TaskGroups: [groupDocument(policies, task)], ...job } as JobInput;
  const registered = await registerJob(engine, hostPrincipal, { job: input });
  if (registered.isErr()) throw new Error(JSON.stringify(registered.error));
}

/** The newest allocation, when it is as asked. */
async function newest(engine: Engine, holds: (newest: Allocation, count: number) => boolean): Promise<Allocation> {
  const all = await until(engine, ([last, ...others]) => last !== undefined && holds(last, others.length + 1));
  return all[0] as Allocation;
}

/** The newest comes first. */
const until = (engine: Engine, holds: (all: readonly Allocation[]) => boolean): Promise<readonly Allocation[]> =>
  untilRecords(engine, allocations, (all) => holds(all.sort((one, other) => other.CreateIndex - one.CreateIndex)));

/** The allocation of this number, when its task has written. */
async function running(engine: Engine, directory: string, number: number): Promise<Allocation> {
  const found = await newest(engine, ({ ClientStatus }, count) => count === number && ClientStatus === 'running');
  while (!existsSync(inside(directory, found, 'main/up'))) await new Promise((resolve) => setImmediate(resolve));
  return found;
}

const inside = (directory: string, { ID }: Pick<Allocation, 'ID'>, path: string): string =>
  join(directory, 'allocations', ID, path);
const lines = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');
const messages = (allocation: Allocation): string[] =>
  (allocation.TaskStates?.['main']?.Events ?? []).map(({ DisplayMessage }) => DisplayMessage);

describe.each(agentLinkages)('a disk that is kept, with an agent $name', (linkage) => {
  it.each([{ Sticky: true }, { Migrate: true }])('goes from version to version: %j', async (disk) => {
    const { engine, directory } = await house({ linkage });
    await register(engine, 'one', { disk });
    const first = await running(engine, directory, 1);
    await register(engine, 'two', { disk });
    const second = await running(engine, directory, 2);
    await register(engine, 'three', { disk });
    const third = await running(engine, directory, 3);
    expect(third.PreviousAllocation).toBe(second.ID);
    expect(lines(inside(directory, third, 'alloc/data/diary'))).toEqual(['one', 'two', 'three']);
    // Each task had ended before the next one began.
    expect(lines(inside(directory, third, 'main/local/diary'))).toEqual([
      'one',
      'last of one',
      'two',
      'last of two',
      'three',
    ]);
    expect(lines(inside(directory, third, 'main/tmp/diary'))).toEqual(['three']);
    expect(existsSync(inside(directory, first, 'alloc/data'))).toBe(false);
    expect(existsSync(inside(directory, first, 'alloc/logs'))).toBe(true);
    expect(messages(second)).toContain(`The ephemeral disk of allocation ${first.ID} was taken over`);
    expect(messages(second)).toContain(
      `Waiting for allocation ${first.ID} to end before taking over its ephemeral disk`,
    );
  });
});

it('is empty without sticky and migrate', async () => {
  const { engine, directory } = await house();
  await register(engine, 'one', { disk: {} });
  await running(engine, directory, 1);
  await register(engine, 'two', { disk: {} });
  const second = await running(engine, directory, 2);
  expect(lines(inside(directory, second, 'alloc/data/diary'))).toEqual(['two']);
  expect(messages(second).join()).not.toContain('ephemeral disk');
});

it('goes to the replacement of an allocation that failed, also when no folders are kept for logs', async () => {
  const { engine, directory } = await house({ keepFinished: 0 });
  const text = `[ -e local/diary ] || { echo one > local/diary; exit 1; }; ${diary}`;
  const ReschedulePolicy = { Unlimited: true, Delay: 3600e9, DelayFunction: 'constant' };
  await register(engine, 'two', { text, group: { ReschedulePolicy } });
  await newest(engine, ({ ClientStatus }) => ClientStatus === 'failed');
  (await evaluateJob(engine, hostPrincipal, { jobId: 'work', forceReschedule: true }))._unsafeUnwrap();
  const second = await running(engine, directory, 2);
  expect(lines(inside(directory, second, 'main/local/diary'))).toEqual(['one', 'two']);
  expect(readdirSync(join(directory, 'disks'))).toEqual([`${second.ID}.json`]);
  const first = { ID: second.PreviousAllocation ?? '' };
  while (existsSync(inside(directory, first, ''))) await new Promise((resolve) => setImmediate(resolve));
});

it('does not move what lies behind a link, and leaves the link', async () => {
  const { engine, directory } = await house();
  const outside = mkdtempSync(join(tmpdir(), 'signalbox-outside-'));
  cleanups.push(() => rmSync(outside, { recursive: true, force: true }));
  mkdirSync(join(outside, 'data'));
  writeFileSync(join(outside, 'data', 'diary'), 'foreign\n');
  await register(engine, 'one');
  const first = await running(engine, directory, 1);
  rmSync(inside(directory, first, 'main/local'), { recursive: true });
  symlinkSync(join(outside, 'data'), inside(directory, first, 'main/local'));
  rmSync(inside(directory, first, 'alloc'), { recursive: true });
  symlinkSync(outside, inside(directory, first, 'alloc'));
  await register(engine, 'two');
  const second = await running(engine, directory, 2);
  expect(lines(inside(directory, second, 'main/local/diary'))).toEqual(['two']);
  expect(lines(inside(directory, second, 'alloc/data/diary'))).toEqual(['two']);
  expect(readFileSync(join(outside, 'data', 'diary'), 'utf8')).toBe('foreign\nlast of one\n');
  expect(messages(second).find((message) => message.includes('was not moved'))).toMatch(
    /alloc\/data was not moved, because it is not a folder; main\/local was not moved, because it is not a folder$/,
  );
});

it('passes over an allocation that was stopped before it had taken anything', async () => {
  const { engine, directory } = await house();
  const slow = diary.replace('sleep 0.2', 'while [ ! -e go ]; do sleep 0.05; done');
  await register(engine, 'one', { text: slow });
  const first = await running(engine, directory, 1);
  await register(engine, 'two', { text: slow });
  const second = await newest(engine, (allocation) => messages(allocation).some((text) => text.startsWith('Waiting')));
  await register(engine, 'three');
  const third = await newest(
    engine,
    (allocation, count) => count === 3 && messages(allocation).join().includes('Waiting'),
  );
  expect(third.PreviousAllocation).toBe(second.ID);
  await until(engine, (all) => all.some(({ ID, ClientStatus }) => ID === second.ID && ClientStatus === 'complete'));
  // What the first one needs for the second, the third one gets.
  (await engine.as(hostPrincipal).allocations.collect(second.ID))._unsafeUnwrapErr();
  writeFileSync(inside(directory, first, 'main/go'), '');
  const taken = await running(engine, directory, 3);
  expect(lines(inside(directory, taken, 'alloc/data/diary'))).toEqual(['one', 'three']);
  expect(lines(inside(directory, taken, 'main/local/diary'))).toEqual(['one', 'last of one', 'three']);
  expect(readdirSync(join(directory, 'disks'))).toEqual([`${taken.ID}.json`]);
});

it('fails the setup, with a sentence, when it cannot be noted', async () => {
  const { engine, directory } = await house();
  rmSync(join(directory, 'disks'), { recursive: true });
  writeFileSync(join(directory, 'disks'), '');
  await register(engine, 'one');
  const failed = await newest(engine, ({ ClientStatus }) => ClientStatus === 'failed');
  expect(messages(failed).at(-1)).toMatch(/^The state of the disk could not be written: ENOTDIR/);
});

it('keeps its folder when the job changes in place', async () => {
  const { engine, directory } = await house();
  await register(engine, 'one');
  const first = await running(engine, directory, 1);
  await register(engine, 'one', { job: { Priority: 60 } });
  const changed = await newest(engine, ({ JobVersion, ModifyIndex }) => JobVersion === 1 && ModifyIndex > 0);
  expect(changed.ID).toBe(first.ID);
  expect(lines(inside(directory, changed, 'alloc/data/diary'))).toEqual(['one']);
});

it('is given up when a version without it replaces the allocation', async () => {
  const { engine, directory } = await house({ keepFinished: 0 });
  await register(engine, 'one');
  const first = await running(engine, directory, 1);
  await register(engine, 'two', { disk: {} });
  await running(engine, directory, 2);
  while (existsSync(inside(directory, first, ''))) await new Promise((resolve) => setImmediate(resolve));
  expect(readdirSync(join(directory, 'disks'))).toEqual([]);
});

it('holds what volumes, templates and links of the version before have left, and these are made again', async () => {
  const shared = mkdtempSync(join(tmpdir(), 'signalbox-shared-'));
  cleanups.push(() => rmSync(shared, { recursive: true, force: true }));
  const { engine, directory } = await house({ volumes: { shared: { path: shared } } });
  const version = (word: string) => ({
    group: { Volumes: { data: { Type: 'host', Source: 'shared' } } },
    task: {
      VolumeMounts: [{ Volume: 'data', Destination: 'local/volume' }],
      Templates: [{ EmbeddedTmpl: `template ${word}`, DestPath: 'local/rendered' }],
    },
  });
  await register(engine, 'one', version('one'));
  await running(engine, directory, 1);
  await register(engine, 'two', version('two'));
  const second = await running(engine, directory, 2);
  expect(readFileSync(inside(directory, second, 'main/local/rendered'), 'utf8')).toBe('template two');
  expect(readlinkSync(inside(directory, second, 'main/local/volume'))).toBe(shared);
  expect(lines(inside(directory, second, 'alloc/data/diary'))).toEqual(['one', 'two']);
});

describe('a runner that was killed', () => {
  /** A node whose runner is away, with an allocation that is to end and another one that is to get its disk. */
  async function interrupted() {
    const storage = memoryStorage();
    const before = await house({ storage });
    await register(before.engine, 'one');
    const first = await running(before.engine, before.directory, 1);
    await before.runner.stop({ deadline: 100 });
    await register(before.engine, 'two');
    const second = await newest(before.engine, (_newest, count) => count === 2);
    await before.stop();
    const { directory } = before;
    const note = { allocation: second.ID, from: first.ID, settled: false, said: '' };
    return {
      first,
      second,
      directory,
      note: (change = {}) =>
        writeFileSync(join(directory, 'disks', `${second.ID}.json`), JSON.stringify({ ...note, ...change })),
      move: (path: string) => {
        mkdirSync(dirname(inside(directory, second, path)), { recursive: true });
        renameSync(inside(directory, first, path), inside(directory, second, path));
      },
      goOn: () => house({ storage, directory }),
    };
  }

  type Interrupted = Awaited<ReturnType<typeof interrupted>>;

  it.each<[string, (at: Interrupted) => void]>([
    ['before it knew of the replacement', () => undefined],
    ['before the move', (at) => at.note()],
    [
      'between two folders',
      (at) => {
        at.note();
        at.move('alloc/data');
      },
    ],
    [
      'after the last folder',
      (at) => {
        at.note();
        at.move('alloc/data');
        at.move('main/local');
      },
    ],
    [
      'before it removed the note of the first',
      (at) => {
        at.note({ settled: true, said: `The ephemeral disk of allocation ${at.first.ID} was taken over` });
        at.move('alloc/data');
        at.move('main/local');
      },
    ],
  ])('%s continues', async (_name, arrange) => {
    const at = await interrupted();
    arrange(at);
    const { engine, directory } = await at.goOn();
    const second = await running(engine, directory, 2);
    expect(second.ID).toBe(at.second.ID);
    expect(lines(inside(directory, second, 'alloc/data/diary'))).toEqual(['one', 'two']);
    expect(lines(inside(directory, second, 'main/local/diary')).at(-1)).toBe('two');
    expect(lines(inside(directory, second, 'main/local/diary'))[0]).toBe('one');
    expect(messages(second)).toContain(`The ephemeral disk of allocation ${at.first.ID} was taken over`);
    expect(readdirSync(join(directory, 'disks'))).toEqual([`${second.ID}.json`]);
  });

  it('starts with an empty disk, and says so, when the folder is gone', async () => {
    const at = await interrupted();
    at.note();
    rmSync(inside(at.directory, at.first, ''), { recursive: true });
    rmSync(join(at.directory, 'disks', `${at.first.ID}.json`));
    const { engine, directory } = await at.goOn();
    const second = await running(engine, directory, 2);
    expect(lines(inside(directory, second, 'alloc/data/diary'))).toEqual(['two']);
    expect(messages(second)).toContain(
      `The ephemeral disk is empty: allocation ${at.first.ID} has left no data on this node`,
    );
  });

  it('takes nothing over once a task has started', async () => {
    const storage = memoryStorage();
    const before = await house({ storage, onStop: 'leave' });
    await register(before.engine, 'one');
    const first = await running(before.engine, before.directory, 1);
    await register(before.engine, 'two');
    const second = await running(before.engine, before.directory, 2);
    await before.stop();
    const { directory } = before;
    rmSync(join(directory, 'disks'), { recursive: true });
    mkdirSync(inside(directory, first, 'alloc/data'));
    writeFileSync(inside(directory, first, 'alloc/data/foreign'), '');
    rmSync(inside(directory, second, 'alloc/data'), { recursive: true });
    mkdirSync(inside(directory, second, 'alloc/data'));
    const { engine } = await house({ storage, directory });
    await newest(engine, (allocation) => messages(allocation).some((text) => text.includes('recovered')));
    (await engine.as(hostPrincipal).allocations.restart(second.ID, {}))._unsafeUnwrap();
    await newest(engine, (allocation) => messages(allocation).filter((text) => text.includes('started')).length > 1);
    expect(readdirSync(inside(directory, second, 'alloc/data'))).not.toContain('foreign');
  });
});
