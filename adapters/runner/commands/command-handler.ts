import { existsSync, statfsSync } from 'node:fs';
import { type CpuInfo, cpus, freemem, totalmem, uptime } from 'node:os';
import { basename, join } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import {
  type AllocationUsage,
  type CommandInput,
  type CommandOutput,
  type CommandPerformer,
  type CommandRefused,
  callerFailed,
  commandRefused,
  type HostUsage,
  type NodeCommand,
  type TaskUsage,
} from '../../../src/agent/link/node-command.js';
import type { Instant } from '../../../src/shared/instant.js';
import type { AllocationActor } from '../allocation/allocation-actor.js';
import type { RunnerContext } from '../allocation/runner-context.js';
import { messageOf } from '../disk/text-file.js';
import { readLogRange } from '../logs/log-files.js';
import { assumedMegahertz, processors } from '../node/describe-host.js';
import {
  followFile,
  followLogs,
  listFiles,
  offsetRefused,
  readFile,
  regularFile,
  statFile,
} from './allocation-files.js';

interface CommandHandlerOptions {
  readonly context: Pick<RunnerContext, 'memory' | 'clock'>;
  /** The allocation, while it runs here. */
  readonly find: (allocationId: string) => AllocationActor | undefined;
  /** Removes the folder of an ended allocation, or of all (null); false if there is none. */
  readonly collect: (allocationId: string | null) => Promise<boolean>;
}

type Answer = Result<AsyncIterable<CommandOutput>, CommandRefused>;

interface Asked<T extends NodeCommand['type']> {
  readonly command: Extract<NodeCommand, { readonly type: T }>;
  readonly input: AsyncIterable<CommandInput>;
  readonly signal: AbortSignal;
}

/** Carries out commands of the server. Every failure is returned as an error. */
export function commandHandler(options: CommandHandlerOptions): CommandPerformer {
  const handler = new CommandHandler(options);
  const perform = async (asked: Asked<NodeCommand['type']>): Promise<Answer> => {
    try {
      return await handler[asked.command.type](asked as never);
    } catch (error) {
      return err(commandRefused('failed', messageOf(error)));
    }
  };
  return (command, input, signal) => new ResultAsync(perform({ command, input, signal }));
}

type Handlers = { readonly [T in NodeCommand['type']]: (asked: Asked<T>) => Promise<Answer> | Answer };

class CommandHandler implements Handlers {
  readonly #meter = new HostMeter();
  readonly #options: CommandHandlerOptions;

  constructor(options: CommandHandlerOptions) {
    this.#options = options;
  }

  restart({ command }: Asked<'restart'>): Answer {
    return this.#running(command.allocationId).andThen((actor) => done(actor.restart(command.task, command.all)));
  }

  signal({ command }: Asked<'signal'>): Answer {
    return this.#running(command.allocationId).andThen((actor) => done(actor.signal(command.task, command.signal)));
  }

