import type { Result } from 'neverthrow';
import type { NodeWorkList } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { RunnerContext } from '../allocation/runner-context.js';
import { commandHandler } from '../commands/command-handler.js';
import { messageOf } from '../disk/text-file.js';
import { within } from '../waiting.js';
import type { AgentFolder } from './agent-folder.js';
import type { KeptFinished } from './finished-allocations.js';
import { NodeAllocations } from './node-allocations.js';
import { type NotTheAgent, Registration } from './registration.js';
import { endUnwanted } from './unwanted-tasks.js';

interface AgentOptions {
  readonly link: AgentLink;
  readonly context: RunnerContext;
  readonly keep: KeptFinished;
  /** The state of the previous agent's processes; `unknown` without a directory. */
  readonly past: AgentFolder['past'] | 'unknown';
}

/** Milliseconds that a stop waits for a pending registration. */
const registrationTimeout = 2000;

/** The agent of one node: registers it, runs its allocations, and carries out the server's commands. */
export class Agent {
  readonly #link: AgentLink;
  readonly #context: RunnerContext;
  readonly #past: AgentFolder['past'] | 'unknown';
  readonly #registration: Registration;
  readonly #allocations: NodeAllocations;
  readonly #work: WorkWatch;
  /** Aborts when no new work is accepted. */
  readonly #stopping = new AbortController();
  /** Aborts when the agent has ended. */
  readonly #over = new AbortController();
  #starting: Promise<Result<void, NotTheAgent>> | undefined;
  /** Set when another agent has taken the node; resolves when nothing runs here any more. */
  #lost: Promise<void> | undefined;
  #stopServing = (): void => undefined;

