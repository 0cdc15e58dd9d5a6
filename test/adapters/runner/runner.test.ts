import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errAsync, ok, ResultAsync } from 'neverthrow';
import { afterEach, describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { setUpTask } from '../../../adapters/runner/allocation/task-start.js';
import { taskPaths } from '../../../adapters/runner/disk/task-target.js';
import {
  createRunner,
  functionDriver,
  type Runner,
  rawExecDriver,
  type TaskDriver,
  type TaskFunction,
} from '../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import type { Task } from '../../../src/jobs/document/task.js';
import { events } from '../../../src/notifications/events/event.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import type { AgentLink } from '../../../src/ports/agent-link.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { runProgram } from '../../support/run-program.js';
import { untilRecords } from '../../support/until-records.js';

interface House {
  readonly engine: Engine;
  readonly runner: Runner;
  readonly directory: string;
}

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function house(
  options: {
    functions?: Record<string, TaskFunction>;
    /** Besides that of the functions. */
    drivers?: readonly TaskDriver[];
    storage?: Storage;
    /** Null: the runner has none, and nothing is kept. */
    directory?: string | null;
    /** A workspace hears of all runs. */
    team?: boolean;
    onStop?: 'leave' | 'kill';
    /** No report gets through while this holds. */
    mute?: () => boolean;
  } = {},
): Promise<House> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'signalbox-runner-'));
  const storage = options.storage ?? memoryStorage();
  const ports = { storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
  const engine = createEngine(ports, options.team === true ? { runNotifications: [{ workspace: 'ws-1' }] } : {});
  const workspace = { id: 'ws-1', name: 'net', organization: 'acme' };
  if (options.team === true) (await putWorkspace(engine, hostPrincipal, workspace))._unsafeUnwrap();
  engine.start();
  const drivers = [...(options.drivers ?? [rawExecDriver()]), functionDriver(options.functions ?? {})];
  const agent = agentPorts(engine);
  const report: AgentLink['report'] = (told) =>
    options.mute?.() === true ? errAsync({ type: 'link_failed', message: 'cut off' }) : agent.link.report(told);
  const runner = createRunner(
    { ...agent, link: { ...agent.link, report } },
    { drivers, onStop: options.onStop ?? 'kill', ...(options.directory === null ? {} : { directory }) },
  );
  (await runner.start())._unsafeUnwrap();
  cleanups.push(async () => {
    await runner.stop();
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return { engine, runner, directory };
}

async function run(engine: Engine, task: Record<string, unknown>, change: Record<string, unknown> = {}): Promise<void> {
  const group = groupDocument(
    {
      RestartPolicy: { Attempts: 0, Interval: 5e9, Delay: 1e9, Mode: 'fail' },
      ReschedulePolicy: { Attempts: 0, Unlimited: false },
    },
    task,
  );
  const job = { ID: 'work', Type: 'batch', Datacenters: ['*'], TaskGroups: [group], ...change } as JobInput;
  const registered = await registerJob(engine, hostPrincipal, { job });
  if (registered.isErr()) throw new Error(JSON.stringify(registered.error));
}

const shell = (text: string): Record<string, unknown> => ({
  Driver: 'raw_exec',
  Config: { command: '/bin/sh', args: ['-c', text] },
});

async function allAllocations(engine: Engine): Promise<Allocation[]> {
  const read = await engine.storage.read((view) => view.list(allocations).map(({ record }) => record));
  return read._unsafeUnwrap();
}

const until = (engine: Engine, holds: (all: readonly Allocation[]) => boolean): Promise<Allocation[]> =>
  untilRecords(engine, allocations, holds);

/** What the workspace was told, in order. */
async function heard({ storage }: Engine): Promise<string[]> {
  const rows = (await storage.read((view) => view.list(events).map(({ record }) => record)))._unsafeUnwrap();
  return rows
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ event }) => (event.kind === 'run' ? `${event.trigger} ${event.runStatus}` : event.kind));
}

const ended = (all: readonly Allocation[]): boolean =>
  all.length > 0 && all.every(({ ClientStatus }) => ['complete', 'failed'].includes(ClientStatus));

