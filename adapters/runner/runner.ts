import { randomUUID } from 'node:crypto';
import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { NodeDescription } from '../../src/agent/link/node-work.js';
import { checkOptions, type OptionKind, type OptionTable } from '../../src/options/check-options.js';
import {
  amount,
  clock,
  flag,
  group,
  ids,
  listOf,
  logger,
  mapOf,
  oneOf,
  optional,
  port,
  recordId,
  text,
  textLike,
} from '../../src/options/option-kinds.js';
import type { AgentLink, AgentRefused, NodeTaken } from '../../src/ports/agent-link.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Download } from '../../src/ports/download.js';
import type { Ids } from '../../src/ports/ids.js';
import type { AgentProcess } from '../../src/ports/index.js';
import type { Logger } from '../../src/ports/logger.js';
import { day, timerOf } from '../../src/shared/duration.js';
import { FunctionSlots } from './allocation/function-slots.js';
import type { RunnerContext } from './allocation/runner-context.js';
import type { ArtifactLimits } from './artifacts/task-artifacts.js';
import { canReadArchives } from './artifacts/unpack-archive.js';
import {
  type DirectoryInUse,
  type DirectoryLock,
  type DirectoryUnusable,
  directoryUnusable,
  lockDirectory,
} from './disk/directory-lock.js';
import { DiskHandover } from './disk/disk-handover.js';
import { DiskNotes, NoteKeeper } from './disk/note-keeper.js';
import { diskTaskMemory, type TaskMemory, volatileTaskMemory } from './disk/task-memory.js';
import type { TaskDriver } from './drivers/task-driver.js';
import { Agent } from './node/agent.js';
import { agentFolder, type NodeIdentity, persistentNodeId } from './node/agent-folder.js';
import {
  describeHost,
  type HostOptions,
  type HostVolume,
  type VolumeUnusable,
  volumeFault,
} from './node/describe-host.js';
import type { KeptFinished } from './node/finished-allocations.js';
import { ServerTime } from './node/registration.js';
import { Background, within } from './waiting.js';

/** The dependencies of a runner; `agentPorts(engine)` returns those of an engine in this process. */
export interface RunnerPorts {
  /** The server that the runner works for. */
  readonly link: AgentLink;
  /** Time for restarts, deadlines and heartbeats. */
  readonly clock: Clock;
  /** Generates the ID of the node and those of events. */
  readonly ids: Ids;
  /** Receives log entries for operators; default: nothing is logged. */
  readonly logger?: Logger;
}

/** Describes the runner's node and its abilities. */
export interface RunnerOptions extends HostOptions {
  readonly drivers: readonly TaskDriver[];
  /**
   * How many allocations run functions at once; default: 100. Further ones that are placed on the node wait with an event in their task states. Functions ask
   * for no resources unless their document says so, so that this limits them. An allocation with several tasks counts once.
   */
  readonly concurrency?: number;
  /** Data directory of allocations, for one runner at a time. Without it only functions can run, and nothing is kept, not even logs. */
  readonly directory?: string;
  /** ID of the node, a lower-case UUID. When absent, generated at the first start and kept in the directory. */
  readonly nodeId?: string;
  /** What a stop does with processes that can survive it: `leave` (the next start finds them) or `kill`. Default with a directory: `leave`. */
  readonly onStop?: 'leave' | 'kill';
  /** Fetches the artifacts of tasks, for example `undiciDownload()`; when absent, tasks with artifacts are not placed here. */
  readonly download?: Download;
  /** Limits of one artifact. */
  readonly artifacts?: ArtifactLimits;
  /** The number of finished allocations, the newest, whose directories are kept for their logs; default: 50. */
  readonly keepFinished?: number;
  /** Milliseconds for which directories of failed allocations are kept in addition; default: a day, or 0 with `keepFinished: 0`. */
  readonly keepFailedFor?: number;
  /** Number of later runs of the same job after which the directory of a failed run may be removed; default: 200. */
  readonly keepFailedRuns?: number;
}

/** Errors of a runner's start. */
export type RunnerFault = DirectoryInUse | DirectoryUnusable | VolumeUnusable | AgentRefused | NodeTaken;

/** Options of a runner's stop. */
export interface StopRunnerOptions {
  /** Milliseconds that running tasks may take to finish; default: 10 seconds. */
  readonly deadline?: number;
}

/** The agent of a node, as a component of a process. */
export interface Runner {
  readonly nodeId: string;
  /**
   * Locks the directory, registers the node and starts to run its allocations; resolves when the node is
   * registered. From then on the process stays alive until `stop`. An unreachable server is retried; a server that refuses the
   * node, or has another live agent for it, is an error. A runner without a directory, or on a rebooted host, waits until
   * the server considers the previous agent dead. A stopped runner can be started again: a start during a stop waits for its
   * end, and has no effect if another stop follows.
   */
  start(): ResultAsync<void, RunnerFault>;
  /**
   * Accepts no new work, lets running tasks finish until the deadline and then interrupts the rest: no attempt is used, no end is
   * reported, and the next runner runs them again. Processes are left running or killed, depending on `onStop`.
   */
  stop(options?: StopRunnerOptions): Promise<void>;
}