  constructor({ link, context, keep, past }: AgentOptions) {
    this.#link = link;
    this.#context = context;
    this.#past = past;
    const { clock, logger, node } = context;
    const onFailure = (error: AgentLinkError): Promise<void> => this.#afterFailure(error);
    this.#registration = new Registration({
      link,
      clock,
      logger,
      node,
      signal: this.#over.signal,
      disconnectTimeouts: () => this.#allocations.disconnectTimeouts,
      onHeard: () => this.#allocations.heard(),
      onFailure,
    });
    this.#allocations = new NodeAllocations({
      link,
      context,
      keep,
      stopping: this.#stopping.signal,
      onDisconnectTimeout: () => this.#registration.reconsiderBeat(),
      onFailure,
    });
    this.#work = new WorkWatch({
      link,
      clock,
      nodeId: node.ID,
      signal: this.#stopping.signal,
      onFailure,
      onAsk: () => this.#allocations.workIsAsked(),
    });
  }

  /** Fails if the server refuses the agent or has another live agent for the node. After a stop meanwhile, nothing starts. */
  start(): Promise<Result<void, NotTheAgent>> {
    this.#starting = this.#join();
    return this.#starting;
  }

  async #join(): Promise<Result<void, NotTheAgent>> {
    const { signal } = this.#stopping;
    const registered = await this.#registration.register(
      signal,
      ({ type }) => type === 'node_refused' || !this.#mayWait,
    );
    if (registered.isErr()) {
      // Another agent runs the same allocations. The notes of a copied folder name processes of the original, which must not be ended.
      if (registered.error.type === 'node_taken' && this.#past === 'continued') await this.#endAllLeft();
      return registered;
    }
    if (signal.aborted) return registered;
    const { background, memory, node } = this.#context;
    const handler = commandHandler({
      context: this.#context,
      find: (id) => this.#allocations.find(id),
      collect: (id) => this.#allocations.collect(id),
    });
    this.#stopServing = this.#link.serve(node.ID, handler);
    background.run('finishing removals', memory.finishRemovals());
    background.run('heartbeats', this.#registration.beat());
    background.run('watching for work', this.#watch());
    return registered;
  }

  /** Accepts no new work and leaves running tasks to the next agent; other tasks may finish until the deadline aborts. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    // If the server registered the node after this end, it would wait for its heartbeats.
    await within(registrationTimeout, Promise.resolve(this.#starting));
    await this.#allocations.handOver(deadline, this.#lost);
    this.#stopServing();
    this.#allocations.close();
    this.#over.abort();
    // For the same reason. Until here, a new registration lets the last reports through.
    await within(registrationTimeout, this.#registration.renewed());
  }

  /** For a node that will not return, so that the server does not wait for its heartbeat to expire. */
  leave(): Promise<void> {
    return this.#registration.leave();
  }

  /** No process of the previous agent is left, but the server may count that agent as alive for a while. */
  get #mayWait(): boolean {
    return this.#past === 'restarted' || this.#past === 'unknown';
  }

  async #watch(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      const listed = await this.#work.next();
      if (listed === undefined) return;
      this.#context.serverTime.heard(listed.now);
      const left = isFirst ? await this.#clearUp(listed) : [];
      // This may have taken long: all work may have been handed over or ended meanwhile, and nothing may start after that.
      if (this.#stopping.signal.aborted) return;
      this.#allocations.apply(listed);
      // Only now, when their replacements are registered here.
      this.#allocations.addFinished(left);
      if (left.length > 0 || listed.collected === true) this.#allocations.askForKept();
    }
  }

  /** At the start: ends unwanted allocations of an earlier agent. Returns the ended allocations, the oldest first. */
  async #clearUp({ work }: NodeWorkList): Promise<readonly string[]> {
    const wanted = new Set(work.map(({ allocation }) => allocation.ID));
    try {
      const unwanted = await endUnwanted(this.#context, wanted, this.#stopping.signal);
      this.#context.disks?.keepOnly(new Set([...wanted, ...unwanted]));
      return unwanted;
    } catch (error) {
      this.#logUnreadable(error);
      return [];
    }
  }

  async #endAllLeft(): Promise<void> {
    try {
      await endUnwanted(this.#context, new Set(), this.#stopping.signal);
    } catch (error) {
      this.#logUnreadable(error);
    }
  }

  #logUnreadable(error: unknown): void {
    this.#context.logger.error({ error: messageOf(error) }, 'Allocations of an earlier agent cannot be read');
  }

  /** Registers the node again if the server no longer knows it. */
  async #afterFailure(error: AgentLinkError): Promise<void> {
    if (error.type !== 'node_not_found' || this.#stopping.signal.aborted) return;
    const renewed = await this.#registration.renew();
    if (renewed.isErr()) this.#lose();
    else this.#work.startOver();
  }

  /** The server considered this agent dead, and another agent has taken over: ends everything here, so that nothing runs twice. */
  #lose(): void {
    if (this.#lost !== undefined) return;
    const { logger, node } = this.#context;
    logger.error({ node: node.ID }, 'Another agent has taken over the node: ending all allocations of this agent');
    this.#stopping.abort();
    this.#stopServing();
    this.#lost = this.#allocations.endAll().then(() => this.#over.abort());
  }
}

interface WorkWatchOptions {
  readonly link: AgentLink;
  readonly clock: Clock;
  readonly nodeId: string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
  /** Called before each query: its answer reflects everything that the server acknowledged before. */
  readonly onAsk: () => void;
}

const retryPause = 500;

/** Queries the server for the work of a node: first for everything, then for changes. */
export class WorkWatch {
  readonly #options: WorkWatchOptions;
  /** Index of the blocking query; 0 asks for everything. */
  #after = 0;
  /** Aborted to ask for everything instead. */
  #asking = new AbortController();

  constructor(options: WorkWatchOptions) {
    this.#options = options;
  }

  /** The next answer; undefined after the end of the watch. */
  async next(): Promise<NodeWorkList | undefined> {
    const { link, clock, nodeId, signal, onFailure, onAsk } = this.#options;
    while (!signal.aborted) {
      this.#asking = new AbortController();
      const { signal: overtaken } = this.#asking;
      onAsk();
      const listed = await link.work({ nodeId, after: this.#after }, AbortSignal.any([signal, overtaken]));
      if (signal.aborted) return undefined;
      if (overtaken.aborted) continue;
      if (listed.isOk()) {
        this.#after = listed.value.index;
        return listed.value;
      }
      // The server may return with an older store, whose lower indexes mean other changes.
      this.#after = 0;
      await onFailure(listed.error);
      await clock.sleep(retryPause, signal);
    }
    return undefined;
  }

  /** The server may have lost reports: the next query asks for everything. */
  startOver(): void {
    this.#after = 0;
    this.#asking.abort();
  }
}
