import type { Result } from 'neverthrow';
import type { NodeWorkList } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Surroundings } from '../allocation/surroundings.js';
import { commandDesk } from '../commands/command-desk.js';
import { messageOf } from '../disk/transient-fault.js';
import { within } from '../waiting.js';
import type { AgentFolder } from './agent-folder.js';
import type { KeptFinished } from './finished-allocations.js';
import { NodeAllocations } from './node-allocations.js';
import { type NotTheAgent, Registration } from './registration.js';
import { endUnwanted } from './unwanted-tasks.js';
import { WorkWatch } from './work-watch.js';

interface AgentOptions {
  readonly link: AgentLink;
  readonly surroundings: Surroundings;
  readonly keep: KeptFinished;
  /** What is known of the agent before this one; `unknown` without a directory. */
  readonly past: AgentFolder['past'] | 'unknown';
}

/** How long a stop waits for an answer to a registration that is under way, in milliseconds. */
const registrationPatience = 2000;

/** The agent of one node: registers it, takes the allocations that the server gives it, and carries out the server's commands. */
export class Agent {
  readonly #link: AgentLink;
  readonly #surroundings: Surroundings;
  readonly #past: AgentFolder['past'] | 'unknown';
  readonly #registration: Registration;
  readonly #allocations: NodeAllocations;
  readonly #work: WorkWatch;
  /** Aborts when no new work is taken any more. */
  readonly #stopping = new AbortController();
  /** Aborts when the agent has ended. */
  readonly #over = new AbortController();
  #starting: Promise<Result<void, NotTheAgent>> | undefined;
  /** Another agent has the node: resolves when nothing runs here any more. */
  #lost: Promise<void> | undefined;
  #stopServing = (): void => undefined;

  constructor({ link, surroundings, keep, past }: AgentOptions) {
    this.#link = link;
    this.#surroundings = surroundings;
    this.#past = past;
    const { clock, logger, node } = surroundings;
    const onFailure = (error: AgentLinkError): Promise<void> => this.#afterFailure(error);
    this.#registration = new Registration({
      link,
      clock,
      logger,
      node,
      signal: this.#over.signal,
      patience: () => this.#allocations.patience,
      onHeard: () => this.#allocations.heard(),
      onFailure,
    });
    this.#allocations = new NodeAllocations({
      link,
      surroundings,
      keep,
      stopping: this.#stopping.signal,
      onPatience: () => this.#registration.reconsiderBeat(),
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

  /** Fails when the server refuses the agent, or has another live one for the node. After a stop meanwhile nothing begins. */
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
      // Another agent runs the same allocations. The notes of a copied folder are about processes of the original, so they are left alone.
      if (registered.error.type === 'node_taken' && this.#past === 'continued') await this.#endAllLeft();
      return registered;
    }
    if (signal.aborted) return registered;
    const { background, memory, node } = this.#surroundings;
    const desk = commandDesk({
      surroundings: this.#surroundings,
      find: (id) => this.#allocations.find(id),
      collect: (id) => this.#allocations.collect(id),
    });
    this.#stopServing = this.#link.serve(node.ID, desk);
    background.run('removing what is left', memory.finishRemovals());
    background.run('heartbeats', this.#registration.beat());
    background.run('watching for work', this.#watch());
    return registered;
  }

  /** Takes no new work, and leaves what runs to the next agent; what may finish has until the deadline aborts. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    // A server that registers the node after its end would wait for it.
    await within(registrationPatience, Promise.resolve(this.#starting));
    await this.#allocations.handOver(deadline, this.#lost);
    this.#stopServing();
    this.#allocations.close();
    this.#over.abort();
    // For the same reason. Until here a new registration lets the last reports through.
    await within(registrationPatience, this.#registration.renewed());
  }

  /** For a node that will not return: the server need not wait for its heartbeat to expire. */
  leave(): Promise<void> {
    return this.#registration.leave();
  }

  /** No process of the agent before this one is left, but the server may count that agent as alive for a while. */
  get #mayWait(): boolean {
    return this.#past === 'restarted' || this.#past === 'unknown';
  }

  async #watch(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      const listed = await this.#work.next();
      if (listed === undefined) return;
      this.#surroundings.serverTime.heard(listed.now);
      const left = isFirst ? await this.#clearUp(listed) : [];
      // That may have taken long: what runs here has been handed over or ended meanwhile, and nothing may begin after it.
      if (this.#stopping.signal.aborted) return;
      this.#allocations.apply(listed);
      // Only now, when those that replace them are known.
      this.#allocations.addFinished(left);
      if (left.length > 0 || listed.collected === true) this.#allocations.askForKept();
    }
  }

  /** At the start: ends what an earlier agent has left and what is not wanted any more. Returns what has ended, the oldest first. */
  async #clearUp({ work }: NodeWorkList): Promise<readonly string[]> {
    const wanted = new Set(work.map(({ allocation }) => allocation.ID));
    try {
      const unwanted = await endUnwanted(this.#surroundings, wanted, this.#stopping.signal);
      this.#surroundings.disks?.keepOnly(new Set([...wanted, ...unwanted]));
      return unwanted;
    } catch (error) {
      this.#logUnreadable(error);
      return [];
    }
  }

  async #endAllLeft(): Promise<void> {
    try {
      await endUnwanted(this.#surroundings, new Set(), this.#stopping.signal);
    } catch (error) {
      this.#logUnreadable(error);
    }
  }

  #logUnreadable(error: unknown): void {
    this.#surroundings.logger.error({ error: messageOf(error) }, 'Allocations of an earlier agent cannot be read');
  }

  /** The server may not know the node any more: it is registered again. */
  async #afterFailure(error: AgentLinkError): Promise<void> {
    if (error.type !== 'node_not_found' || this.#stopping.signal.aborted) return;
    const renewed = await this.#registration.renew();
    if (renewed.isErr()) this.#lose();
    else this.#work.startOver();
  }

  /** The server took this agent for dead, and another one does the work by now: nothing may run twice. */
  #lose(): void {
    if (this.#lost !== undefined) return;
    const { logger, node } = this.#surroundings;
    logger.error({ node: node.ID }, 'Another agent has the node: what runs here is ended');
    this.#stopping.abort();
    this.#stopServing();
    this.#lost = this.#allocations.endAll().then(() => this.#over.abort());
  }
}
