import { randomUUID } from 'node:crypto';
import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { NodeDescription } from '../../src/agent/link/node-work.js';
import { checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { recordId } from '../../src/options/node-kinds.js';
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
  text,
  textLike,
} from '../../src/options/option-kinds.js';
import type { AgentLink, AgentRefused, NodeTaken } from '../../src/ports/agent-link.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Download } from '../../src/ports/download.js';
import type { Ids } from '../../src/ports/ids.js';
import type { Logger } from '../../src/ports/logger.js';
import { day, timerOf } from '../../src/shared/duration.js';
import type { Surroundings } from './allocation/surroundings.js';
import { canReadArchives } from './artifacts/archive-entries.js';
import type { ArtifactLimits } from './artifacts/task-artifacts.js';
import { Background } from './background.js';
import {
  type DirectoryInUse,
  type DirectoryLock,
  type DirectoryUnusable,
  directoryUnusable,
  lockDirectory,
} from './disk/directory-lock.js';
import { DiskNotes } from './disk/disk-notes.js';
import { DiskSuccession } from './disk/disk-succession.js';
import { NoteKeeper } from './disk/note-keeper.js';
import { diskTaskMemory, type TaskMemory, volatileTaskMemory } from './disk/task-memory.js';
import type { TaskDriver } from './drivers/task-driver.js';
import { linkOfProcess } from './link/link-of-process.js';
import { Agent } from './node/agent.js';
import { agentFolder } from './node/agent-folder.js';
import { describeHost, type HostOptions, type HostVolume } from './node/describe-host.js';
import type { KeptFinished } from './node/finished-allocations.js';
import { type VolumeUnusable, volumeFault } from './node/host-volumes.js';
import { type NodeIdentity, persistentNodeId } from './node/node-identity.js';
import { ServerTime } from './node/server-time.js';
import { within } from './waiting.js';

/** What a runner needs from outside; `agentPorts(engine)` gives those of an engine in this process. */
export interface RunnerPorts {
  /** The server that the runner works for. */
  readonly link: AgentLink;
  /** Time for restarts, deadlines and heartbeats. */
  readonly clock: Clock;
  /** Makes the ID of the node and those of events. */
  readonly ids: Ids;
  /** Receives what operators should know; nothing is logged when absent. */
  readonly logger?: Logger;
}

/** The node that a runner is, and what it can do with tasks. */
export interface RunnerOptions extends HostOptions {
  readonly drivers: readonly TaskDriver[];
  /** Where allocations live, for one runner at a time; absent means that only functions can run, and nothing is kept, logs neither. */
  readonly directory?: string;
  /** ID of the node, a UUID in lower case. Absent: made at the first start, and kept in the directory. */
  readonly nodeId?: string;
  /** What a stop does to processes that could continue: `leave` (they are found again at the next start) or `kill`. Default `leave` with a directory. */
  readonly onStop?: 'leave' | 'kill';
  /** Fetches the artifacts of tasks, for example `undiciDownload()`; if absent, tasks with artifacts are not placed here. */
  readonly download?: Download;
  /** What one artifact may cost. */
  readonly artifacts?: ArtifactLimits;
  /** Directories of the newest finished allocations that are kept for their logs; 50 when absent. */
  readonly keepFinished?: number;
  /** Milliseconds that directories of allocations that failed are kept besides, whatever other jobs do; when absent a day, or 0 with `keepFinished: 0`. */
  readonly keepFailedFor?: number;
  /** Later runs of the same job after which the directory of one that failed need not be kept; 200 when absent. */
  readonly keepFailedRuns?: number;
}

/** Why a runner cannot begin. */
export type RunnerFault = DirectoryInUse | DirectoryUnusable | VolumeUnusable | AgentRefused | NodeTaken;

/** How long the stop of a runner may take. */
export interface StopRunnerOptions {
  /** Milliseconds that what runs may take to finish; 10 seconds when absent. */
  readonly deadline?: number;
}

/** The agent of a node, as a component of a process. */
export interface Runner {
  readonly nodeId: string;
  /**
   * Takes the directory, registers the node and begins to handle its allocations; resolves when the node is
   * registered. From then on the process stays alive until `stop`. A server that cannot be reached is asked again; one that refuses the
   * node, or has another agent for it that lives, is a fault. A runner without a directory, or on a host that was started anew, waits until
   * the server takes the agent before it for dead. A runner that was stopped can be started again: a start during the stop waits for its
   * end, and begins nothing when another stop follows.
   */
  start(): ResultAsync<void, RunnerFault>;
  /**
   * Takes no new work, lets what runs finish until the deadline, and then interrupts the rest: no attempt is used, no end is
   * reported, and the next runner runs it again. Processes are left running or ended, by `onStop`.
   */
  stop(options?: StopRunnerOptions): Promise<void>;
}

const defaultKeepFinished = 50;
const defaultKeepFailedRuns = 200;
const defaultDeadline = 10_000;
/** How long a stop waits for a disk that is full. */
const notesPatience = 2000;

const portTable: OptionTable<RunnerPorts> = {
  link: port(
    'a link to a server: take the ports of agentPorts(engine), or httpAgentLink(…)',
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
 * The agent of one node: takes the allocations that its server gives it, runs their tasks, and reports. Throws a TypeError for ports and
 * options that are missing, unknown or of another type.
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
  /** Of the present agent: those of one that has ended write nothing any more. */
  #notes: NoteKeeper;
  #agent: Agent | undefined;
  /** Takes back what was offered of the drivers' functions. */
  #withdraw = (): void => undefined;
  /** The end of an agent that is under way. */
  #ending: Promise<void> | undefined;
  /** Whether a start came after the last stop. */
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
    // Nothing else need keep the process alive: a runner waits for work.
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

  /** `leaves`: the server is reported that the node will not come back. */
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
    await within(notesPatience, this.#notes.flushed());
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
    const surroundings: Surroundings = {
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
      node: this.#describe(),
      leavesTasks: this.#directory !== null && onStop !== 'kill',
    };
    return new Agent({ link, surroundings, keep: this.#kept(), past: folder?.past ?? 'unknown' });
  }

  #kept(): KeptFinished {
    const { keepFinished, keepFailedFor, keepFailedRuns } = this.#options;
    return {
      newest: keepFinished ?? defaultKeepFinished,
      // Whoever wants no folders at all gets none.
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

  #disks(memory: TaskMemory): DiskSuccession | null {
    return this.#directory === null ? null : new DiskSuccession(new DiskNotes(this.#directory), memory);
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