const defaultConcurrency = 100;
const defaultKeepFinished = 50;
const defaultKeepFailedRuns = 200;
const defaultDeadline = 10_000;
/** Milliseconds that a stop waits for a full disk. */
const notesTimeout = 2000;

const slots: OptionKind = {
  takes: 'a whole number from 1',
  fits: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1,
};

const portTable: OptionTable<RunnerPorts> = {
  link: port(
    'a link to a server: use the ports of agentPorts(engine), or httpAgentLink(…)',
    'register',
    'work',
    'report',
  ),
  clock,
  ids,
  logger: optional(logger),
};

const optionTable: OptionTable<RunnerOptions> = {
  drivers: listOf(port('a driver, such as functionDriver(…)', 'start', 'recover')),
  concurrency: optional(slots),
  directory: optional(textLike(/./s, 'the path of a folder')),
  nodeId: optional(recordId),
  onStop: optional(oneOf('leave', 'kill')),
  download: optional(port('a download, such as undiciDownload()', 'fetch')),
  artifacts: optional(
    group<ArtifactLimits>({
      maximumBytes: optional(amount),
      totalTimeout: optional(amount),
      idleTimeout: optional(amount),
      unpackedBytes: optional(amount),
      unpackedEntries: optional(amount),
    }),
  ),
  keepFinished: optional(amount),
  keepFailedFor: optional(amount),
  keepFailedRuns: optional(amount),
  name: optional(text),
  datacenter: optional(text),
  nodePool: optional(text),
  nodeClass: optional(text),
  meta: optional(mapOf(text)),
  cpu: optional(amount),
  memory: optional(amount),
  disk: optional(amount),
  reserved: optional(group({ cpu: optional(amount), memory: optional(amount), disk: optional(amount) })),
  address: optional(text),
  volumes: optional(mapOf(group<HostVolume>({ path: text, readOnly: optional(flag) }))),
};

/**
 * The agent of one node: receives allocations from its server, runs their tasks and reports their states. Throws a TypeError for
 * missing, unknown or mistyped ports and options.
 */
export function createRunner(ports: RunnerPorts, options: RunnerOptions): Runner {
  checkOptions('createRunner', ports, portTable);
  checkOptions('createRunner', options, optionTable);
  const { directory, nodeId } = options;
  const make = (): string => ports.ids.next('node');
  return directory === undefined
    ? new HostRunner(ports, options, null, { id: nodeId ?? make() })
    : new HostRunner(ports, options, directory, persistentNodeId(directory, nodeId, make));
}

class HostRunner implements Runner {
  readonly nodeId: string;
  readonly #ports: RunnerPorts;
  readonly #options: RunnerOptions;
  readonly #directory: string | null;
  readonly #identityFault: string | undefined;
  readonly #logger: Logger;
  readonly #background: Background;
  /** Of the current agent: the notes of an ended agent are not written any more. */
  #notes: NoteKeeper;
  #agent: Agent | undefined;
  /** Withdraws the offered functions of the drivers. */
  #withdraw = (): void => undefined;
  /** The pending end of an agent. */
  #ending: Promise<void> | undefined;
  /** Whether `start` was called after the last `stop`. */
  #isWanted = false;
  #lock: DirectoryLock | undefined;
  #alive: NodeJS.Timeout | undefined;

  constructor(ports: RunnerPorts, options: RunnerOptions, directory: string | null, identity: NodeIdentity) {
    this.nodeId = identity.id;
    this.#identityFault = identity.fault;
    this.#ports = ports;
    this.#options = options;
    this.#directory = directory;
    this.#logger = ports.logger ?? silentLogger;
    this.#background = new Background(this.#logger);
    this.#notes = this.#newNotes();
  }

  start(): ResultAsync<void, RunnerFault> {
    this.#isWanted = true;
    return this.#ending === undefined ? this.#startNow() : new ResultAsync(this.#startAfter(this.#ending));
  }

