import { err, ok, type Result } from 'neverthrow';
import type { AllocationReport, NodeDescription, NodeWork, NodeWorkList } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError, AgentRefused, NodeTaken } from '../../../src/ports/agent-link.js';
import type { Clock } from '../../../src/ports/clock.js';
import { AllocationActor } from '../allocation/allocation-actor.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import type { Surroundings } from '../allocation/surroundings.js';
import type { Background } from '../background.js';
import { commandDesk } from '../commands/command-desk.js';
import { isTransientFault, messageOf } from '../disk/transient-fault.js';
import { beforeAbort, within } from '../waiting.js';
import type { AgentFolder } from './agent-folder.js';
import { FinishedAllocations } from './finished-allocations.js';
import { predecessors } from './predecessors.js';
import { type Reported, Reporter } from './reporter.js';
import { endLeft, endUnwanted } from './unwanted-tasks.js';
import { WorkWatch } from './work-watch.js';

interface AgentOptions {
  readonly link: AgentLink;
  readonly surroundings: Surroundings;
  readonly keepFinished: number;
  /** What is known of the agent before this one; `unknown` without a directory. */
  readonly past: AgentFolder['past'] | 'unknown';
}

/** The server will not have this agent for the node. */
type NotTheAgent = AgentRefused | NodeTaken;

const retryPause = 500;
const longestPause = 10_000;

/** The agent of one node: takes the allocations that the server gives it, runs their tasks, and reports. */
export class Agent {
  readonly #link: AgentLink;
  readonly #surroundings: Surroundings;
  readonly #actors = new Map<string, AllocationActor>();
  /** Allocations that cannot be run, with what the server is to know of them. */
  readonly #abandoned = new Map<string, AllocationReport>();
  /** Allocations that end here and of which the server wants to know nothing more. */
  readonly #dropped = new Set<string>();
  /** Allocations that could not be taken yet, as their notes cannot be read at present. */
  readonly #untaken = new Map<string, NodeWork>();
  readonly #finished: FinishedAllocations;
  readonly #reporter: Reporter;
  readonly #work: WorkWatch;
  /** Aborts when no new work is taken any more. */
  readonly #stopping = new AbortController();
  /** Aborts when the agent is over. */
  readonly #over = new AbortController();
  readonly #past: AgentFolder['past'] | 'unknown';
  #heartbeatTtl = 0;
  /** Another agent has the node: resolves when nothing runs here any more. */
  #lost: Promise<void> | undefined;
  /** A registration that is under way. */
  #registering: Promise<Result<void, NotTheAgent>> | undefined;
  /** Aborted when the moment of the next heartbeat has to be chosen anew. */
  #nextBeat = new AbortController();
  #stopServing = (): void => undefined;

