import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import type { JobInput } from '../../src/jobs/document/job-input.js';
import { endAll } from '../adapters/cli/cli-process.js';
import { eventually, type Installation, installation, pause, type Served } from '../support/installation.js';
import { patience } from '../support/patience.js';

/*
 * A server whose runner lacks something for a while, as commands begin, run and end: room for bytes, room for files, handles.
 * A command that could not begin is started again by its restart policy. Each run must happen once, and come to its end, when
 * there is enough again. `SIGNALBOX_SHORTAGES=50` for more rounds.
 */
const rounds = Number(process.env['SIGNALBOX_SHORTAGES'] ?? 1);
const lasts = 1500;
const limit = { timeout: 60_000 + rounds * 60_000 };
/** Writes of the runner from the placement of a run to its end, of which each fails once. */
const steps = 24;
/** Reads of a runner that comes back and looks for a run, of which each fails. */
const reads = 6;

let installed: Installation | undefined;
let mounted: string | undefined;
afterEach(async () => {
  endAll();
  if (mounted !== undefined) run('umount', '-l', mounted);
  mounted = undefined;
  await installed?.remove();
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

describe('a runner that lacks something for a while loses and doubles no run', () => {
  it.skipIf(!isRoot)('room for bytes and for files', limit, async ({ skip }) => {
    installed = await installation();
    const directory = `${installed.store}-allocations`;
    mkdirSync(directory);
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=64m,nr_inodes=2000', 'tmpfs', directory)) skip('no right to mount');
    mounted = directory;
    const served = await installed.serve();
    await installed.prepare(served.box, 100);
    for (let round = 0; round < rounds; round += 1) {
      const numbers = await through(served, round, [() => filled(directory), () => crowded(directory)]);
      await expectOnce(numbers, served);
    }
  });

  it.skipIf(!isRoot)('room that its own output has taken: it ends and is started again', limit, async ({ skip }) => {
    installed = await installation();
    const directory = `${installed.store}-allocations`;
    mkdirSync(directory);
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', directory)) skip('no right to mount');
    mounted = directory;
    const { box } = await installed.serve(['--set', 'node.disk=1000']);
    (await box.jobs.register(flood))._unsafeUnwrap();
    const hasEnded = async (): Promise<boolean> =>
      (await box.jobs.summary('flood'))._unsafeUnwrap().value?.Summary?.['app']?.Failed === 1;
    expect(await eventually(30_000, hasEnded)).toBe(true);
    const [allocation] = (await box.allocations.list({ taskStates: true }))._unsafeUnwrap().value.items;
    const { Restarts, Events } = allocation?.TaskStates?.['main'] ?? {};
    const codes = Events?.filter(({ Type }) => Type === 'Terminated').map(({ ExitCode }) => ExitCode);
    expect({ Restarts, codes }).toEqual({ Restarts: 1, codes: [3, 3] });
  });

  it('room, as a failure of each write in turn', limit, async () => {
    installed = await installation();
    const disk = await injectedDisk(installed);
    const served = await installed.serve([], disk.environment);
    await installed.prepare(served.box, 100);
    const numbers: string[] = [];
    let failing = 0;
    for (let step = 1; step <= steps * rounds; step += 1) {
      disk.fill(1 + ((step - 1) % steps));
      const number = String(step);
      numbers.push(number);
      const dispatched = dispatchOne(served, number);
      // Enough failures that something was tried again, or the run needed fewer writes.
      await eventually(10_000, () => disk.failures() >= 3 || installed?.marks().get(number)?.includes('end') === true);
      failing += disk.failures() > 0 ? 1 : 0;
      disk.relieve();
      await dispatched;
    }
    await expectOnce(numbers, served);
    expect(failing).toBeGreaterThan(steps / 2);
  });

  it('room for the store', limit, async () => {
    installed = await installation();
    const disk = await injectedDisk(installed);
    const served = await installed.serve([], { ...disk.environment, FULL_DISK_STORE: '1' });
    await installed.prepare(served.box, 100);
    const numbers: string[] = [];
    for (let round = 0; round < 4 * rounds; round += 1) {
      const several = Array.from({ length: 8 }, (_, at) => String(round * 100 + at));
      numbers.push(...several);
      await Promise.all(several.slice(0, 4).map((number) => dispatchOne(served, number)));
      disk.fill(1_000_000);
      let accepted = 0;
      const later = several.slice(4).map((number) => dispatchOne(served, number));
      // What is written until then fits into pages that the store already has.
      while (!(await refusesLarge(served, `${round}-${accepted}`))) accepted += 1;
      disk.relieve();
      await Promise.all(later);
    }
    await expectOnce(numbers, served);
  });

  it.skipIf(process.platform !== 'linux')('handles', limit, async ({ skip }) => {
    installed = await installation();
    const served = await installed.serve();
    await installed.prepare(served.box, 100);
    const pid = Number(served.child.process.pid);
    if (!run('prlimit', '--pid', String(pid))) skip('no prlimit');
    for (let round = 0; round < rounds; round += 1) {
      const numbers = await through(served, round, [() => withoutHandles(pid, 1), () => withoutHandles(pid, 6)]);
      await expectOnce(numbers, served);
    }
  });

  it.skipIf(process.platform !== 'linux')('all handles, as commands end', limit, async ({ skip }) => {
    const own = await installation();
    installed = own;
    const served = await installed.serve();
    await installed.prepare(served.box, 100, 0.5);
    const pid = Number(served.child.process.pid);
    if (!run('prlimit', '--pid', String(pid))) skip('no prlimit');
    for (let round = 0; round < rounds; round += 1) {
      const numbers = Array.from({ length: 4 }, (_, at) => String(round * 4 + at));
      const allDid = (mark: string) => (): boolean =>
        numbers.every((number) => own.marks().get(number)?.includes(mark));
      await Promise.all(numbers.map((number) => dispatchOne(served, number)));
      expect(await eventually(patience, allDid('begin'))).toBe(true);
      const relieve = withoutHandles(pid);
      expect(await eventually(patience, allDid('end'))).toBe(true);
      await pause(lasts);
      relieve();
      await expectOnce(numbers, served);
    }
  });

  it('handles, as a failure of each read in turn, of a runner that comes back', limit, async () => {
    const own = await installation();
    installed = own;
    const disk = await injectedDisk(installed);
    let served = await installed.serve([], disk.environment);
    await installed.prepare(served.box, 100, 0.5);
    let failing = 0;
    const did = (number: string, mark: string) => (): boolean => own.marks().get(number)?.includes(mark) === true;
    for (let step = 1; step <= reads * rounds; step += 1) {
      const number = String(step);
      await dispatchOne(served, number);
      expect(await eventually(patience, did(number, 'begin'))).toBe(true);
      served.child.process.kill('SIGKILL');
      // The command ends before or after the runner comes back.
      if (step % 2 === 0) expect(await eventually(patience, did(number, 'end'))).toBe(true);
      disk.fill(1 + ((step - 1) % reads));
      served = await installed.serve([], {
        ...disk.environment,
        FULL_DISK_HANDLES: '1',
        FULL_DISK_FOLDER: `${own.store}-allocations/allocations`,
      });
      await eventually(1500, () => disk.failures() >= 3);
      failing += disk.failures() > 0 ? 1 : 0;
      disk.relieve();
      await expectOnce([number], served);
    }
    expect(failing).toBeGreaterThan(reads / 2);
  });
});

/** Writes more than its disk holds, and fails. */
const flood: JobInput = {
  ID: 'flood',
  Type: 'batch',
  Datacenters: ['*'],
  TaskGroups: [
    {
      Name: 'app',
      RestartPolicy: { Attempts: 1, Interval: 600e9, Delay: 250e6, Mode: 'fail' },
      ReschedulePolicy: { Attempts: 0, Unlimited: false },
      EphemeralDisk: { SizeMB: 300 },
      Tasks: [
        {
          Name: 'main',
          Driver: 'raw_exec',
          Config: { command: '/bin/sh', args: ['-c', 'head -c 20000000 /dev/zero; exit 3'] },
          Resources: { CPU: 1, MemoryMB: 10 },
          LogConfig: { MaxFiles: 10, MaxFileSizeMB: 10 },
        },
      ],
    },
  ],
};

/** Dispatches before, during and after each shortage; gives the numbers of the runs. */
async function through(served: Served, round: number, shortages: readonly (() => () => void)[]): Promise<string[]> {
  const numbers: string[] = [];
  const dispatch = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const number = String(round * 1000 + numbers.length);
      numbers.push(number);
      await dispatchOne(served, number);
    }
  };
  for (const shortage of shortages) {
    await dispatch(6);
    const relieve = shortage();
    const during = dispatch(6);
    await pause(lasts);
    relieve();
    await during;
  }
  await dispatch(3);
  return numbers;
}

