import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Result } from 'neverthrow';
import { type Client, connect } from '../../src/client/index.js';
import type { JobInput } from '../../src/jobs/document/job-input.js';
import { type Child, start } from '../adapters/cli/cli-process.js';
import { commandLineProgram } from './command-line.js';
import { endProcessesOf } from './leftovers.js';
import { type Receiver, startReceiver } from './receiver.js';

/** A server of an installation, and a client for it. */
export interface Served {
  readonly child: Child;
  readonly box: Client;
}

/** One run of the parameterized job `work`: the marks of its task, in order. */
export type Marks = ReadonlyMap<string, readonly string[]>;

/** A folder with a store and a runner directory, and a receiver that is notified of all runs of the job `work`. */
export interface Installation {
  readonly folder: string;
  readonly store: string;
  readonly receiver: Receiver;
  /** Starts `signalbox serve` with its runner on the store. Two servers may run on it at the same time. */
  serve(
    options?: readonly string[],
    environment?: Readonly<Record<string, string>>,
    /** The command line of another version. */
    program?: string,
  ): Promise<Served>;
  /** Starts the command line with other arguments. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Child;
  /**
   * Registers the job `work`, whose commands take this many seconds (default: 0.02) and are restarted this many times after failures
   * (default: 0), and the configuration that notifies the receiver of its runs.
   */
  prepare(box: Client, restarts?: number, seconds?: number): Promise<void>;
  /** `begin` and `end` of each run, by its dispatch number. */
  marks(): Marks;
  remove(): Promise<void>;
}

/** The script of the task: a mark, a short pause, a mark. One `write` each, so that marks of two tasks do not mix. */
const task =
  'echo "begin $NOMAD_META_n" >> "$MARKS"; echo "output of $NOMAD_META_n"; sleep "$SECONDS_OF_WORK"; echo "end $NOMAD_META_n" >> "$MARKS"';

/** Real processes on real files, from the sources. They inherit `SIGNALBOX_*` settings of the environment. */
export async function installation(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-installation-'));
  const program = commandLineProgram();
  const receiver = await startReceiver();
  const seed = join(folder, 'seed.json');
  const workspace = { id: 'ws-1', name: 'main', organization: 'org' };
  writeFileSync(
    seed,
    JSON.stringify({ workspaces: [workspace], run_notifications: [{ workspace: 'ws-1', job: 'work' }] }),
  );
  const store = join(folder, 'store.db');
  const marks = join(folder, 'marks');
  writeFileSync(marks, '');
  return {
    folder,
    store,
    receiver,
    async serve(options = [], environment = {}, other = program) {
      const own = ['serve', '--listen', '127.0.0.1:0', '--store', `sqlite:${store}`, '--access', 'open'];
      const others = ['--seed', seed, '--allow-outbound', '127.0.0.0/8', ...options];
      const child = start(process.execPath, [other, ...own, ...others], environment);
      return { child, box: connect({ url: await child.origin() }) };
    },
    run: (args, environment) => start(process.execPath, [program, ...args], environment),
    async prepare(box, restarts = 0, seconds = 0.02) {
      expectOk(await box.jobs.register(work(restarts, { MARKS: marks, SECONDS_OF_WORK: String(seconds) })));
      const triggers = ['run:created', 'run:planning', 'run:applying', 'run:completed', 'run:errored'] as const;
      const attributes = {
        destinationType: 'generic',
        name: 'hook',
        url: receiver.url,
        enabled: true,
        triggers,
      } as const;
      expectOk(await box.notifications.create('ws-1', attributes));
    },
    marks: () => marksIn(readFileSync(marks, 'utf8')),
    async remove() {
      await receiver.close();
      endProcessesOf(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function work(restarts: number, environment: Readonly<Record<string, string>>): JobInput {
  const resources = { CPU: 1, MemoryMB: 10 };
  const main = {
    Name: 'main',
    Driver: 'raw_exec',
    Config: { command: '/bin/sh', args: ['-c', task] },
    Env: environment,
  };
  const group = {
    Name: 'app',
    EphemeralDisk: { SizeMB: 10 },
    RestartPolicy: { Attempts: restarts, Interval: 600e9, Delay: 250e6, Mode: 'fail' as const },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
    Tasks: [{ ...main, Resources: resources, LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 } }],
  };
  const parameters = { MetaRequired: ['n'] };
  return { ID: 'work', Type: 'batch', Datacenters: ['*'], ParameterizedJob: parameters, TaskGroups: [group] };
}

function marksIn(text: string): Marks {
  const marks = new Map<string, string[]>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [mark = '', run = ''] = line.split(' ');
    marks.set(run, [...(marks.get(run) ?? []), mark]);
  }
  return marks;
}

function expectOk(answer: Result<unknown, unknown>): void {
  if (answer.isErr()) throw new Error(JSON.stringify(answer.error));
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Polls the condition for at most this many milliseconds; returns whether it held. */
export async function eventually(limit: number, holds: () => boolean | Promise<boolean>): Promise<boolean> {
  const end = performance.now() + limit;
  while (performance.now() < end) {
    if (await holds()) return true;
    await pause(5);
  }
  return false;
}
