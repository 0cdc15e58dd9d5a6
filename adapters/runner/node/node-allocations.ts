import type { AllocationReport, NodeWork, NodeWorkList } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import { AllocationActor } from '../allocation/allocation-actor.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import type { Surroundings } from '../allocation/surroundings.js';
import { isTransientFault, messageOf } from '../disk/transient-fault.js';
import { beforeAbort, within } from '../waiting.js';
import { FinishedAllocations, type KeptFinished } from './finished-allocations.js';
import { predecessors } from './predecessors.js';
import { type Reported, Reporter } from './reporter.js';
import { endLeft } from './unwanted-tasks.js';

interface NodeAllocationsOptions {
  readonly link: AgentLink;
  readonly surroundings: Surroundings;
  readonly keep: KeptFinished;
  /** Aborts when no new work is taken any more. */
  readonly stopping: AbortSignal;
  /** The timeout of an allocation has become known, or has changed. */
  readonly onPatience: () => void;
  /** A report has failed. */
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
}

/** Between two attempts to take an allocation. */
const retryPause = 500;
/** How long a task that is interrupted may take to end. */
const interruptPatience = 1000;
const reportPatience = 2000;

/** The allocations of one node: those that run here, those that cannot be run, and the folders of ended ones. Reports their states. */
export class NodeAllocations {
  readonly #surroundings: Surroundings;
  readonly #stopping: AbortSignal;
  readonly #onPatience: () => void;
  readonly #actors = new Map<string, AllocationActor>();
  /** Allocations that cannot be run, with the reports about them. */
  readonly #abandoned = new Map<string, AllocationReport>();
  /** Allocations that end here and that the server has nothing more to do with. */
  readonly #dropped = new Set<string>();
  /** Allocations that could not be taken yet, because their notes cannot be read at present. */
  readonly #untaken = new Map<string, NodeWork>();
  /** Allocations that the server has nothing more to do with, and of which an earlier agent may have left something that runs. */
  readonly #clearing = new Set<string>();
  /** Allocations that ended here since the present question for work was asked: its answer may still list them. */
  readonly #over = new Set<string>();
  readonly #finished: FinishedAllocations;
  readonly #reporter: Reporter;