function log(directory: string, allocation: Allocation | undefined, stream = 'stdout'): string {
  return readFileSync(
    join(directory, 'allocations', allocation?.ID ?? '', 'alloc', 'logs', `main.${stream}.0`),
    'utf8',
  );
}

const eventTypes = (allocation: Allocation | undefined): string[] =>
  (allocation?.TaskStates?.['main']?.Events ?? []).map(({ Type }) => Type);

/** A process that ended but that nobody has collected yet counts as gone. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('raw_exec', () => {
  it('runs a command, keeps its output apart, and reports each step', async () => {
    const { engine, directory } = await house();
    await run(engine, shell('echo out; echo error >&2'));
    const [allocation] = await until(engine, ended);
    expect(allocation).toMatchObject({
      ClientStatus: 'complete',
      TaskStates: { main: { State: 'dead', Failed: false } },
    });
    expect(eventTypes(allocation)).toEqual(['Received', 'Task Setup', 'Started', 'Terminated']);
    expect([log(directory, allocation), log(directory, allocation, 'stderr')]).toEqual(['out\n', 'error\n']);
  });

  it.each([
    ['an exit code', shell('exit 3'), { ExitCode: 3, Signal: 0 }],
    ['a signal', shell('kill -TERM $$'), { ExitCode: 143, Signal: 15 }],
  ])('fails the allocation by %s', async (_name, task, terminated) => {
    const { engine } = await house();
    await run(engine, task);
    const [allocation] = await until(engine, ended);
    expect(allocation?.ClientStatus).toBe('failed');
    const events = allocation?.TaskStates?.['main']?.Events ?? [];
    expect(events.find(({ Type }) => Type === 'Terminated')).toMatchObject(terminated);
    expect(eventTypes(allocation).at(-1)).toBe('Not Restarting');
  });

  it.each([
    ['a command that is missing', { command: '/no/such/command' }],
    ['no command', {}],
    ['arguments that are no list', { command: '/bin/true', args: 'x' }],
    ['a directory that is missing', { command: '/bin/true', work_dir: '/no/such/place' }],
    ['a NUL character', { command: '/bin/true', work_dir: '/tmp\0' }],
  ])('fails at the start, with a sentence, by %s', async (_name, config) => {
    const { engine } = await house();
    await run(engine, { Driver: 'raw_exec', Config: config });
    const [allocation] = await until(engine, ended);
    expect(allocation?.ClientStatus).toBe('failed');
    expect(eventTypes(allocation).at(-2)).toMatch(/^(Driver Failure|Failed Validation)$/);
  });

  it('gives the task its environment, its meta and its payload, and nothing secret of the host', async () => {
    process.env['SIGNALBOX_TEST_SECRET'] = 'hidden';
    const { engine, directory } = await house();
    const parameterized = { ParameterizedJob: { Payload: 'required', MetaOptional: ['colour'] } };
    await run(
      engine,
      {
        ...shell('cat local/in/payload.txt; env'),
        DispatchPayload: { File: 'in/payload.txt' },
        Env: { GREETING: 'to ${NOMAD_META_colour}' },
      },
      parameterized,
    );
    const payload = Buffer.from('the payload\n').toString('base64');
    (await dispatchJob(engine, hostPrincipal, { jobId: 'work', payload, meta: { colour: 'red' } }))._unsafeUnwrap();
    const [allocation] = await until(engine, ended);
    const output = log(directory, allocation);
    delete process.env['SIGNALBOX_TEST_SECRET'];
    expect(output.split('\n')).toEqual(
      expect.arrayContaining([
        'the payload',
        'GREETING=to red',
        'SIGNALBOX_META_COLOUR=red',
        'NOMAD_TASK_NAME=main',
        `NOMAD_ALLOC_ID=${allocation?.ID}`,
      ]),
    );
    expect(output).not.toContain('hidden');
  });

  it('ends the whole process group: by signal, and by force when the signal is not heeded', async () => {
    const { engine, directory } = await house();
    await run(engine, {
      ...shell('trap "" INT; sleep 300 & echo $! > child; echo ready; wait; sleep 300'),
      KillTimeout: 200_000_000,
    });
    const [running] = await until(engine, (all) => all[0]?.ClientStatus === 'running');
    const child = join(directory, 'allocations', running?.ID ?? '', 'main', 'child');
    while (!existsSync(child) || readFileSync(child, 'utf8') === '')
      await new Promise((resolve) => setImmediate(resolve));
    const pid = Number(readFileSync(child, 'utf8'));
    (await stopJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
    const [stopped] = await until(engine, ended);
    expect(stopped).toMatchObject({ ClientStatus: 'complete', DesiredStatus: 'stop' });
    expect(eventTypes(stopped)).toEqual(['Received', 'Task Setup', 'Started', 'Killing', 'Terminated', 'Killed']);
    expect(isGone(pid)).toBe(true);
  });

  it('restarts by policy, counting', async () => {
    const { engine, directory } = await house();
    const task = shell('echo run >> tries; [ $(wc -l < tries) -ge 3 ]');
    const group = groupDocument({ RestartPolicy: { Attempts: 3, Interval: 60e9, Delay: 1e7, Mode: 'fail' } }, task);
    const job = { ID: 'work', Type: 'batch', Datacenters: ['*'], TaskGroups: [group] } as JobInput;
    const registered = await registerJob(engine, hostPrincipal, { job });
    expect(registered.isOk() ? '' : JSON.stringify(registered.error)).toBe('');
    const [allocation] = await until(engine, ended);
    expect(allocation).toMatchObject({ ClientStatus: 'complete', TaskStates: { main: { Restarts: 2 } } });
    expect(readFileSync(join(directory, 'allocations', allocation?.ID ?? '', 'main', 'tries'), 'utf8')).toBe(
      'run\nrun\nrun\n',
    );
    // What the runner notes of an attempt is not kept beyond the next one.
    const attempts = join(directory, 'allocations', allocation?.ID ?? '', 'main', 'private', 'attempts');
    expect(readdirSync(attempts)).toEqual(['3']);
  });

  it.each([
    ['another user', { User: 'nobody' }],
    ['secrets', { Secrets: [{ Name: 'key', Provider: 'vault', Path: 'key' }] }],
    ['tokens of identities', { Identities: [{ Name: 'aws', Env: true }] }],
    ['a plugin for volumes', { CSIPluginConfig: { ID: 'disks', Type: 'node' } }],
  ])(
    'says that it does not provide %s instead of running half a task, should the job come here all the same',
    async (what, change) => {
      const job = jobFrom({ TaskGroups: [groupDocument({}, change)] });
      const task = job.TaskGroups[0]?.Tasks[0] as Task;
      expect(await setUpTask(job, task, null)).toMatchObject({
        kind: 'setup',
        message: expect.stringContaining(what),
      });
    },
  );

  it('puts the payload in place of a link that a task before it left, and not where it leads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-payload-'));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const paths = taskPaths(folder, 'main');
    mkdirSync(paths.local, { recursive: true });
    writeFileSync(join(folder, 'outside'), 'foreign');
    symlinkSync(join(folder, 'outside'), join(paths.local, 'payload'));
    const job = { ...jobFrom({}), Payload: Buffer.from('own').toString('base64') };
    const [task] =
      jobFrom({ TaskGroups: [groupDocument({}, { DispatchPayload: { File: 'payload' } })] }).TaskGroups[0]?.Tasks ?? [];
    expect(await setUpTask(job, task as Task, paths)).toBeUndefined();
    expect(readFileSync(join(folder, 'outside'), 'utf8')).toBe('foreign');
    expect(readFileSync(join(paths.local, 'payload'), 'utf8')).toBe('own');
  });
});

describe('the order of tasks', () => {
  it('runs prestart before and poststop after, and ends sidecars with the main task', async () => {
    const { engine, directory } = await house();
    const note = (name: string): string => `echo ${name} >> $NOMAD_ALLOC_DIR/order`;
    const member = (
      name: string,
      text: string,
      lifecycle: Record<string, unknown> | null,
    ): Record<string, unknown> => ({
      Name: name,
      ...shell(text),
      Resources: { CPU: 50, MemoryMB: 20 },
      LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
      ...(lifecycle === null ? {} : { Lifecycle: lifecycle }),
    });
    const Tasks = [
      member('main', note('main'), null),
      member('after', note('after'), { Hook: 'poststop' }),
      member('before', note('before'), { Hook: 'prestart' }),
      member('beside', 'sleep 300', { Hook: 'prestart', Sidecar: true }),
    ];
    await run(engine, {}, { TaskGroups: [{ ...groupDocument(), Tasks }] });
    const [allocation] = await until(engine, ended);
    expect(allocation?.ClientStatus).toBe('complete');
    expect(readFileSync(join(directory, 'allocations', allocation?.ID ?? '', 'alloc', 'order'), 'utf8')).toBe(
      'before\nmain\nafter\n',
    );
  });
});

describe('functions of the service', () => {
  it('get payload, meta and a logger; what they throw fails the task', async () => {
    const { engine, directory } = await house({
      functions: {
        greet: ({ payload, meta, log: logger }) => {
          logger.info(`${payload?.toString()} ${meta['who']}`);
          if (meta['who'] === 'nobody') throw new Error('nobody to greet');
        },
      },
    });
    await run(
      engine,
      { Driver: 'function', Config: { function: 'greet' } },
      { ParameterizedJob: { MetaRequired: ['who'] } },
    );
    const payload = Buffer.from('hello').toString('base64');
    for (const who of ['you', 'nobody']) {
      (await dispatchJob(engine, hostPrincipal, { jobId: 'work', payload, meta: { who } }))._unsafeUnwrap();
    }
    const all = await until(engine, (found) => found.length === 2 && ended(found));
    const [good, bad] = [...all].sort((left, right) => left.CreateIndex - right.CreateIndex);
    expect([good?.ClientStatus, bad?.ClientStatus]).toEqual(['complete', 'failed']);
    expect(log(directory, good)).toBe('hello you\n');
    expect(log(directory, bad, 'stderr')).toMatch(/^Error: nobody to greet\n {4}at greet /);
  });

  it('hear the signal when the job is stopped', async () => {
    const { engine } = await house({
      functions: {
        wait: ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      },
    });
    await run(engine, { Driver: 'function', Config: { function: 'wait' } });
    await until(engine, (all) => all[0]?.ClientStatus === 'running');
    (await stopJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
    const [stopped] = await until(engine, ended);
    expect(stopped?.ClientStatus).toBe('complete');
  });
});

describe('a runner that comes back', () => {
  it('finds a process that still lives, and takes its exit code', async () => {
    const storage = memoryStorage();
    const first = await house({ storage, onStop: 'leave' });
    await run(first.engine, shell('touch up; while [ ! -e go ]; do sleep 0.05; done; echo done; exit 4'));
    const [running] = await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const up = join(first.directory, 'allocations', running?.ID ?? '', 'main', 'up');
    while (!existsSync(up)) await new Promise((resolve) => setImmediate(resolve));
    await first.runner.stop();
    await first.engine.stop();
    const second = await house({ storage, directory: first.directory });
    expect(second.runner.nodeId).toBe(first.runner.nodeId);
    await until(second.engine, ([found]) => eventTypes(found).includes('Reconnected'));
    writeFileSync(join(first.directory, 'allocations', running?.ID ?? '', 'main', 'go'), '');
    const [allocation] = await until(second.engine, ended);
    expect(allocation?.ID).toBe(running?.ID);
    const events = allocation?.TaskStates?.['main']?.Events ?? [];
    expect(events.find(({ Type }) => Type === 'Terminated')).toMatchObject({ ExitCode: 4 });
    expect(eventTypes(allocation)).toContain('Reconnected');
    expect(log(first.directory, allocation)).toBe('done\n');
  });

  it('takes the end of a process that finished meanwhile, without running it again', async () => {
    const storage = memoryStorage();
    const first = await house({ storage, onStop: 'leave' });
    await run(first.engine, shell('echo run >> count; while [ ! -e go ]; do sleep 0.05; done'));
    const [running] = await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const task = join(first.directory, 'allocations', running?.ID ?? '', 'main');
    while (!existsSync(join(task, 'count'))) await new Promise((resolve) => setImmediate(resolve));
    await first.runner.stop();
    await first.engine.stop();
    writeFileSync(join(task, 'go'), '');
    while (!existsSync(join(task, 'private', 'attempts', '1', 'exit')))
      await new Promise((resolve) => setImmediate(resolve));
    const second = await house({ storage, directory: first.directory });
    const [allocation] = await until(second.engine, ended);
    expect(allocation?.ClientStatus).toBe('complete');
    expect(readFileSync(join(task, 'count'), 'utf8')).toBe('run\n');
    expect(readdirSync(join(task, 'private', 'attempts'))).toEqual(['1']);
  });

  it('tells of an end that the runner before had noted but not told', async () => {
    const storage = memoryStorage();
    let cut = false;
    const first = await house({ storage, onStop: 'leave', mute: () => cut });
    await run(first.engine, shell('while [ ! -e go ]; do sleep 0.05; done'));
    const [running] = await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const task = join(first.directory, 'allocations', running?.ID ?? '', 'main');
    cut = true;
    writeFileSync(join(task, 'go'), '');
    const note = join(task, 'private', 'state.json');
    while (!readFileSync(note, 'utf8').includes('"State":"dead"'))
      await new Promise((resolve) => setImmediate(resolve));
    await first.runner.stop();
    await first.engine.stop();
    expect((await allAllocations(first.engine))[0]?.ClientStatus).toBe('running');
    const second = await house({ storage, directory: first.directory });
    const [allocation] = await until(second.engine, ended);
    expect(allocation?.ClientStatus).toBe('complete');
  });

  it('ends a process that nobody wants any more', async () => {
    const storage = memoryStorage();
    const first = await house({ storage, onStop: 'leave' });
    await run(first.engine, shell('echo $$ > pid; sleep 300'));
    const [running] = await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const file = join(first.directory, 'allocations', running?.ID ?? '', 'main', 'pid');
    while (!existsSync(file) || readFileSync(file, 'utf8') === '')
      await new Promise((resolve) => setImmediate(resolve));
    await first.runner.stop();
    (await stopJob(first.engine, hostPrincipal, { jobId: 'work', purge: true }))._unsafeUnwrap();
    await first.engine.stop();
    await house({ storage, directory: first.directory });
    const pid = Number(readFileSync(file, 'utf8'));
    while (!isGone(pid)) await new Promise((resolve) => setImmediate(resolve));
    expect(isGone(pid)).toBe(true);
  });

  it('ends what runs a version that is no longer kept', async () => {
    const storage = memoryStorage();
    const first = await house({ storage, onStop: 'leave' });
    await run(first.engine, shell('echo $$ > pid; sleep 300'));
    const [running] = await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const file = join(first.directory, 'allocations', running?.ID ?? '', 'main', 'pid');
    while (!existsSync(file) || readFileSync(file, 'utf8') === '')
      await new Promise((resolve) => setImmediate(resolve));
    await first.runner.stop();
    await first.engine.stop();
    const forgotten = { ...(running as Allocation), JobVersion: 99 };
    (await storage.write((view) => ok<void, never>(view.put(allocations, forgotten))))._unsafeUnwrap();
    const second = await house({ storage, directory: first.directory });
    await until(second.engine, (all) =>
      all.some(({ ID, ClientStatus }) => ID === running?.ID && ClientStatus === 'failed'),
    );
    expect(isGone(Number(readFileSync(file, 'utf8')))).toBe(true);
  });

  it('runs a function again that it had to break off, without counting it as an attempt', async () => {
    const storage = memoryStorage();
    const calls: string[] = [];
    const hang: TaskFunction = ({ signal }) =>
      new Promise<void>((resolve) => {
        calls.push('hang');
        signal.addEventListener('abort', () => resolve());
      });
    const first = await house({ storage, functions: { work: hang }, onStop: 'leave' });
    await run(first.engine, { Driver: 'function', Config: { function: 'work' } });
    await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    await first.runner.stop({ deadline: 10 });
    expect((await allAllocations(first.engine))[0]).toMatchObject({ ClientStatus: 'pending' });
    await first.engine.stop();
    const functions = { work: () => void calls.push('done') };
    const second = await house({ storage, directory: first.directory, functions });
    const [allocation] = await until(second.engine, ended);
    expect(allocation).toMatchObject({ ClientStatus: 'complete', TaskStates: { main: { Restarts: 0 } } });
    expect(eventTypes(allocation)).toEqual([
      'Received',
      'Task Setup',
      'Started',
      'Interrupted',
      'Started',
      'Terminated',
    ]);
    expect(calls).toEqual(['hang', 'done']);
  });

  it('lets a function finish before the deadline, and does not run it again', async () => {
    const storage = memoryStorage();
    const calls: string[] = [];
    let finish: () => void = () => undefined;
    const work: TaskFunction = () =>
      new Promise<void>((resolve) => {
        calls.push('call');
        finish = resolve;
      });
    const first = await house({ storage, functions: { work } });
    await run(first.engine, { Driver: 'function', Config: { function: 'work' } });
    await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const stopped = first.runner.stop({ deadline: 20_000 });
    finish();
    await stopped;
    expect((await allAllocations(first.engine))[0]).toMatchObject({ ClientStatus: 'complete' });
    await first.engine.stop();
    await house({ storage, directory: first.directory, functions: { work } });
    expect(calls).toEqual(['call']);
  });

  it.each([
    ['well', 0, 'complete', 'run:completed applied'],
    ['badly', 3, 'failed', 'run:errored errored'],
  ])(
    'tells the start and the end of a process that ended %s before its start was noted',
    async (_how, code, status, last) => {
      const storage = memoryStorage();
      const first = await house({ storage, team: true, drivers: [unanswered(rawExecDriver())], onStop: 'leave' });
      await run(first.engine, shell(`exit ${code}`));
      const attempts = (id = ''): string =>
        join(first.directory, 'allocations', id, 'main', 'private', 'attempts', '1', 'exit');
      await until(first.engine, (all) => all.length === 1);
      const [begun] = await allAllocations(first.engine);
      while (!existsSync(attempts(begun?.ID))) await new Promise((resolve) => setImmediate(resolve));
      await first.runner.stop({ deadline: 0 });
      await first.engine.stop();
      expect((await allAllocations(first.engine))[0]).toMatchObject({
        ClientStatus: 'pending',
        TaskStates: { main: { StartedAt: null } },
      });
      const second = await house({ storage, team: true, directory: first.directory });
      const all = await until(second.engine, ended);
      expect(all).toMatchObject([
        { ID: begun?.ID, ClientStatus: status, TaskStates: { main: { StartedAt: expect.any(String) } } },
      ]);
      expect(eventTypes(all[0]).slice(0, 4)).toEqual(['Received', 'Task Setup', 'Started', 'Terminated']);
      const told = ['run:created pending', 'run:planning planning', 'run:applying applying', last];
      expect(await heard(second.engine)).toEqual(told);
    },
  );
});

/** Starts tasks and never says so: what a kill between a start and its note leaves behind. */
function unanswered(driver: TaskDriver): TaskDriver {
  const start: TaskDriver['start'] = async (task) => {
    await driver.start(task);
    return new Promise<never>(() => undefined);
  };
  return { ...driver, start };
}

