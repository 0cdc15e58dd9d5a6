import type { AllocationReport, NodeWork, NodeWorkList } from '../../../src/agent/link/node-work.js';
import type { AgentLink, AgentLinkError } from '../../../src/ports/agent-link.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import { AllocationActor } from '../allocation/allocation-actor.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import type { RunnerContext } from '../allocation/runner-context.js';
import type { PreviousAllocations } from '../disk/disk-handover.js';
import { isTransientFault, messageOf } from '../disk/text-file.js';
import { beforeAbort, within } from '../waiting.js';
import { FinishedAllocations, type KeptFinished } from './finished-allocations.js';
import { type Reported, Reporter } from './reporter.js';
import { endLeft, type Premises } from './unwanted-tasks.js';

interface NodeAllocationsOptions {
  readonly link: AgentLink;
  readonly context: RunnerContext;
  readonly keep: KeptFinished;
  /** Aborts when no new work is accepted. */
  readonly stopping: AbortSignal;
  /** Called when the disconnect timeout of an allocation was set or changed. */
  readonly onDisconnectTimeout: () => void;
  /** Called when a report has failed. */
  readonly onFailure: (error: AgentLinkError) => Promise<void>;
}

/** Milliseconds between two attempts to start an allocation. */
const retryPause = 500;
/** Milliseconds that an interrupted task may take to end. */
const interruptTimeout = 1000;
const reportTimeout = 2000;

/** The allocations of one node: running ones, ones that cannot run, and the folders of ended ones. Reports their states. */
export class NodeAllocations {
  readonly #context: RunnerContext;
  readonly #stopping: AbortSignal;
  readonly #onDisconnectTimeout: () => void;
  readonly #actors = new Map<string, AllocationActor>();
  /** Allocations that cannot run, with their reports. */
  readonly #abandoned = new Map<string, AllocationReport>();
  /** Ending allocations that the server no longer manages. */
  readonly #dropped = new Set<string>();
  /** Allocations that could not be started yet, because their notes cannot be read now. */
  readonly #untaken = new Map<string, NodeWork>();
  /** Allocations that the server no longer manages and of which an earlier agent may have left running processes. */
  readonly #clearing = new Set<string>();
  /** Allocations that ended here since the current query for work began: its answer may still list them. */
  readonly #over = new Set<string>();
  readonly #finished: FinishedAllocations;
  readonly #reporter: Reporter;