  constructor({ link, surroundings, keep, stopping, onPatience, onFailure }: NodeAllocationsOptions) {
    this.#surroundings = surroundings;
    this.#stopping = stopping;
    this.#onPatience = onPatience;
    const { memory, disks, background, clock, node } = surroundings;
    this.#finished = new FinishedAllocations({ memory, disks, background, clock, keep });
    const present = { actors: this.#actors, untaken: this.#untaken, finished: this.#finished };
    if (disks !== null) disks.predecessors = predecessors(surroundings, present);
    this.#reporter = new Reporter({
      link,
      clock,
      background,
      nodeId: node.ID,
      find: (id) => this.#reported(id),
      kept: () => this.#finished.ids,
      onTold: ({ ended, unknown }) => this.#afterReport(ended, unknown),
      onFailure,
    });
  }

  /** The allocation, while it runs here. */
  find(id: string): AllocationActor | undefined {
    return this.#actors.get(id);
  }

  /** How long allocations run on without the server; only of those that do not do so for ever. */
  get patience(): readonly Milliseconds[] {
    return [...this.#actors.values()].flatMap(({ patience }) => patience ?? []);
  }

  /** The server has just answered. */
  heard(): void {
    for (const actor of this.#actors.values()) actor.heard();
  }

  /** The server is asked for work: what it has acknowledged so far is part of its answer. */
  workIsAsked(): void {
    this.#over.clear();
  }

  /** Starts new allocations, updates changed ones, and ends those that are not wanted any more. */
  apply({ complete, work, gone }: NodeWorkList): void {
    // The folder of one that is over may be removed by now, so that it would run again.
    for (const item of work) if (!this.#over.has(item.allocation.ID)) this.#take(item);
    for (const id of gone) this.#drop(id);
    if (complete) this.#dropOthers(new Set(work.map(({ allocation }) => allocation.ID)));
    this.#surroundings.disks?.changed();
  }

  /** Keeps the folders of allocations that ended under an earlier agent, the oldest first. */
  addFinished(ids: readonly string[]): void {
    for (const id of ids) this.#finished.add(id);
  }

  /** Removes the folder of an ended allocation, or of all (null); false if there is none. */
  collect(id: string | null): Promise<boolean> {
    return this.#finished.collect(id);
  }

  /** Asks the server which of the kept ended allocations it does not know any more. */
  askForKept(): void {
    this.#reporter.askForKept();
  }

  /** Ends everything that runs. Nothing is reported and no allocation is taken any more. Resolves when all has ended. */
  async endAll(): Promise<void> {
    this.#untaken.clear();
    this.#reporter.close();
    const actors = [...this.#actors.values()];
    for (const actor of actors) actor.stop('stopped', true);
    await Promise.all(actors.map((actor) => actor.atRest()));
  }

  /**
   * Leaves everything to the next agent: tasks that continue without this process are released, those that may finish do so until the
   * deadline aborts, and the others are interrupted. `ending`: everything is being ended already.
   */
  async handOver(deadline: AbortSignal, ending: Promise<void> | undefined): Promise<void> {
    const actors = [...this.#actors.values()];
    if (ending !== undefined) await beforeAbort(deadline, ending);
    else for (const actor of actors) actor.handle({ type: 'release' });
    const finishing = actors.filter(({ mayFinish }) => mayFinish).map((actor) => actor.atRest());
    await beforeAbort(deadline, Promise.all(finishing));
    for (const actor of actors) actor.handle({ type: 'interrupt', within: interruptPatience });
    await within(2 * interruptPatience, Promise.all(actors.map((actor) => actor.atRest())));
    await this.#surroundings.disks?.idle();
    await within(reportPatience, this.#reporter.flushed());
  }

  /** Reports nothing any more. */
  close(): void {
    this.#reporter.close();
  }

  #dropOthers(listed: ReadonlySet<string>): void {
    for (const id of [...this.#actors.keys(), ...this.#untaken.keys()]) if (!listed.has(id)) this.#drop(id);
  }

  #take({ allocation, job }: NodeWork): void {
    this.#untaken.delete(allocation.ID);
    this.#keep(allocation.ID);
    const group = job?.TaskGroups.find((candidate) => candidate.Name === allocation.TaskGroup);
    const known = this.#actors.get(allocation.ID);
    if (job === undefined || group === undefined) {
      if (known !== undefined) known.stop('stopped', true);
      else this.#surroundings.background.run('ending an allocation', this.#abandon(allocation));
      return;
    }
    const work = { allocation, job, group };
    const actor = known ?? this.#begin(work);
    if (actor === undefined) return;
    if (known !== undefined) known.update(work);
    const { DesiredStatus, DesiredTransition } = allocation;
    if (DesiredStatus !== 'run') actor.stop('stopped', DesiredTransition.NoShutdownDelay === true);
    if (known === undefined) actor.begin();
    // The server has waited for the node, and may have missed earlier reports.
    else if (allocation.ClientStatus === 'unknown') this.#changed(allocation.ID);
    if (actor.patience !== undefined) this.#onPatience();
  }

  /** The server may have an allocation again that is being dropped, as after its store was restored: it wants to know the end. */
  #keep(id: string): void {
    if (this.#dropped.delete(id)) this.#changed(id);
  }

  #postpone(work: AllocationWork): void {
    const { ID } = work.allocation;
    this.#untaken.set(ID, work);
    this.#surroundings.background.run('taking an allocation', this.#takeLater(ID));
  }

  /** Takes the newest state that is known by then. */
  async #takeLater(id: string): Promise<void> {
    await this.#surroundings.clock.sleep(retryPause, this.#stopping);
    const work = this.#untaken.get(id);
    if (work !== undefined && !this.#stopping.aborted) this.#take(work);
    this.#surroundings.disks?.changed();
  }

  #begin(work: AllocationWork): AllocationActor | undefined {
    const { ID } = work.allocation;
    const { logger } = this.#surroundings;
    if (this.#clearing.has(ID)) {
      this.#postpone(work);
      return undefined;
    }
    try {
      const actor = new AllocationActor(work, this.#surroundings, (id) => this.#changed(id));
      this.#actors.set(ID, actor);
      return actor;
    } catch (error) {
      if (isTransientFault(error)) this.#postpone(work);
      logger.error({ allocation: ID, error: messageOf(error) }, 'An allocation could not be taken');
      return undefined;
    }
  }

  #drop(id: string): void {
    const actor = this.#actors.get(id);
    this.#untaken.delete(id);
    if (actor === undefined) this.#dropAbsent(id);
    if (actor === undefined || this.#dropped.has(id)) return;
    this.#dropped.add(id);
    actor.stop('stopped', true);
    this.#surroundings.background.run(
      'ending an allocation',
      actor.atRest().then(() => this.#forgetDropped(id)),
    );
  }

  /** Without an allocation that runs here: an earlier agent may have left one whose notes could not be read until now. */
  #dropAbsent(id: string): void {
    const { memory, background } = this.#surroundings;
    if (this.#finished.has(id) || !memory.has(id)) this.#reporter.ended(id);
    else if (!this.#clearing.has(id)) background.run('ending an allocation', this.#clear(id));
  }

  async #clear(id: string): Promise<void> {
    this.#clearing.add(id);
    try {
      await endLeft(this.#surroundings, id, this.#stopping);
    } finally {
      this.#clearing.delete(id);
    }
    // It may have been listed again meanwhile.
    if (this.#untaken.has(id)) return;
    this.#end(id);
    this.#reporter.ended(id);
    this.#reporter.askForKept();
  }

  #forgetDropped(id: string): void {
    if (!this.#dropped.has(id) || this.#actors.get(id)?.isDone !== true) return;
    this.#dropped.delete(id);
    this.#end(id);
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
    await endLeft(this.#surroundings, allocation.ID, this.#stopping);
    this.#reporter.changed(allocation.ID);
  }

  #changed(id: string): void {
    this.#surroundings.disks?.changed();
    if (!this.#dropped.has(id)) this.#reporter.changed(id);
  }

  #reported(id: string): Reported | undefined {
    const abandoned = this.#abandoned.get(id);
    if (abandoned === undefined) return this.#actors.get(id);
    return { isDone: true, report: () => abandoned, failureOutput: async () => undefined };
  }

  /** The server knows the end of these allocations: only the newest folders are kept, for as long as the server knows the allocations. */
  #afterReport(ended: readonly string[], unknown: readonly string[]): void {
    for (const id of ended) {
      this.#abandoned.delete(id);
      this.#end(id);
    }
    for (const id of new Set(unknown)) if (!this.#finished.has(id)) this.#drop(id);
    // Also those that have just ended: the server may have collected them before it was reported by this report.
    this.#finished.forget(unknown);
  }

  #end(id: string): void {
    const actor = this.#actors.get(id);
    actor?.close();
    this.#actors.delete(id);
    this.#over.add(id);
    this.#finished.add(id, actor && { ...actor.end, at: this.#surroundings.clock.now() });
  }
}
