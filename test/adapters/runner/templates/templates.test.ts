import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver, type Runner, rawExecDriver } from '../../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import { putVariable, removeVariable } from '../../../../src/operations/variables/write-variable.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';
import { untilRecords } from '../../../support/until-records.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface House {
  readonly engine: Engine;
  readonly directory: string;
  /** Ends the runner as its options say and starts another one on its folder. */
  readonly runAgain: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function house(onStop: 'leave' | 'kill' = 'kill', seen: Record<string, string>[] = []): Promise<House> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-templates-'));
  const engine = createEngine({
    storage: memoryStorage(),
    clock: systemClock(),
    ids: randomIds(),
    delivery: recordingDelivery(),
  });
  engine.start();
  const note = functionDriver({ note: async ({ environment }) => void seen.push({ ...environment }) });
  const start = async (stopping: 'leave' | 'kill'): Promise<Runner> => {
    const options = { directory, drivers: [rawExecDriver(), note], onStop: stopping };
    const runner = createRunner(agentPorts(engine), options);
    (await runner.start())._unsafeUnwrap();
    return runner;
  };
  let runner = await start(onStop);
  cleanups.push(async () => {
    await runner.stop({ deadline: 100 });
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const stop = () => runner.stop({ deadline: 0 });
  return {
    engine,
    directory,
    stop,
    async runAgain() {
      await stop();
      runner = await start('kill');
    },
  };
}

const template = (EmbeddedTmpl: string, change: Record<string, unknown> = {}) => ({
  EmbeddedTmpl,
  DestPath: 'local/out',
  Splay: 0,
  ...change,
});

const shell = (text: string, Templates: unknown[], change: Record<string, unknown> = {}) => ({
  Driver: 'raw_exec',
  Config: { command: '/bin/sh', args: ['-c', text] },
  Templates,
  ...change,
});

async function register(engine: Engine, task: Record<string, unknown>, job: Record<string, unknown> = {}) {
  const policies = {
    RestartPolicy: { Attempts: 0, Interval: 5e9, Delay: 1e9, Mode: 'fail' },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
  };
  const document = {
    ID: 'work',
    Type: 'batch',
    Datacenters: ['*'],
    Meta: { team: 'blue' },
    TaskGroups: [groupDocument(policies, task)],
    ...job,
  };
  return registerJob(engine, hostPrincipal, { job: document as JobInput });
}

const run = async (engine: Engine, task: Record<string, unknown>) => (await register(engine, task))._unsafeUnwrap();

const set = async (engine: Engine, items: Record<string, string>, path = 'nomad/jobs/work') =>
  (await putVariable(engine, hostPrincipal, { path, items }))._unsafeUnwrap();

async function until(engine: Engine, holds: (allocation: Allocation) => boolean): Promise<Allocation> {
  const [first] = await untilRecords(engine, allocations, ([each]) => each !== undefined && holds(each));
  if (first === undefined) throw new Error('There is no allocation');
  return first;
}

const ended = ({ ClientStatus }: Allocation): boolean => ['complete', 'failed'].includes(ClientStatus);
const said = ({ TaskStates }: Allocation): string =>
  (TaskStates?.['main']?.Events ?? []).map(({ Type, DisplayMessage }) => `${Type}: ${DisplayMessage}`).join('\n');
const root = (directory: string, { ID }: Allocation): string => join(directory, 'allocations', ID, 'main');
const log = (directory: string, { ID }: Allocation): string =>
  readFileSync(join(directory, 'allocations', ID, 'alloc', 'logs', 'main.stdout.0'), 'utf8');

/** Waits until a process has written something to a file. */
async function written(file: string): Promise<void> {
  const limit = AbortSignal.timeout(patience);
  const isWritten = (): boolean => existsSync(file) && statSync(file).size > 0;
  while (!isWritten() && !limit.aborted) await new Promise((done) => setTimeout(done, 10));
}

/** Waits until the task has printed something: it runs, and has seen what it was started with. */
async function printed(engine: Engine, directory: string): Promise<void> {
  const { ID } = await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
  await written(join(directory, 'allocations', ID, 'alloc', 'logs', 'main.stdout.0'));
}

describe('templates of a task', () => {
  it('read the node that it runs on', async () => {
    const { engine, directory } = await house();
    const names = ['node.unique.name', 'node.unique.id', 'node.datacenter', 'node.pool', 'node.class', 'node.region'];
    const read = [...names, 'attr.kernel.name', 'attr.unique.hostname', 'meta.rack'].map(
      (name) => `{{ env "${name}" }}`,
    );
    const branch = '{{ if eq (env "attr.kernel.name") "plan9" }}plan9{{ else }}other{{ end }}';
    await run(
      engine,
      shell('cat local/out; echo; echo $FROM_TEMPLATE', [
        template([...read, branch].join('|')),
        template('FROM_TEMPLATE={{ mustEnv "attr.kernel.name" }}', { DestPath: 'secrets/env', Envvars: true }),
      ]),
    );
    const done = await until(engine, ended);
    expect(done.ClientStatus).toBe('complete');
    const node = (await engine.storage.read((view) => view.list(nodes)[0]?.record))._unsafeUnwrap();
    const { ID = '', Name = '', Datacenter = '', NodePool = '', Attributes = {} } = node ?? {};
    const attributes = [Attributes['kernel.name'], Attributes['unique.hostname'] ?? ''];
    const values = [Name, ID, Datacenter, NodePool, '', 'global', ...attributes, '', 'other'];
    expect(log(directory, done)).toBe(`${values.join('|')}\n${Attributes['kernel.name']}\n`);
    expect(values.slice(0, 4).every((value) => value !== '')).toBe(true);
  });

  it('that name what no node has are refused at registration', async () => {
    const { engine } = await house();
    const refused = await register(engine, shell('true', [template('a\n{{ env "node.unique.hostname" }}')]));
    expect(JSON.stringify(refused._unsafeUnwrapErr())).toContain('line 2, column 4: unknown reference');
  });

  it('are there before it starts, with what surrounds it and the mode asked for', async () => {
    const { engine, directory } = await house();
    await set(engine, { user: 'ada' });
    const source =
      '{{ env "NOMAD_TASK_NAME" }} {{ meta "team" }} {{ with nomadVar "nomad/jobs/work" }}{{ .user }}{{ end }}';
    await run(
      engine,
      shell('cat local/out; cat "$NOMAD_SECRETS_DIR/[[x]]"; echo $DB_USER:$DB_PASS', [
        template(source, { Perms: '600' }),
        template('-[[ "two" ]]-', { DestPath: '${NOMAD_SECRETS_DIR}/[[x]]', LeftDelim: '[[', RightDelim: ']]' }),
        template('DB_USER="{{ (nomadVar "nomad/jobs/work").user }}"\nDB_PASS=x # no', {
          DestPath: 'secrets/db.env',
          Envvars: true,
        }),
      ]),
    );
    const allocation = await until(engine, ended);
    expect(allocation.ClientStatus).toBe('complete');
    expect(log(directory, allocation)).toBe('main blue ada-two-ada:x\n');
    expect(statSync(join(root(directory, allocation), 'local', 'out')).mode & 0o777).toBe(0o600);
  });

  it('may be in a file that another task left', async () => {
    const { engine, directory } = await house();
    const prestart = {
      ...shell('printf "{{ 1 | add 2 }}" > "$NOMAD_ALLOC_DIR/data/t"', []),
      Name: 'first',
      Lifecycle: { Hook: 'prestart', Sidecar: false },
      Resources: { CPU: 10, MemoryMB: 10 },
      LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
    };
    const group = groupDocument({}, shell('cat local/out', [{ SourcePath: '../alloc/data/t', DestPath: 'local/out' }]));
    const Tasks = [...(group['Tasks'] as unknown[]), prestart];
    (await register(engine, {}, { TaskGroups: [{ ...group, Tasks }] }))._unsafeUnwrap();
    expect(log(directory, await until(engine, ended))).toBe('3');
  });

  it('hold the task back until their variables exist', async () => {
    const { engine, directory } = await house();
    await run(engine, shell('cat local/out', [template('{{ (nomadVar "nomad/jobs/work").key }}')]));
    const waiting = await until(engine, (allocation) => said(allocation).includes('Waiting for the variable'));
    expect(waiting.ClientStatus).toBe('pending');
    expect(said(waiting)).toContain('Waiting for the variable nomad/jobs/work');
    await set(engine, { key: 'come' });
    const allocation = await until(engine, ended);
    expect(log(directory, allocation)).toBe('come');
  });

  it('are rendered for the first time without their wait, which is for changes', async () => {
    const { engine, directory } = await house();
    await set(engine, { user: 'ada' });
    const waiting = { Wait: { Min: 3600e9, Max: 7200e9 } };
    await run(engine, shell('cat local/out', [template('{{ (nomadVar "nomad/jobs/work").user }}', waiting)]));
    expect(log(directory, await until(engine, ended))).toBe('ada');
  });

  it('wait for themselves alone: another template of the task is written at once', async () => {
    const { engine, directory } = await house();
    await set(engine, { user: 'ada' });
    const text = '{{ (nomadVar "nomad/jobs/work").user }}';
    const patient = { ChangeMode: 'noop', Wait: { Min: 3600e9, Max: 7200e9 }, DestPath: 'local/patient' };
    const brief = { ChangeMode: 'noop', Wait: { Min: 50e6, Max: 100e6 }, DestPath: 'local/brief' };
    const templates = [
      template(text, { ChangeMode: 'noop', DestPath: 'local/quick' }),
      template(text, patient),
      template(text, brief),
    ];
    await run(engine, shell('while true; do sleep 0.1; done', templates));
    const { ID } = await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    const files = () =>
      ['quick', 'patient', 'brief'].map((name) =>
        readFileSync(join(directory, 'allocations', ID, 'main', 'local', name), 'utf8'),
      );
    expect(files()).toEqual(['ada', 'ada', 'ada']);
    await set(engine, { user: 'bob' });
    await vi.waitFor(() => expect(files()).toEqual(['bob', 'ada', 'bob']), { timeout: 10_000, interval: 20 });
  });

  it('that wait are left when the job is stopped', async () => {
    const { engine } = await house();
    await run(engine, shell('true', [template('{{ (nomadVar "nomad/jobs/work").key }}')]));
    await until(engine, (allocation) => said(allocation).includes('Waiting'));
    (await stopJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
    expect((await until(engine, ended)).ClientStatus).toBe('complete');
  });

  it.each([
    [
      'a rendering that fails',
      template('{{ mustEnv "NONE" }}'),
      'Template 1, line 1, column 4: the environment has no "NONE"',
    ],
    [
      'an environment that is none',
      template('A', { Envvars: true }),
      'Template 1 rendered an invalid environment, line 1',
    ],
    [
      'a file that is not there',
      { SourcePath: 'local/none', DestPath: 'local/out' },
      'The template file local/none does not exist',
    ],
    ['the notes of the runner', template('x', { DestPath: 'private/state.json' }), "outside the task's directory"],
    [
      'a destination that its references lead to',
      template('x', { DestPath: '${NOMAD_META_team}/../../../x' }),
      "outside the task's directory",
    ],
    ['the folder itself', template('x', { DestPath: 'local' }), 'is a directory'],
  ])('fail the task with the reason: %s', async (_what, broken, reason) => {
    const { engine, directory } = await house();
    const registered = await register(engine, shell('true', [broken]));
    if (registered.isErr()) {
      expect(JSON.stringify(registered.error)).toContain('outside the allocation directory');
      return;
    }
    const allocation = await until(engine, ended);
    expect(said(allocation)).toContain(`Setup Failure: `);
    expect(said(allocation)).toContain(reason);
    expect(existsSync(join(directory, 'allocations', 'x'))).toBe(false);
  });

  it('reach functions of this process as their environment', async () => {
    const seen: Record<string, string>[] = [];
    const { engine } = await house('kill', seen);
    await run(engine, {
      Driver: 'function',
      Config: { function: 'note' },
      Templates: [template('KEY=value', { Envvars: true })],
    });
    await until(engine, ended);
    expect(seen).toMatchObject([{ KEY: 'value', NOMAD_TASK_NAME: 'main' }]);
  });
});

describe('a variable that changes', () => {
  const source = '{{ (nomadVar "nomad/jobs/work").key }}';
  const untilTwo = 'cat local/out; echo; until grep -q two local/out; do sleep 0.05; done';

  it('renders the file anew and leaves the task alone with noop', async () => {
    const { engine, directory } = await house();
    await set(engine, { key: 'one' });
    await run(engine, shell(`${untilTwo}; cat local/out`, [template(source, { ChangeMode: 'noop' })]));
    await printed(engine, directory);
    await set(engine, { key: 'two' });
    const allocation = await until(engine, ended);
    expect([log(directory, allocation), allocation.TaskStates?.['main']?.Restarts]).toEqual(['one\ntwo', 0]);
  });

  it('restarts the task, which costs no attempt, with the new environment', async () => {
    const { engine, directory } = await house();
    await set(engine, { key: 'one' });
    const task = shell('echo $KEY; [ $KEY = two ] || exec sleep 60', [template(`KEY=${source}`, { Envvars: true })]);
    await run(engine, task);
    await printed(engine, directory);
    await set(engine, { key: 'two' });
    const allocation = await until(engine, ended);
    expect(log(directory, allocation)).toBe('one\ntwo\n');
    expect(allocation).toMatchObject({ ClientStatus: 'complete', TaskStates: { main: { Restarts: 1 } } });
    expect(said(allocation)).toContain('Restart Signaled: Template with change_mode restart re-rendered');
  });

  it('sends a signal once, however many templates ask for it', async () => {
    const { engine, directory } = await house();
    await set(engine, { key: 'one' });
    const signal = { ChangeMode: 'signal', ChangeSignal: 'SIGUSR1' };
    const text = 'trap "echo told; cat local/out; exit 0" USR1; echo up; while :; do sleep 0.05; done';
    await run(engine, shell(text, [template(source, signal), template(source, { ...signal, DestPath: 'local/b' })]));
    await printed(engine, directory);
    await set(engine, { key: 'two' });
    const allocation = await until(engine, ended);
    expect(log(directory, allocation)).toBe('up\ntold\ntwo');
    expect(said(allocation).match(/Signaling/g)).toHaveLength(1);
  });

  it.each([
    ['goes on after a script', '/bin/true', true, 'complete', 'ended with exit code 0'],
    ['goes on after a script that fails', '/bin/false', false, 'complete', 'ended with exit code 1'],
    ['ends with a script that must not fail', '/bin/false', true, 'failed', 'ended with exit code 1'],
  ])('%s', async (_what, Command, FailOnError, status, told) => {
    const { engine } = await house();
    await set(engine, { key: 'one' });
    const ChangeScript = {
      Command: '/bin/sh',
      Args: ['-c', `touch "\${NOMAD_TASK_DIR}/ran"; ${Command}`],
      FailOnError,
    };
    const wait = 'until [ -e local/ran ]; do sleep 0.05; done; sleep 0.5';
    await run(engine, shell(wait, [template(source, { ChangeMode: 'script', ChangeScript })]));
    await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    await set(engine, { key: 'two' });
    const allocation = await until(engine, ended);
    expect(allocation.ClientStatus).toBe(status);
    expect(said(allocation)).toContain(told);
  });

  it('leaves a task as it ended although that broke off a script that must not fail', async () => {
    const { engine } = await house();
    await set(engine, { key: 'one' });
    const ChangeScript = {
      Command: '/bin/sh',
      Args: ['-c', 'touch "${NOMAD_TASK_DIR}/ran"; exec sleep 60'],
      FailOnError: true,
    };
    const wait = 'until [ -e local/ran ]; do sleep 0.05; done';
    await run(engine, shell(wait, [template(source, { ChangeMode: 'script', ChangeScript })]));
    await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    await set(engine, { key: 'two' });
    const allocation = await until(engine, ended);
    expect(allocation).toMatchObject({ ClientStatus: 'complete', TaskStates: { main: { Failed: false } } });
    expect(said(allocation)).not.toContain('ended with exit code 1');
  });

  it('has its script run again by the next runner when the end of the one before broke it off', async () => {
    const { engine, directory, stop, runAgain } = await house('leave');
    await set(engine, { key: 'one' });
    const script = 'cd "${NOMAD_TASK_DIR}"; echo x >> runs; [ -e go ] || exec sleep 60; touch done';
    const ChangeScript = { Command: '/bin/sh', Args: ['-c', script], FailOnError: true, Timeout: 60e9 };
    const wait = 'until [ -e local/done ]; do sleep 0.05; done';
    await run(engine, shell(wait, [template(source, { ChangeMode: 'script', ChangeScript })]));
    const running = await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    await set(engine, { key: 'two' });
    const local = join(root(directory, running), 'local');
    await written(join(local, 'runs'));
    await stop();
    writeFileSync(join(local, 'go'), '');
    await runAgain();
    expect(await until(engine, ended)).toMatchObject({ ClientStatus: 'complete' });
    expect(readFileSync(join(local, 'runs'), 'utf8')).toBe('x\nx\n');
  });

  it('is noticed after the runner was away, and the environment is still known', async () => {
    const { engine, directory, stop, runAgain } = await house('leave');
    await set(engine, { key: 'one' });
    const task = shell('echo $KEY >> local/log; [ $KEY = two ] || exec sleep 60', [
      template(`KEY=${source}`, { Envvars: true }),
    ]);
    await run(engine, task);
    const running = await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    await written(join(root(directory, running), 'local', 'log'));
    await stop();
    await set(engine, { key: 'two' });
    await runAgain();
    const allocation = await until(engine, ended);
    expect(readFileSync(join(root(directory, running), 'local', 'log'), 'utf8')).toBe('one\ntwo\n');
    expect(said(allocation)).toContain('Reconnected');
  });

  it('that was written but not told of when the runner died is told of by the next one', async () => {
    const { engine, directory, stop, runAgain } = await house('leave');
    await set(engine, { key: 'one' });
    const text = 'x=$(cat local/out); printf $x >> local/log; [ $x = two ] || exec sleep 60';
    await run(engine, shell(text, [template(source)]));
    const running = await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    const folder = root(directory, running);
    await written(join(folder, 'local', 'log'));
    await stop();
    // What a runner leaves that dies between the new file and the restart.
    await set(engine, { key: 'two' });
    writeFileSync(join(folder, 'private', 'changed-templates.json'), '[0]');
    writeFileSync(join(folder, 'local', 'out'), 'two');
    await runAgain();
    await until(engine, ended);
    expect(readFileSync(join(folder, 'local', 'log'), 'utf8')).toBe('onetwo');
    expect(readdirSync(join(folder, 'private'))).not.toContain('changed-templates.json');
  });

  it('does nothing to a template that is rendered once', async () => {
    const { engine, directory } = await house();
    await set(engine, { key: 'one' });
    const other = template(source, { DestPath: 'local/b', ChangeMode: 'noop' });
    const text = 'until grep -q two local/b; do sleep 0.05; done; cat local/out';
    await run(engine, shell(text, [template(source, { Once: true }), other]));
    await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    await set(engine, { key: 'two' });
    const allocation = await until(engine, ended);
    expect([log(directory, allocation), allocation.TaskStates?.['main']?.Restarts]).toEqual(['one', 0]);
  });

  it('that goes away leaves what was rendered, and says so', async () => {
    const { engine } = await house();
    await set(engine, { key: 'one' });
    await run(
      engine,
      shell('until [ -e local/end ]; do sleep 0.05; done; grep one local/out', [
        template(source),
        template('{{ if nomadVarExists "nomad/jobs/work/app" }}x{{ end }}', {
          DestPath: 'local/end2',
          ChangeMode: 'noop',
        }),
      ]),
    );
    await until(engine, ({ ClientStatus }) => ClientStatus === 'running');
    await removeVariable(engine, hostPrincipal, { path: 'nomad/jobs/work' });
    const waiting = await until(engine, (allocation) => said(allocation).includes('Waiting for the variable'));
    expect(waiting.ClientStatus).toBe('running');
  });
});