  constructor({ link, surroundings, keepFinished, past }: AgentOptions) {
    this.#link = link;
    this.#surroundings = surroundings;
    this.#past = past;
    const { memory, disks, background } = surroundings;
    this.#finished = new FinishedAllocations({ memory, disks, background, keep: keepFinished });
    const present = { actors: this.#actors, untaken: this.#untaken, finished: this.#finished };
    if (disks !== null) disks.predecessors = predecessors(surroundings, present);
    const { clock, node } = surroundings;
    this.#work = new WorkWatch({
      link,
      clock,
      nodeId: node.ID,
      signal: this.#stopping.signal,
      onFailure: (error) => this.#afterFailure(error),
    });
    this.#reporter = new Reporter({
      link,
      clock: surroundings.clock,
      background: surroundings.background,
      nodeId: surroundings.node.ID,
      find: (id) => this.#reported(id),
      kept: () => this.#finished.ids,
      onTold: ({ ended, unknown }) => this.#afterReport(ended, unknown),
      onFailure: (error) => this.#afterFailure(error),
    });
  }

  get #node(): NodeDescription {
    return this.#surroundings.node;
  }

  get #clock(): Clock {
    return this.#surroundings.clock;
  }

  get #background(): Background {
    return this.#surroundings.background;
  }

  /** Fails when the server refuses the agent, or has another one for the node that lives. */
  async start(): Promise<Result<void, NotTheAgent>> {
    const registered = await this.#register((error) => error.type === 'node_refused' || !this.#mayWait);
    if (registered.isErr()) {
      // Another agent runs the same allocations. What a copy of a folder tells of processes is of those of the original.
      if (registered.error.type === 'node_taken' && this.#past === 'continued') await this.#endAllLeft();
      return registered;
    }
    const desk = commandDesk({
      surroundings: this.#surroundings,
      find: (id) => this.#actors.get(id),
      collect: (id) => this.#finished.collect(id),
    });
    this.#stopServing = this.#link.serve(this.#node.ID, desk);
    this.#background.run('removing what is left', this.#surroundings.memory.finishRemovals());
    this.#background.run('heartbeats', this.#beat());
    this.#background.run('watching for work', this.#watch());
    return registered;
  }

  /** No process of the agent before this one is left, but the server may take it for alive for a while. */
  get #mayWait(): boolean {
    return this.#past === 'restarted' || this.#past === 'unknown';
  }

  async #endAllLeft(): Promise<void> {
    try {
      await endUnwanted(this.#surroundings, new Set(), this.#stopping.signal);
    } catch (error) {
      this.#surroundings.logger.error({ error: messageOf(error) }, 'Allocations of an earlier agent cannot be read');
    }
  }

  /**
   * Takes no new work, lets what may finish do so until the deadline aborts, and leaves the rest to the next agent: tasks
   * that go on without this process are let go of, the others are broken off.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping.abort();
    const actors = [...this.#actors.values()];
    if (this.#lost !== undefined) await beforeAbort(deadline, this.#lost);
    else for (const actor of actors) actor.handle({ type: 'release' });
    const finishing = actors.filter(({ mayFinish }) => mayFinish).map((actor) => actor.atRest());
    await beforeAbort(deadline, Promise.all(finishing));
    for (const actor of actors) actor.handle({ type: 'interrupt', within: interruptPatience });
    await within(2 * interruptPatience, Promise.all(actors.map((actor) => actor.atRest())));
    await this.#surroundings.disks?.idle();
    await within(reportPatience, this.#reporter.flushed());
    this.#stopServing();
    this.#reporter.close();
    this.#over.abort();
  }

  /** For a node that will not return: the server need not wait for its heartbeat to expire. */
  async leave(): Promise<void> {
    const left = await this.#link.leave(this.#node.ID);
    if (left.isErr())
      this.#surroundings.logger.warn(
        { error: textOf(left.error) },
        'The node could not tell the server that it leaves',
      );
  }

  /** Asks until the node is registered, the agent is over, or the server refuses it for good. */
  async #register(isFinal: (error: NotTheAgent) => boolean): Promise<Result<void, NotTheAgent>> {
    for (let pause = retryPause; !this.#over.signal.aborted; pause = Math.min(pause * 2, longestPause)) {
      const registered = await this.#link.register(this.#node);
      if (registered.isOk()) {
        this.#heard(registered.value.heartbeatTtl);
        break;
      }
      const { error } = registered;
      this.#surroundings.logger.error({ error: textOf(error) }, 'The node could not be registered');
      if ((error.type === 'node_refused' || error.type === 'node_taken') && isFinal(error)) return err(error);
      await this.#clock.sleep(pause, this.#over.signal);
    }
    return ok(undefined);
  }

  /** Tells that the node lives, three times within the time that it may be silent, or that an allocation runs without the server. */
  async #beat(): Promise<void> {
    while (!this.#over.signal.aborted) {
      this.#nextBeat = new AbortController();
      await this.#clock.sleep(this.#patience / 3, AbortSignal.any([this.#over.signal, this.#nextBeat.signal]));
      if (this.#over.signal.aborted) return;
      const beat = await this.#link.heartbeat(this.#node.ID);
      if (beat.isOk()) this.#heard(beat.value.heartbeatTtl);
      else await this.#afterFailure(beat.error);
    }
  }

  get #patience(): number {
    const own = [...this.#actors.values()].flatMap(({ patience }) => patience ?? []);
    return Math.min(this.#heartbeatTtl, ...own);
  }

  #heard(heartbeatTtl: number): void {
    this.#heartbeatTtl = heartbeatTtl;
    for (const actor of this.#actors.values()) actor.heard();
  }

  async #watch(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      const listed = await this.#work.next();
      if (listed === undefined) return;
      this.#surroundings.serverTime.heard(listed.now);
      const left = isFirst ? await this.#clearUp(listed) : [];
      this.#apply(listed);
      // Only after those that replace them are known.
      for (const id of left) this.#finished.add(id);
      if (left.length > 0 || listed.collected === true) this.#reporter.askForKept();
    }
  }

  /** At start: ends what a previous agent has left behind and what is not wanted any more. Gives what has ended, the oldest first. */
  async #clearUp({ work }: NodeWorkList): Promise<readonly string[]> {
    const wanted = new Set(work.map(({ allocation }) => allocation.ID));
    try {
      const unwanted = await endUnwanted(this.#surroundings, wanted, this.#stopping.signal);
      this.#surroundings.disks?.keepOnly(new Set([...wanted, ...unwanted]));
      return unwanted;
    } catch (error) {
      this.#surroundings.logger.error({ error: messageOf(error) }, 'Allocations of an earlier agent cannot be read');
      return [];
    }
  }

  /** Starts new allocations, updates changed ones, and ends those that are not wanted any more. */
  #apply({ complete, work, gone }: NodeWorkList): void {
    for (const item of work) this.#take(item);
    for (const id of gone) this.#drop(id);
    if (complete) this.#dropOthers(new Set(work.map(({ allocation }) => allocation.ID)));
    this.#surroundings.disks?.changed();
  }

  #dropOthers(listed: ReadonlySet<string>): void {
    for (const id of [...this.#actors.keys(), ...this.#untaken.keys()]) if (!listed.has(id)) this.#drop(id);
  }

  #take({ allocation, job }: NodeWork): void {
    this.#untaken.delete(allocation.ID);
    const group = job?.TaskGroups.find((candidate) => candidate.Name === allocation.TaskGroup);
    const known = this.#actors.get(allocation.ID);
    if (job === undefined || group === undefined) {
      if (known !== undefined) known.stop('stopped', true);
      else this.#background.run('ending an allocation', this.#abandon(allocation));
      return;
    }
    const actor = known ?? this.#begin({ allocation, job, group });
    if (actor === undefined) return;
    if (known !== undefined) known.update({ allocation, job, group });
    const { DesiredStatus, DesiredTransition } = allocation;
    if (DesiredStatus !== 'run') actor.stop('stopped', DesiredTransition.NoShutdownDelay === true);
    if (known === undefined) actor.begin();
    // The server has waited for the node, and is told again what it may have been told before.
    else if (allocation.ClientStatus === 'unknown') this.#changed(allocation.ID);
    // The next heartbeat may be due before the moment that was chosen without this allocation.
    if (actor.patience !== undefined) this.#nextBeat.abort();
  }

  /** Takes the newest state that is known by then. */
  async #takeLater(id: string): Promise<void> {
    await this.#clock.sleep(retryPause, this.#stopping.signal);
    const work = this.#untaken.get(id);
    if (work !== undefined && !this.#stopping.signal.aborted) this.#take(work);
    this.#surroundings.disks?.changed();
  }

  #begin(work: AllocationWork): AllocationActor | undefined {
    const { ID } = work.allocation;
    try {
      const actor = new AllocationActor(work, this.#surroundings, (id) => this.#changed(id));
      this.#actors.set(ID, actor);
      return actor;
    } catch (error) {
      if (isTransientFault(error)) {
        this.#untaken.set(ID, work);
        this.#background.run('taking an allocation', this.#takeLater(ID));
      }
      this.#surroundings.logger.error({ allocation: ID, error: messageOf(error) }, 'An allocation could not be taken');
      return undefined;
    }
  }

  #drop(id: string): void {
    const actor = this.#actors.get(id);
    this.#untaken.delete(id);
    if (actor === undefined) this.#reporter.ended(id);
    if (actor === undefined || this.#dropped.has(id)) return;
    this.#dropped.add(id);
    actor.stop('stopped', true);
    this.#background.run(
      'ending an allocation',
      actor.atRest().then(() => this.#forgetDropped(id)),
    );
  }

  #forgetDropped(id: string): void {
    if (this.#actors.get(id)?.isDone !== true) return;
    this.#actors.delete(id);
    this.#dropped.delete(id);
    this.#finished.add(id);
    this.#reporter.ended(id);
    this.#reporter.askForKept();
  }

  /** Its tasks are not known any more: their remaining processes are ended. */
  async #abandon(allocation: AllocationWork['allocation']): Promise<void> {
    if (this.#abandoned.has(allocation.ID)) return;
    const clientStatus = allocation.DesiredStatus === 'run' ? 'failed' : 'complete';
    this.#abandoned.set(allocation.ID, {
      allocationId: allocation.ID,
      clientStatus,
      clientDescription: 'The version of the job that it ran is no longer kept',
      taskStates: allocation.TaskStates ?? {},
    });
    await endLeft(this.#surroundings, allocation.ID, this.#stopping.signal);
    this.#reporter.changed(allocation.ID);
  }

  #changed(id: string): void {
    this.#surroundings.disks?.changed();
    if (!this.#dropped.has(id)) this.#reporter.changed(id);
  }

  #reported(id: string): Reported | undefined {
    const abandoned = this.#abandoned.get(id);
    return abandoned === undefined ? this.#actors.get(id) : { isDone: true, report: () => abandoned };
  }

  /** The server knows the end: the allocation is over here, and only its newest logs are kept, as long as the server knows it. */
  #afterReport(ended: readonly string[], unknown: readonly string[]): void {
    for (const id of unknown) {
      if (this.#finished.has(id)) this.#background.run('removing an allocation', this.#finished.collect(id));
      else this.#drop(id);
    }
    for (const id of ended) {
      this.#actors.delete(id);
      this.#abandoned.delete(id);
      this.#finished.add(id);
    }
  }

  async #afterFailure(error: AgentLinkError): Promise<void> {
    if (error.type !== 'node_not_found' || this.#stopping.signal.aborted) return;
    this.#registering ??= this.#register(({ type }) => type === 'node_taken');
    const registered = await this.#registering;
    this.#registering = undefined;
    if (registered.isErr()) this.#lose();
    else this.#work.startOver();
  }

  /** The server took this agent for dead, and another one does the work by now: nothing may run twice. */
  #lose(): void {
    if (this.#lost !== undefined) return;
    this.#surroundings.logger.error({ node: this.#node.ID }, 'Another agent has the node: what runs here is ended');
    this.#stopping.abort();
    this.#untaken.clear();
    this.#stopServing();
    this.#reporter.close();
    const actors = [...this.#actors.values()];
    for (const actor of actors) actor.stop('stopped', true);
    this.#lost = Promise.all(actors.map((actor) => actor.atRest())).then(() => this.#over.abort());
  }
}

/** How long a task that is broken off may take to end. */
const interruptPatience = 1000;
const reportPatience = 2000;

function textOf(error: AgentLinkError): string {
  return error.type === 'node_not_found' ? error.type : error.message;
}