  async #startAfter(ending: Promise<void>): Promise<Result<void, RunnerFault>> {
    await ending;
    return this.#isWanted ? this.#startNow() : ok(undefined);
  }

  #startNow(): ResultAsync<void, RunnerFault> {
    if (this.#agent !== undefined) return new ResultAsync(Promise.resolve(ok(undefined)));
    const prepared = this.#prepare();
    if (prepared.isErr()) return errAsync(prepared.error);
    const agent = prepared.value;
    this.#agent = agent;
    this.#withdraw = this.#offerFunctions();
    // Keeps the process alive: nothing else may do so while a runner waits for work.
    this.#alive = setInterval(() => undefined, 2 ** 30);
    return new ResultAsync(this.#begin(agent));
  }

  #offerFunctions(): () => void {
    const drivers = this.#options.drivers.filter(({ functions }) => functions !== undefined);
    if (drivers.length === 0) return () => undefined;
    const names = drivers.flatMap(({ functions = [] }) => functions);
    return this.#ports.link.offer?.(this.nodeId, names) ?? (() => undefined);
  }

  async #begin(agent: Agent): Promise<Result<void, RunnerFault>> {
    const started = await agent.start();
    if (started.isErr() && this.#agent === agent) await this.#end(agent, AbortSignal.abort(), 'stays');
    return started;
  }

  async stop({ deadline = defaultDeadline }: StopRunnerOptions = {}): Promise<void> {
    this.#isWanted = false;
    const agent = this.#agent;
    if (agent === undefined) return this.#ending;
    // The limit uses the host's wall time: a stop must end even if virtual time stands still.
    await this.#end(agent, AbortSignal.timeout(timerOf(deadline)), this.#directory === null ? 'leaves' : 'stays');
  }

  /** `leaves`: the server is notified that the node will not return. */
  async #end(agent: Agent, limit: AbortSignal, node: 'leaves' | 'stays'): Promise<void> {
    this.#agent = undefined;
    this.#withdraw();
    this.#ending = this.#endNow(agent, limit, node).finally(() => {
      this.#ending = undefined;
    });
    await this.#ending;
  }

  async #endNow(agent: Agent, limit: AbortSignal, node: 'leaves' | 'stays'): Promise<void> {
    await agent.stop(limit);
    await within(notesTimeout, this.#notes.flushed());
    this.#notes.close();
    this.#lock?.release();
    clearInterval(this.#alive);
    if (node === 'leaves') await agent.leave();
  }

  #prepare(): Result<Agent, RunnerFault> {
    const directory = this.#directory;
    if (directory !== null && this.#identityFault !== undefined) {
      return err({ type: 'directory_unusable', directory, message: this.#identityFault });
    }
    const unusable = volumeFault(this.#options.volumes ?? {});
    if (unusable !== undefined) return err(unusable);
    if (directory !== null) {
      const locked = lockDirectory(directory, this.#ports.ids.next('uuid'));
      if (locked.isErr()) return err(locked.error);
      this.#lock = locked.value;
    }
    try {
      return ok(this.#createAgent());
    } catch (error) {
      this.#lock?.release();
      return err(directoryUnusable(directory ?? '', error));
    }
  }

  #createAgent(): Agent {
    const { clock, ids } = this.#ports;
    const folder = this.#directory === null ? null : agentFolder(this.#directory);
    const link = linkOfProcess(this.#ports.link, {
      instance: randomUUID(),
      ...(folder === null ? {} : { folder: folder.secret, boot: folder.boot }),
    });
    const { drivers, onStop } = this.#options;
    this.#notes = this.#newNotes();
    const memory = this.#memory();
    const context: RunnerContext = {
      link,
      download: this.#options.download ?? null,
      artifactLimits: this.#options.artifacts ?? {},
      clock,
      serverTime: new ServerTime(clock),
      ids,
      logger: this.#logger,
      background: this.#background,
      memory,
      disks: this.#disks(memory),
      drivers: new Map(drivers.map((driver) => [driver.name, driver])),
      functionSlots: new FunctionSlots(this.#options.concurrency ?? defaultConcurrency),
      node: this.#describe(),
      leavesTasks: this.#directory !== null && onStop !== 'kill',
    };
    return new Agent({ link, context, keep: this.#kept(), past: folder?.past ?? 'unknown' });
  }

  #kept(): KeptFinished {
    const { keepFinished, keepFailedFor, keepFailedRuns } = this.#options;
    return {
      newest: keepFinished ?? defaultKeepFinished,
      // With `keepFinished: 0` the default keeps no folders at all.
      failedFor: keepFailedFor ?? (keepFinished === 0 ? 0 : day),
      failedRuns: keepFailedRuns ?? defaultKeepFailedRuns,
    };
  }

  #newNotes(): NoteKeeper {
    return new NoteKeeper(this.#ports.clock, this.#logger, this.#background);
  }

  #memory(): TaskMemory {
    return this.#directory === null ? volatileTaskMemory() : diskTaskMemory(this.#directory, this.#notes);
  }

  #disks(memory: TaskMemory): DiskHandover | null {
    return this.#directory === null ? null : new DiskHandover(new DiskNotes(this.#directory), memory);
  }

  #describe(): NodeDescription {
    const { clock } = this.#ports;
    const { drivers, download } = this.#options;
    const runner = { id: this.nodeId, drivers, directory: this.#directory, now: clock.now() };
    return describeHost(this.#options, { ...runner, downloads: download !== undefined, archives: canReadArchives() });
  }
}

const nothing = (): void => undefined;
const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Wraps a link so that its calls identify the calling process. */
function linkOfProcess(link: AgentLink, agent: AgentProcess): AgentLink {
  const { instance } = agent;
  return {
    register: (node) => link.register(node, agent),
    heartbeat: (nodeId) => link.heartbeat(nodeId, instance),
    work: (query, signal) => link.work({ ...query, instance }, signal),
    variables: (query, signal) => link.variables({ ...query, instance }, signal),
    report: (report) => link.report({ ...report, instance }),
    serve: (nodeId, perform) => link.serve(nodeId, perform, instance),
    leave: (nodeId) => link.leave(nodeId, instance),
  };
}
