import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { taskPaths } from '../../../../adapters/runner/disk/task-target.js';
import { claimForRunner, readIdentity } from '../../../../adapters/runner/drivers/raw-exec-attempt.js';
import { noteCommand, rawExecDriver } from '../../../../adapters/runner/drivers/raw-exec-driver.js';
import type { RunningTask, TaskStart } from '../../../../adapters/runner/drivers/task-driver.js';
import { startCollector } from '../../../../adapters/runner/logs/log-collector.js';
import type { CommandInput } from '../../../../src/agent/link/node-command.js';
import { patience } from '../../../support/patience.js';

const driver = rawExecDriver();
const running: RunningTask[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const task of running.splice(0)) {
    await task.destroy();
    await task.exited;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function startOf(text: string, change: Partial<TaskStart> = {}): TaskStart {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-raw-exec-'));
  folders.push(folder);
  const paths = taskPaths(folder, 'main');
  for (const path of [paths.logs, paths.local, paths.notes]) mkdirSync(path, { recursive: true });
  const allocationId = folder.slice(-6);
  return {
    allocationId,
    task: 'main',
    attempt: 1,
    config: { command: '/bin/sh', args: ['-c', text] },
    environment: { SIGNALBOX_ALLOC_ID: allocationId, SIGNALBOX_TASK_NAME: 'main' },
    paths,
    payload: null,
    meta: {},
    logs: { maximumFiles: 3, maximumFileBytes: 10_000, disabled: false },
    ...change,
  };
}

async function* nothing(): AsyncGenerator<CommandInput> {
  yield { type: 'end' };
}

async function started(start: TaskStart): Promise<RunningTask> {
  const outcome = await driver.start(start);
  if (outcome.type !== 'running') throw new Error(outcome.message);
  running.push(outcome.task);
  return outcome.task;
}

/** The names of the files, from the oldest on. */
function logFiles(start: TaskStart, stream = 'stdout'): string[] {
  return readdirSync(start.paths?.logs ?? '')
    .filter((name) => name.startsWith(`main.${stream}.`))
    .sort((left, right) => Number(left.split('.')[2]) - Number(right.split('.')[2]));
}

function sizesOf(start: TaskStart, stream = 'stdout'): { names: string[]; sizes: number[] } {
  const folder = start.paths?.logs ?? '';
  const names = logFiles(start, stream);
  return { names, sizes: names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) };
}

function logs(start: TaskStart, stream = 'stdout'): { names: string[]; text: string; sizes: number[] } {
  const { names, sizes } = sizesOf(start, stream);
  return { names, sizes, text: names.map((name) => readOr('', join(start.paths?.logs ?? '', name))).join('') };
}

/** Files come and go while a task writes. */
function readOr(fallback: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}

async function eventually(holds: () => boolean, interval = 10): Promise<void> {
  const limit = performance.now() + patience;
  while (!holds()) {
    if (performance.now() > limit) throw new Error('It never came to that');
    await new Promise((resume) => setTimeout(resume, interval));
  }
}