/** Dispatches one run, as often as it is refused. */
async function dispatchOne({ box }: Served, number: string): Promise<void> {
  const options = { meta: { n: number }, idempotencyToken: `n-${number}` };
  while ((await box.jobs.dispatch('work', options)).isErr()) await pause(20);
}

/** Whether the store has no room for a job of this ID with 100 KB of text. */
async function refusesLarge({ box }: Served, ID: string): Promise<boolean> {
  const task = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } };
  const group = { Name: 'app', Tasks: [task], Meta: { text: 'x'.repeat(100_000) } };
  const registered = await box.jobs.register({ ID, Type: 'batch', Datacenters: ['nowhere'], TaskGroups: [group] });
  return registered.isErr();
}

/** A disk that is full on demand, by a module that the server loads before its own code. */
interface InjectedDisk {
  readonly environment: Readonly<Record<string, string>>;
  /** From the write of this number on, from 1, there is no room. */
  fill(from: number): void;
  relieve(): void;
  /** How many writes have failed since the disk was filled. */
  failures(): number;
}

async function injectedDisk({ folder, store }: Installation): Promise<InjectedDisk> {
  const preload = join(folder, 'preload.mjs');
  const entry = join(import.meta.dirname, 'full-disk/preload.ts');
  await build({ entryPoints: [entry], outfile: preload, bundle: true, format: 'esm', platform: 'node' });
  const control = join(folder, 'full');
  const hits = `${control}.hits`;
  const environment = {
    NODE_OPTIONS: `--import=${preload}`,
    FULL_DISK_CONTROL: control,
    FULL_DISK_FOLDER: `${store}-allocations`,
  };
  let times = 0;
  return {
    environment,
    fill(from) {
      times += 1;
      writeFileSync(hits, '');
      writeFileSync(control, `${from} ${times}`);
    },
    relieve: () => rmSync(control, { force: true }),
    failures: () => statSync(hits).size,
  };
}