  constructor({ link, context, keep, stopping, onDisconnectTimeout, onFailure }: NodeAllocationsOptions) {
    this.#context = context;
    this.#stopping = stopping;
    this.#onDisconnectTimeout = onDisconnectTimeout;
    const { memory, disks, background, clock, node } = context;
    this.#finished = new FinishedAllocations({ memory, disks, background, clock, keep });
    const present = { actors: this.#actors, untaken: this.#untaken, finished: this.#finished };
    if (disks !== null) disks.previousAllocations = previousAllocations(context, present);
    this.#reporter = new Reporter({
      link,
      clock,
      background,
      nodeId: node.ID,
      find: (id) => this.#reported(id),
      kept: () => this.#finished.ids,
      onReported: ({ ended, unknown }) => this.#afterReport(ended, unknown),
      onFailure,
    });
  }

  /** The allocation, while it runs here. */
  find(id: string): AllocationActor | undefined {
    return this.#actors.get(id);
  }

  /** The disconnect timeouts of allocations that have one. */
  get disconnectTimeouts(): readonly Milliseconds[] {
    return [...this.#actors.values()].flatMap(({ disconnectTimeout }) => disconnectTimeout ?? []);
  }

  /** The server has just answered. */
  heard(): void {
    for (const actor of this.#actors.values()) actor.heard();
  }

  /** Call before a query for work: its answer reflects everything acknowledged so far. */
  workIsAsked(): void {
    this.#over.clear();
  }

  /** Starts new allocations, updates changed ones, and ends unwanted ones. */
  apply({ complete, work, gone }: NodeWorkList): void {
    // The folder of an ended allocation may be removed by now; without this check it would run again.
    for (const item of work) if (!this.#over.has(item.allocation.ID)) this.#take(item);
    for (const id of gone) this.#drop(id);
    if (complete) this.#dropOthers(new Set(work.map(({ allocation }) => allocation.ID)));
    this.#context.disks?.changed();
  }

  /** Keeps the folders of allocations that ended under an earlier agent, the oldest first. */
  addFinished(ids: readonly string[]): void {
    for (const id of ids) this.#finished.add(id);
  }

  /** Removes the folder of an ended allocation, or of all (null); false if there is none. */
  collect(id: string | null): Promise<boolean> {
    return this.#finished.collect(id);
  }

  /** Asks the server which of the kept ended allocations it no longer knows. */
  askForKept(): void {
    this.#reporter.askForKept();
  }

  /** Ends all allocations, reports nothing more and accepts no more. Resolves when all have ended. */
  async endAll(): Promise<void> {
    this.#untaken.clear();
    this.#reporter.close();
    const actors = [...this.#actors.values()];
    for (const actor of actors) actor.stop('stopped', true);
    await Promise.all(actors.map((actor) => actor.atRest()));
  }

  /**
   * Leaves everything to the next agent: tasks that survive this process are released; the others may finish until the
   * deadline aborts and are then interrupted. `ending`: everything is being ended already.
   */
  async handOver(deadline: AbortSignal, ending: Promise<void> | undefined): Promise<void> {
    const actors = [...this.#actors.values()];
    if (ending !== undefined) await beforeAbort(deadline, ending);
    else for (const actor of actors) actor.handle({ type: 'release' });
    const finishing = actors.filter(({ mayFinish }) => mayFinish).map((actor) => actor.atRest());
    await beforeAbort(deadline, Promise.all(finishing));
    for (const actor of actors) actor.handle({ type: 'interrupt', within: interruptTimeout });
    await within(2 * interruptTimeout, Promise.all(actors.map((actor) => actor.atRest())));
    await this.#context.disks?.idle();
    await within(reportTimeout, this.#reporter.flushed());
  }

  /** Stops reporting. */
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
      else this.#context.background.run('ending an allocation', this.#abandon(allocation));
      return;
    }
    const work = { allocation, job, group };
    const actor = known ?? this.#begin(work);
    if (actor === undefined) return;
    if (known !== undefined) known.update(work);
    const { DesiredStatus, DesiredTransition } = allocation;
    if (DesiredStatus !== 'run') actor.stop('stopped', DesiredTransition.NoShutdownDelay === true);
    if (known === undefined) actor.begin();
    // The server counted the node as disconnected, and may have missed earlier reports.
    else if (allocation.ClientStatus === 'unknown') this.#changed(allocation.ID);
    if (actor.disconnectTimeout !== undefined) this.#onDisconnectTimeout();
  }

  /** The server may list a dropped allocation again, for example after its store was restored: then it needs the end reported. */
  #keep(id: string): void {
    if (this.#dropped.delete(id)) this.#changed(id);
  }

  #postpone(work: AllocationWork): void {
    const { ID } = work.allocation;
    this.#untaken.set(ID, work);
    this.#context.background.run('taking an allocation', this.#takeLater(ID));
  }

  /** Uses the latest state at that time. */
  async #takeLater(id: string): Promise<void> {
    await this.#context.clock.sleep(retryPause, this.#stopping);
    const work = this.#untaken.get(id);
    if (work !== undefined && !this.#stopping.aborted) this.#take(work);
    this.#context.disks?.changed();
  }

  #begin(work: AllocationWork): AllocationActor | undefined {
    const { ID } = work.allocation;
    const { logger } = this.#context;
    if (this.#clearing.has(ID)) {
      this.#postpone(work);
      return undefined;
    }
    try {
      const actor = new AllocationActor(work, this.#context, (id) => this.#changed(id));
      this.#actors.set(ID, actor);
      return actor;
    } catch (error) {
      if (isTransientFault(error)) this.#postpone(work);
      logger.error({ allocation: ID, error: messageOf(error) }, 'An allocation could not be started; retrying');
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
    this.#context.background.run(
      'ending an allocation',
      actor.atRest().then(() => this.#forgetDropped(id)),
    );
  }

  /** For an allocation that is not running here: an earlier agent may have left one whose notes could not be read until now. */
  #dropAbsent(id: string): void {
    const { memory, background } = this.#context;
    if (this.#finished.has(id) || !memory.has(id)) this.#reporter.ended(id);
    else if (!this.#clearing.has(id)) background.run('ending an allocation', this.#clear(id));
  }

  async #clear(id: string): Promise<void> {
    this.#clearing.add(id);
    try {
      await endLeft(this.#context, id, this.#stopping);
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

  /** Its job version is gone: ends the remaining processes of its tasks. */
  async #abandon(allocation: AllocationWork['allocation']): Promise<void> {
    if (this.#abandoned.has(allocation.ID)) return;
    const clientStatus = allocation.DesiredStatus === 'run' ? 'failed' : 'complete';
    this.#abandoned.set(allocation.ID, {
      allocationId: allocation.ID,
      clientStatus,
      clientDescription: 'The version of the job that it ran is no longer kept',
      taskStates: allocation.TaskStates ?? {},
    });
    await endLeft(this.#context, allocation.ID, this.#stopping);
    this.#reporter.changed(allocation.ID);
  }

  #changed(id: string): void {
    this.#context.disks?.changed();
    if (!this.#dropped.has(id)) this.#reporter.changed(id);
  }

  #reported(id: string): Reported | undefined {
    const abandoned = this.#abandoned.get(id);
    if (abandoned === undefined) return this.#actors.get(id);
    return { isDone: true, report: () => abandoned, failureOutput: async () => undefined };
  }

  /** The server has acknowledged the end of these allocations: from now on their folders may be removed. */
  #afterReport(ended: readonly string[], unknown: readonly string[]): void {
    for (const id of ended) {
      this.#abandoned.delete(id);
      this.#end(id);
    }
    for (const id of new Set(unknown)) if (!this.#finished.has(id)) this.#drop(id);
    // Including those that have just ended: the server may have collected them before this report.
    this.#finished.forget(unknown);
  }

  #end(id: string): void {
    const actor = this.#actors.get(id);
    actor?.close();
    this.#actors.delete(id);
    this.#over.add(id);
    this.#finished.add(id, actor && { ...actor.end, at: this.#context.clock.now() });
  }
}

/** The allocations of a node in their different states. */
interface Present {
  readonly actors: ReadonlyMap<string, Pick<AllocationActor, 'isDone'>>;
  readonly untaken: Pick<ReadonlyMap<string, unknown>, 'has'>;
  readonly finished: FinishedAllocations;
}

/** The states of previous allocations, for taking over their disks. */
export function previousAllocations(premises: Premises, { actors, untaken, finished }: Present): PreviousAllocations {
  return {
    standing(id) {
      const actor = actors.get(id);
      if (actor !== undefined) return actor.isDone ? 'over' : 'runs';
      if (untaken.has(id)) return 'runs';
      return premises.memory.has(id) && !finished.isBeingRemoved(id) ? 'over' : 'absent';
    },
    async clear(id, signal) {
      if (!actors.has(id) && !finished.has(id)) await endLeft(premises, id, signal);
    },
    passedOn: () => finished.trim(),
  };
}