describe('the end of a process of which only the shell before it was killed', () => {
  /** Notes who it is at its first start, and at the next one whether that process is still there. */
  const twice = [
    'if [ ! -s pid ]; then echo $$ > pid; exec sleep 300; fi',
    'if read -r stat 2>/dev/null < "/proc/$(cat pid)/stat"; then case $stat in *") Z "*) echo alone ;; *) echo beside ;; esac',
    'else echo alone; fi',
  ].join('\n');

  async function begun(first: House): Promise<string> {
    const group = groupDocument(
      { RestartPolicy: { Attempts: 1, Interval: 60e9, Delay: 0, Mode: 'fail' } },
      shell(twice),
    );
    await run(first.engine, {}, { TaskGroups: [group] });
    const [running] = await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const folder = join(first.directory, 'allocations', running?.ID ?? '', 'main');
    while (!existsSync(join(folder, 'pid')) || readFileSync(join(folder, 'pid'), 'utf8') === '')
      await new Promise((resolve) => setImmediate(resolve));
    return folder;
  }

  function killShell(folder: string): void {
    const [shellPid] = readFileSync(join(folder, 'private', 'attempts', '1', 'process'), 'utf8').split('\n');
    expect(Number(shellPid)).not.toBe(Number(readFileSync(join(folder, 'pid'), 'utf8')));
    process.kill(Number(shellPid), 'SIGKILL');
  }

  it('is awaited before its restart', async () => {
    const first = await house();
    const folder = await begun(first);
    killShell(folder);
    const [allocation] = await until(first.engine, ended);
    expect(allocation).toMatchObject({ ClientStatus: 'complete', TaskStates: { main: { Restarts: 1 } } });
    expect(log(first.directory, allocation)).toBe('alone\n');
    expect(isGone(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(true);
  });

  it('is awaited by a runner that came back', async () => {
    const storage = memoryStorage();
    const first = await house({ storage, onStop: 'leave' });
    const folder = await begun(first);
    await first.runner.stop();
    await first.engine.stop();
    const second = await house({ storage, directory: first.directory });
    await until(second.engine, ([found]) => eventTypes(found).includes('Reconnected'));
    killShell(folder);
    const [allocation] = await until(second.engine, ended);
    expect(allocation).toMatchObject({ ClientStatus: 'complete', TaskStates: { main: { Restarts: 1 } } });
    expect(log(first.directory, allocation)).toBe('alone\n');
    expect(isGone(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(true);
  });
});

describe('a runner without a directory that stops', () => {
  it('records what it had to break off as interrupted, and leaves it to the next runner', async () => {
    const storage = memoryStorage();
    const calls: string[] = [];
    const hang: TaskFunction = ({ signal, attempt }) =>
      new Promise<void>((resolve) => {
        calls.push(`hang ${attempt}`);
        signal.addEventListener('abort', () => resolve());
      });
    const first = await house({ storage, directory: null, team: true, functions: { work: hang } });
    await run(first.engine, { Driver: 'function', Config: { function: 'work' } });
    await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const before = await heard(first.engine);
    await first.runner.stop({ deadline: 10 });
    const [broken] = await until(first.engine, ([found]) => eventTypes(found).includes('Interrupted'));
    expect(broken?.ClientStatus).not.toMatch(/complete|failed/);
    expect(broken?.TaskStates?.['main']).toMatchObject({ Failed: false, Restarts: 0, FinishedAt: null });
    await first.engine.stop();
    expect(await heard(first.engine)).toEqual(before);
    expect(before).toEqual(['run:created pending', 'run:planning planning', 'run:applying applying']);
    const work: TaskFunction = ({ attempt }) => void calls.push(`done ${attempt}`);
    const second = await house({ storage, directory: null, team: true, functions: { work } });
    const all = await until(second.engine, (found) => found.some(({ ClientStatus }) => ClientStatus === 'complete'));
    expect(calls).toEqual(['hang 1', 'done 1']);
    // No attempt of the job's policies is used, although they allow none.
    expect(all.filter(({ ClientStatus }) => ClientStatus === 'failed')).toEqual([]);
    expect(all.every(({ RescheduleTracker }) => (RescheduleTracker?.Events ?? []).length === 0)).toBe(true);
    expect(all.map(({ TaskStates }) => TaskStates?.['main']?.Restarts)).toEqual([0, 0]);
    expect(await heard(second.engine)).toEqual([...before, 'run:completed applied']);
  });

  it('lets what runs finish before the deadline, takes nothing new meanwhile, and runs nothing twice', async () => {
    const storage = memoryStorage();
    const calls: string[] = [];
    let finish: () => void = () => undefined;
    const work: TaskFunction = ({ meta }) => {
      calls.push(meta['n'] ?? '');
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    };
    const first = await house({ storage, directory: null, functions: { work } });
    const task = { Driver: 'function', Config: { function: 'work' }, Meta: { n: 'one' } };
    await run(first.engine, task);
    await until(first.engine, (all) => all[0]?.ClientStatus === 'running');
    const stopped = first.runner.stop({ deadline: 20_000 });
    await run(first.engine, { ...task, Meta: { n: 'two' } }, { ID: 'other' });
    await until(first.engine, (all) => all.length === 2);
    finish();
    await stopped;
    const after = await allAllocations(first.engine);
    expect(after.find(({ JobID }) => JobID === 'work')?.ClientStatus).toBe('complete');
    await first.engine.stop();
    const second = await house({ storage, directory: null, functions: { work } });
    await until(second.engine, (all) => all.some((one) => one.JobID === 'other' && one.ClientStatus === 'running'));
    expect(calls).toEqual(['one', 'two']);
    finish();
    await until(second.engine, (all) => all.some((one) => one.JobID === 'other' && one.ClientStatus === 'complete'));
    expect(calls).toEqual(['one', 'two']);
  });
});

describe('a runner that is stopped while it registers', () => {
  it('leaves nothing behind: it serves no commands, and the server hears that the node leaves', async () => {
    const ports = { storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
    const engine = createEngine(ports);
    engine.start();
    const agent = agentPorts(engine);
    const told: string[] = [];
    let asked: () => void = () => undefined;
    let answer: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    const link: AgentLink = {
      ...agent.link,
      register: (node, process) => {
        asked();
        return ResultAsync.fromSafePromise(mayAnswer).andThen(() => {
          told.push('register');
          return agent.link.register(node, process);
        });
      },
      serve: (...served) => {
        told.push('serve');
        return agent.link.serve(...served);
      },
      leave: (...left) => {
        told.push('leave');
        return agent.link.leave(...left);
      },
    };
    const runner = createRunner({ ...agent, link }, { drivers: [functionDriver({})] });
    const started = runner.start();
    await isAsked;
    const stopped = runner.stop();
    // Enough turns of the loop for a stop that waits for nothing.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect((await started).isOk()).toBe(true);
    await stopped;
    expect(told).toEqual(['register', 'leave']);
    const read = await engine.storage.read((view) => view.list(nodes).map(({ record }) => record.Status));
    expect(read._unsafeUnwrap()).toEqual(['down']);
    await engine.stop();
  });

  it('ends at once when it waits before it asks again', async () => {
    const clock = manualClock();
    let asked = 0;
    const register: AgentLink['register'] = () => {
      asked += 1;
      return errAsync({ type: 'link_failed', message: 'unreachable' });
    };
    const leave: AgentLink['leave'] = () => errAsync({ type: 'link_failed', message: 'unreachable' });
    const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
    const ports = agentPorts(engine);
    const runner = createRunner(
      { ...ports, link: { ...ports.link, register, leave } },
      { drivers: [functionDriver({})] },
    );
    const started = runner.start();
    await clock.advance(0);
    expect(clock.sleepers).toBe(1);
    const stopped = runner.stop();
    await clock.advance(0);
    expect(clock.sleepers).toBe(0);
    await stopped;
    expect((await started).isOk()).toBe(true);
    expect(asked).toBe(1);
  });
});

describe('a runner over a store that is closed', () => {
  it('does not begin, and says why', async () => {
    const storage = memoryStorage();
    const ports = { storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
    const engine = createEngine(ports);
    await storage.close();
    const runner = createRunner(agentPorts(engine), { drivers: [functionDriver({})] });
    const refused = await runner.start();
    expect(refused._unsafeUnwrapErr()).toEqual({
      type: 'node_refused',
      message: 'The store of the engine is closed: create an engine with an open store',
    });
    await runner.stop();
  });
});

describe('a process that has only a runner', () => {
  it('stays alive until the runner is stopped, and then ends by itself', async () => {
    const from = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);
    // A timer that keeps no process alive fires only where something else does.
    const program = `
      import { memoryStorage, recordingDelivery } from ${from('adapters/memory/index.ts')};
      import { randomIds, systemClock } from ${from('adapters/node/index.ts')};
      import { createRunner, functionDriver } from ${from('adapters/runner/index.ts')};
      import { agentPorts, createEngine } from ${from('src/index.ts')};
      const ports = { storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
      const engine = createEngine(ports);
      engine.start();
      const runner = createRunner(agentPorts(engine), { drivers: [functionDriver({})] });
      await runner.start();
      console.log('started');
      setTimeout(async () => {
        console.log('alive');
        await runner.stop();
        await engine.stop();
        console.log('stopped');
      }, 300).unref();`;
    const { code, output } = await runProgram(
      ['--import', 'tsx', '--input-type=module', '-e', program],
      process.cwd(),
      30_000,
    );
    expect({ code, output }).toEqual({ code: 0, output: 'started\nalive\nstopped\n' });
  });
});