  async stats({ command }: Asked<'stats'>): Promise<Answer> {
    const actor = this.#options.find(command.allocationId);
    if (actor === undefined) return this.#ended(command.allocationId, { tasks: {}, at: this.#now() });
    if (command.task !== null && !actor.tasks.includes(command.task)) {
      return err(callerFailed('not_found', `Allocation does not have task "${command.task}"`));
    }
    const names = command.task === null ? actor.tasks : [command.task];
    const measured = await Promise.all(names.map(async (name) => [name, await actor.usageOf(name)] as const));
    const tasks = measured.filter((entry): entry is [string, TaskUsage] => entry[1] !== undefined);
    const { megahertz } = processors();
    return ok(one({ tasks: Object.fromEntries(tasks), megahertz, at: this.#now() } satisfies AllocationUsage));
  }

  checks({ command }: Asked<'checks'>): Answer {
    const actor = this.#options.find(command.allocationId);
    return actor === undefined ? this.#ended(command.allocationId, {}) : ok(one(actor.checkResults()));
  }

  async list_files({ command }: Asked<'list_files'>): Promise<Answer> {
    const folder = this.#folder(command.allocationId);
    return folder.isErr() ? err(folder.error) : (await listFiles(folder.value, command.path)).map(one);
  }

  async stat_file({ command }: Asked<'stat_file'>): Promise<Answer> {
    const folder = this.#folder(command.allocationId);
    return folder.isErr() ? err(folder.error) : (await statFile(folder.value, command.path)).map(one);
  }

  async read_file({ command }: Asked<'read_file'>): Promise<Answer> {
    const folder = this.#folder(command.allocationId);
    if (folder.isErr()) return err(folder.error);
    return readFile(folder.value, command.path, command.offset, command.limit);
  }

  async stream_file({ command, signal }: Asked<'stream_file'>): Promise<Answer> {
    const folder = this.#folder(command.allocationId);
    if (folder.isErr()) return err(folder.error);
    const file = await regularFile(folder.value, command.path);
    if (file.isOk() && command.origin === 'start' && command.offset < 0) return err(offsetRefused(command.offset));
    return file.map((path) => followFile(path, command.path, command, signal));
  }

  stream_logs({ command, signal }: Asked<'stream_logs'>): Answer {
    return this.#log(command).map((base) => followLogs(base, command, signal));
  }

  read_log({ command }: Asked<'read_log'>): Answer {
    return this.#log(command).map((base) => readLogRange(base, command));
  }

  host_stats(): Answer {
    return ok(one(this.#meter.read(this.#options.context.memory.root, this.#now())));
  }

  async collect({ command: { allocationId } }: Asked<'collect'>): Promise<Answer> {
    const isCollected = await this.#options.collect(allocationId);
    if (isCollected || allocationId === null) return ok(one(null));
    if (this.#options.find(allocationId) === undefined) return err(filesAreGone(allocationId));
    return err(callerFailed('state', notCollectable));
  }

  exec({ command, input, signal }: Asked<'exec'>): Promise<Answer> | Answer {
    const actor = this.#running(command.allocationId);
    if (actor.isErr()) return err(actor.error);
    const { task, terminal } = command;
    return actor.value.exec(task, { command: command.command, terminal, input, signal });
  }

  #running(allocationId: string): Result<AllocationActor, CommandRefused> {
    const actor = this.#options.find(allocationId);
    return actor === undefined ? err(commandRefused('not_found', `Unknown allocation "${allocationId}"`)) : ok(actor);
  }

  /** The folder of an allocation that has ended here, while its files are kept. */
  #ended(allocationId: string, answer: AllocationUsage | Readonly<Record<string, never>>): Answer {
    return this.#folder(allocationId).map(() => one(answer));
  }

  #log({ allocationId, task, stream }: Asked<'stream_logs' | 'read_log'>['command']): Result<string, CommandRefused> {
    return this.#folder(allocationId).map((folder) => join(folder, 'alloc', 'logs', `${basename(task)}.${stream}`));
  }

  #now(): Instant {
    return this.#options.context.clock.now();
  }

  #folder(allocationId: string): Result<string, CommandRefused> {
    const { memory } = this.#options.context;
    if (memory.root === null) return err(commandRefused('not_found', keepsNothing));
    const folder = memory.folder(allocationId);
    if (folder !== null && existsSync(folder)) return ok(folder);
    // The server sends the command to the node of an existing allocation.
    const isHere = this.#options.find(allocationId) !== undefined;
    return err(isHere ? commandRefused('not_found', notBegun) : filesAreGone(allocationId));
  }
}

/** Nomad clients compare the part before the colon. */
const notCollectable = 'No such allocation on client, or allocation not eligible for GC: it has not ended on its node';

const keepsNothing = 'The runner of this node has no data directory, so it keeps no files or logs of allocations';

const notBegun = 'The allocation has no files yet: its tasks have not been prepared';

function filesAreGone(allocationId: string): CommandRefused {
  const why = 'they were garbage-collected; see the settings node.keepFinished and node.keepFailedFor';
  return commandRefused(
    'not_found',
    `The files and logs of allocation "${allocationId}" are no longer on its node: ${why}`,
  );
}

function done(fault: CommandRefused | undefined): Answer {
  return fault === undefined ? ok(one(null)) : err(fault);
}

async function* one(value: unknown): AsyncGenerator<CommandOutput> {
  yield { type: 'value', value };
}

type Times = CpuInfo['times'];
type ProcessorUsage = HostUsage['processors'][number];

/** Fewest milliseconds of one processor between two measurements: the system counts in steps of 10. */
const shortestSpan = 200;

/** Measures the resource usage of this host. CPU shares count from the previous reading, in the first reading from the host's start. */
export class HostMeter {
  readonly #processors: () => readonly Pick<CpuInfo, 'times' | 'speed'>[];
  #last: readonly { readonly times: Times; readonly usage: ProcessorUsage }[] = [];

  constructor(processors: () => readonly Pick<CpuInfo, 'times' | 'speed'>[] = cpus) {
    this.#processors = processors;
  }

  /** `folder`: the agent's, on the measured disk; `at`: the time of the reading. */
  read(folder: string | null, at: number): HostUsage {
    return {
      memory: { total: totalmem(), available: freemem() },
      processors: this.#readProcessors(),
      disk: folder === null ? null : diskOf(folder),
      uptime: Math.floor(uptime()),
      at,
    };
  }

  #readProcessors(): readonly ProcessorUsage[] {
    this.#last = this.#processors().map(({ times, speed }, number) => {
      const last = this.#last[number];
      if (last === undefined) return { times, usage: usageIn(times, speed) };
      const passed = timesSince(last.times, times);
      return total(passed) < shortestSpan ? last : { times, usage: usageIn(passed, speed) };
    });
    return this.#last.map(({ usage }) => usage);
  }
}

function usageIn(times: Times, megahertz: number): ProcessorUsage {
  const all = total(times);
  const share = (part: number): number => (all === 0 ? 0 : (100 * part) / all);
  return {
    user: share(times.user + times.nice),
    system: share(times.sys + times.irq),
    idle: share(times.idle),
    megahertz: megahertz || assumedMegahertz,
  };
}

function timesSince(before: Times, now: Times): Times {
  return {
    user: now.user - before.user,
    nice: now.nice - before.nice,
    sys: now.sys - before.sys,
    idle: now.idle - before.idle,
    irq: now.irq - before.irq,
  };
}

function total({ user, nice, sys, idle, irq }: Times): number {
  return user + nice + sys + idle + irq;
}

function diskOf(folder: string): HostUsage['disk'] {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { folder, size: blocks * bsize, available: bavail * bsize };
}
