import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { endAll } from '../adapters/cli/cli-process.js';
import { eventually, type Installation, installation, pause, type Served } from '../support/installation.js';

/*
 * A server whose runner lacks something for a while, as commands begin, run and end: room for bytes, room for files, handles.
 * A command that could not begin is started again by its restart policy. Each run must happen once, and come to its end, when
 * there is enough again. `SIGNALBOX_SHORTAGES=50` for more rounds.
 */
const rounds = Number(process.env['SIGNALBOX_SHORTAGES'] ?? 1);
const lasts = 1500;

let place: Installation | undefined;
let mounted: string | undefined;
afterEach(async () => {
  endAll();
  if (mounted !== undefined) run('umount', '-l', mounted);
  mounted = undefined;
  await place?.remove();
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

describe('a runner that lacks something for a while loses and doubles no run', () => {
  it.skipIf(!isRoot)('room for bytes and for files', { timeout: 60_000 + rounds * 60_000 }, async ({ skip }) => {
    place = await installation();
    const directory = `${place.store}-allocations`;
    mkdirSync(directory);
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=64m,nr_inodes=2000', 'tmpfs', directory)) skip('no right to mount');
    mounted = directory;
    const served = await place.serve();
    await place.prepare(served.box, 100);
    for (let round = 0; round < rounds; round += 1) {
      const numbers = await through(served, round, [() => filled(directory), () => crowded(directory)]);
      await expectOnce(numbers, served);
    }
  });

  it.skipIf(process.platform !== 'linux')('handles', { timeout: 60_000 + rounds * 60_000 }, async ({ skip }) => {
    place = await installation();
    const served = await place.serve();
    await place.prepare(served.box, 100);
    const pid = Number(served.child.process.pid);
    if (!run('prlimit', '--pid', String(pid))) skip('no prlimit');
    for (let round = 0; round < rounds; round += 1) {
      const numbers = await through(served, round, [() => withoutHandles(pid, 1), () => withoutHandles(pid, 6)]);
      await expectOnce(numbers, served);
    }
  });
});

/** Dispatches before, during and after each shortage; gives the numbers of the runs. */
async function through(served: Served, round: number, shortages: readonly (() => () => void)[]): Promise<string[]> {
  const numbers: string[] = [];
  const dispatch = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const number = String(round * 1000 + numbers.length);
      numbers.push(number);
      const options = { meta: { n: number }, idempotencyToken: `n-${number}` };
      while ((await served.box.jobs.dispatch('work', options)).isErr()) await pause(20);
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

async function expectOnce(numbers: readonly string[], { box, child }: Served): Promise<void> {
  const over = async (): Promise<boolean> => {
    const { Children } = (await box.jobs.summary('work'))._unsafeUnwrap().value ?? {};
    return Children?.Pending === 0 && Children.Running === 0;
  };
  const done = await eventually(40_000, over);
  const marks = place?.marks();
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

/** The process may open no more than so many files beside those that it has open. */
function withoutHandles(pid: number, spare: number): () => void {
  const open = Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number));
  run('prlimit', '--pid', String(pid), `--nofile=${open + 1 + spare}:`);
  return () => void run('prlimit', '--pid', String(pid), '--nofile=4096:');
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