async function expectOnce(numbers: readonly string[], { box, child }: Served): Promise<void> {
  const over = async (): Promise<boolean> => {
    const { Children } = (await box.jobs.summary('work'))._unsafeUnwrap().value ?? {};
    return Children?.Pending === 0 && Children.Running === 0;
  };
  const done = await eventually(40_000, over);
  const marks = installed?.marks();
  const wrong = numbers.flatMap((number) => {
    const did = marks?.get(number)?.join() ?? 'nothing';
    return did === 'begin,end' ? [] : [`${number} did ${did}`];
  });
  const allocations = (await box.allocations.list({ taskStates: true }))._unsafeUnwrap().value.items;
  const failed = allocations.flatMap(({ ClientStatus, TaskStates }) =>
    ClientStatus === 'complete' ? [] : (TaskStates?.['main']?.Events ?? []).map(({ DisplayMessage }) => DisplayMessage),
  );
  const exit = child.process.exitCode;
  expect({ wrong, done, failed, exit }).toEqual({ wrong: [], done: true, failed: [], exit: null });
}

/** Takes what room for bytes is left. */
function filled(directory: string): () => void {
  const file = join(directory, 'filler');
  for (let size = 1 << 20; size > 0; size = Math.floor(size / 2))
    untilFull(() => writeFileSync(file, Buffer.alloc(size), { flag: 'a' }));
  return () => rmSync(file, { force: true });
}

/** Takes what room for files is left. */
function crowded(directory: string): () => void {
  const folder = join(directory, 'fillers');
  mkdirSync(folder);
  let files = 0;
  untilFull(() => writeFileSync(join(folder, String(files++)), ''));
  return () => rmSync(folder, { recursive: true, force: true });
}

function untilFull(act: () => void): void {
  try {
    for (;;) act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** The process may open no more than so many files beside those that it has open; none at all when absent. */
function withoutHandles(pid: number, spare?: number): () => void {
  const open = Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number));
  run('prlimit', '--pid', String(pid), `--nofile=${spare === undefined ? 0 : open + 1 + spare}:`);
  return () => void run('prlimit', '--pid', String(pid), '--nofile=4096:');
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