function isGone(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('a command beside a task', () => {
  it('is ended by the next runner when its own was killed, and the task is left alone', async () => {
    const start = startOf('exec sleep 300');
    const task = await started(start);
    // The command of a runner that is killed is not told of its end: its caller just does not go away here.
    const begun = await driver.exec?.(start, {
      command: ['/bin/sh', '-c', 'echo $$; sleep 300 & wait'],
      terminal: false,
      input: nothing(),
      signal: new AbortController().signal,
    });
    const outputs = begun?._unsafeUnwrap()[Symbol.asyncIterator]();
    const first = (await outputs?.next())?.value as { readonly bytes: Uint8Array };
    const pid = Number(Buffer.from(first.bytes).toString());
    expect(isGone(pid)).toBe(false);
    // The shell of the task may be slower than that of the command.
    await eventually(() => existsSync(join(start.paths?.notes ?? '', 'attempts', '1', 'claim')));
    const next = rawExecDriver();
    const recovered = await next.recover(start);
    expect(recovered.type).toBe('running');
    await eventually(() => isGone(pid));
    let isOver = false;
    void task.exited.then(() => {
      isOver = true;
    });
    expect((await outputs?.next())?.value).toMatchObject({ type: 'closed' });
    expect(isOver).toBe(false);
    expect(readdirSync(join(start.paths?.notes ?? '', 'attempts', '1', 'commands'))).toEqual([]);
  });

  it('is ended by the next runner also when the task had not come to its own command', async () => {
    const start = startOf('echo never');
    const attempt = join(start.paths?.notes ?? '', 'attempts', '1');
    mkdirSync(attempt, { recursive: true });
    const command = spawn('/bin/sleep', ['300'], { detached: true, stdio: 'ignore' });
    const ended = once(command, 'exit');
    noteCommand(attempt, command.pid as number);
    expect(await driver.recover(start)).toEqual({ type: 'never_started' });
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(readdirSync(join(attempt, 'commands'))).toEqual([]);
  });
});

describe('the output of a command', () => {
  it('is kept in numbered files of at most their size, and loses no byte at a cut', async () => {
    const start = startOf('seq 1 100000', { logs: { maximumFiles: 100, maximumFileBytes: 10_000, disabled: false } });
    expect(await (await started(start)).exited).toMatchObject({ code: 0 });
    const { names, text, sizes } = logs(start);
    expect(names[0]).toBe('main.stdout.0');
    expect(Math.max(...sizes)).toBe(10_000);
    expect(text).toBe(`${Array.from({ length: 100_000 }, (_, at) => at + 1).join('\n')}\n`);
  });

  it('loses no byte of what it keeps when older files are removed', async () => {
    const limit = 10_000;
    const start = startOf('seq 1 200000', { logs: { maximumFiles: 2, maximumFileBytes: limit, disabled: false } });
    expect(await (await started(start)).exited).toMatchObject({ code: 0 });
    const whole = Array.from({ length: 200_000 }, (_, at) => `${at + 1}\n`).join('');
    const { names, text, sizes } = logs(start);
    expect(names.length).toBeLessThanOrEqual(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    // All removed files were full, so the number of the first one tells what they held.
    expect(text).toBe(whole.slice(Number(names[0]?.split('.')[2]) * limit));
  });

  it('stays within its limit, however fast it comes, and costs the runner nothing', async () => {
    const limit = 1024 * 1024;
    const start = startOf('yes', { logs: { maximumFiles: 2, maximumFileBytes: limit, disabled: false } });
    const task = await started(start);
    const newest = (): number => Number(logFiles(start).at(-1)?.split('.')[2] ?? 0);
    await eventually(() => newest() >= 1);
    const [before, from] = [process.cpuUsage(), newest()];
    const seen: { files: number; largest: number }[] = [];
    await eventually(() => {
      const { names, sizes } = sizesOf(start);
      seen.push({ files: names.length, largest: Math.max(...sizes) });
      return newest() >= from + 200;
    }, 50);
    const { user, system } = process.cpuUsage(before);
    expect(Math.max(...seen.map(({ files }) => files))).toBeLessThanOrEqual(3);
    expect(Math.max(...seen.map(({ largest }) => largest))).toBeLessThanOrEqual(limit);
    // Each look of this test costs some time. 200 MiB that passed through this process would cost it 180 ms at the least.
    expect((user + system) / 1000).toBeLessThan(60 + seen.length);
    await task.destroy();
    await task.exited;
  });

  it('goes on where the last attempt ended, its two streams apart', async () => {
    const start = startOf('echo first; echo fault >&2');
    await (await started(start)).exited;
    await (await started({ ...start, attempt: 2 })).exited;
    expect(logs(start)).toMatchObject({ names: ['main.stdout.0'], text: 'first\nfirst\n' });
    expect(logs(start, 'stderr').text).toBe('fault\nfault\n');
    expect(readdirSync(join(start.paths?.notes ?? '', 'attempts'))).toEqual(['2']);
  });

  it('may be written through /dev/stdout and /dev/stderr', async () => {
    const start = startOf('echo out > /dev/stdout; echo fault > /dev/stderr');
    await (await started(start)).exited;
    expect(logs(start).text + logs(start, 'stderr').text).toBe('out\nfault\n');
  });

  it('is not kept when that is not wanted', async () => {
    const start = startOf('echo out', { logs: { maximumFiles: 2, maximumFileBytes: 1000, disabled: true } });
    expect(await (await started(start)).exited).toMatchObject({ code: 0 });
    expect(logs(start).names).toEqual([]);
  });

  it('is complete although the runner had gone, and the collector with it', async () => {
    const start = startOf('echo one; while [ ! -e go ]; do sleep 0.02; done; echo two');
    const task = await started(start);
    await eventually(() => logs(start).text === 'one\n');
    await task.release();
    const attempt = join(start.paths?.notes ?? '', 'attempts', '1');
    const collector = Number(readFileSync(join(attempt, 'collector'), 'utf8').split('\n')[0]);
    process.kill(-collector, 'SIGKILL');
    await eventually(() => isGone(collector));
    const found = await driver.recover(start);
    if (found.type !== 'running') throw new Error(found.type);
    mkdirSync(join(start.paths?.root ?? '', 'go'));
    expect(await found.task.exited).toMatchObject({ code: 0 });
    expect(logs(start).text).toBe('one\ntwo\n');
  });
});

describe('a command that a new runner finds', () => {
  it('is waited for while its process is there, however late it says who it is', async () => {
    const start = startOf('echo once; while [ ! -e go ]; do sleep 0.02; done');
    const note = join(start.paths?.notes ?? '', 'attempts', '1', 'process');
    mkdirSync(note, { recursive: true });
    const task = await started(start);
    await eventually(() => existsSync(join(note, '..', 'claim')));
    await task.release();
    const finding = driver.recover(start);
    expect(await Promise.race([finding, new Promise((resume) => setTimeout(resume, 200, 'waiting'))])).toBe('waiting');
    rmSync(note, { recursive: true });
    const found = await finding;
    if (found.type !== 'running') throw new Error(found.type);
    mkdirSync(join(start.paths?.root ?? '', 'go'));
    expect(await found.task.exited).toMatchObject({ code: 0 });
    expect(logs(start).text).toBe('once\n');
  });

  it('has no commands beside it any more: the runner that released it has ended them', async () => {
    const start = startOf('echo ready; while [ ! -e go ]; do sleep 0.02; done');
    const task = await started(start);
    await eventually(() => logs(start).text === 'ready\n');
    const command = ['/bin/sh', '-c', 'echo $$; exec sleep 300'];
    const { signal } = new AbortController();
    const begun = await driver.exec?.(start, { command, terminal: false, input: nothing(), signal });
    if (begun?.isOk() !== true) throw new Error('the command has not begun');
    const outputs = begun.value[Symbol.asyncIterator]();
    const { value } = await outputs.next();
    await task.release();
    await eventually(() => isGone(Number(Buffer.from((value as { bytes: Uint8Array }).bytes).toString())));
    expect((await outputs.next()).value).toEqual({ type: 'failed', message: 'plugin is shut down' });
    mkdirSync(join(start.paths?.root ?? '', 'go'));
    expect(await task.exited).toMatchObject({ code: 0 });
  });

  it('has never started for every runner that asks, when the first one was killed before it noted that', async () => {
    const start = startOf('echo never');
    expect(await driver.recover(start)).toEqual({ type: 'never_started' });
    expect(await driver.recover(start)).toEqual({ type: 'never_started' });
  });

  it('is found without a write or a look through all processes when it has said who it is', async () => {
    const start = startOf('echo ready; while [ ! -e go ]; do sleep 0.02; done');
    const task = await started(start);
    await eventually(() => logs(start).text === 'ready\n');
    await task.release();
    const attempt = join(start.paths?.notes ?? '', 'attempts', '1');
    expect(claimForRunner(attempt)).toBe(false);
    expect(readdirSync(attempt)).not.toContain('claim.runner');
    const look = vi.fn(() => Promise.resolve(true));
    expect(await readIdentity(attempt, look)).toMatchObject({ pid: expect.any(Number) });
    expect(look).not.toHaveBeenCalled();
    mkdirSync(join(start.paths?.root ?? '', 'go'));
    expect(await task.exited).toMatchObject({ code: 0 });
  });

  it('goes when its folder was removed while it ran, or before', async () => {
    const start = startOf('echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done');
    const task = await started(start);
    const root = start.paths?.root ?? '';
    await eventually(() => existsSync(join(root, 'pid')) && readOr('', join(root, 'pid')) !== '');
    rmSync(start.paths?.notes ?? '', { recursive: true });
    mkdirSync(join(root, 'go'));
    expect(await task.exited).toMatchObject({ code: 137 });
  });

  it('is lost when its process is gone before it said who it is', async () => {
    const start = startOf('echo never');
    const attempt = join(start.paths?.notes ?? '', 'attempts', '1');
    mkdirSync(attempt, { recursive: true });
    writeFileSync(join(attempt, 'claim'), '');
    expect(await driver.recover(start)).toMatchObject({ type: 'exited', exit: { code: 137 } });
  });
});

describe('commands beside a task', () => {
  it('may be many at once without a warning of a leak', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    const start = startOf('sleep 60');
    await started(start);
    const asker = new AbortController();
    for (let number = 0; number < 12; number += 1) {
      const command = { command: ['/bin/sleep', '60'], terminal: false, input: nothing() };
      (await driver.exec?.(start, { ...command, signal: AbortSignal.any([asker.signal]) }))?._unsafeUnwrap();
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    asker.abort();
    expect(warnings).toEqual([]);
  });
});

describe('the end of a command', () => {
  it('takes the collector of its output with it, although it came before the pipes were opened', async () => {
    const start = startOf('echo never');
    const attempt = join(start.paths?.notes ?? '', 'attempts', '1');
    // The shell cannot say who it is, and waits in front of its command.
    mkdirSync(join(attempt, 'process'), { recursive: true });
    const task = await started(start);
    const collector = Number(readFileSync(join(attempt, 'collector'), 'utf8').split('\n')[0]);
    expect(isGone(collector)).toBe(false);
    await task.destroy();
    expect(await task.exited).toMatchObject({ code: 137, signal: 9 });
    await eventually(() => isGone(collector));
    expect(logs(start).text).toBe('');
  });

  it('leaves no collector behind that comes after a new runner has taken the attempt', async () => {
    const start = startOf('echo never');
    const attempt = join(start.paths?.notes ?? '', 'attempts', '1');
    expect(await driver.recover(start)).toEqual({ type: 'never_started' });
    const { logs: limits } = start;
    const late = await startCollector({ attempt, base: join(start.paths?.logs ?? '', 'main'), limits, when: 'first' });
    expect(late.ready).toBe(false);
    await late.ended;
  });

  it('takes processes with it that left its group', async () => {
    const start = startOf('setsid sleep 300 & echo $! > pid; sleep 0.1; exit 3');
    expect(await (await started(start)).exited).toMatchObject({ code: 3 });
    const strays = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && marked(name, start.allocationId));
    expect(strays).toEqual([]);
  });

  it('takes the command with it when only the shell before it was killed', async () => {
    const start = startOf('echo $$ > pid; exec sleep 300');
    const task = await started(start);
    const file = join(start.paths?.root ?? '', 'pid');
    await eventually(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    const pid = Number(readFileSync(file, 'utf8'));
    const shell = Number(
      readFileSync(join(start.paths?.notes ?? '', 'attempts', '1', 'process'), 'utf8').split('\n')[0],
    );
    expect(shell).not.toBe(pid);
    process.kill(shell, 'SIGKILL');
    expect(await task.exited).toMatchObject({ code: 137, signal: 9 });
    expect(isGone(pid)).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGWINCH', 'USR1'])(
    'can be asked for by %s',
    async (name) => {
      const short = name.replace('SIG', '');
      const start = startOf(`trap 'echo heard; exit 7' ${short}; echo ready; while :; do sleep 0.02; done`);
      const task = await started(start);
      await eventually(() => logs(start).text === 'ready\n');
      await task.signal(name);
      expect(await task.exited).toMatchObject({ code: 7 });
      expect(logs(start).text).toBe('ready\nheard\n');
    },
  );
});

function marked(pid: string, allocationId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SIGNALBOX_ALLOC_ID=${allocationId}`);
  } catch {
    return false;
  }
}
