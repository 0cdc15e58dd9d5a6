import {
  type Engine,
  heartbeatNode,
  hostPrincipal,
  listNodeWork,
  type NodeDescription,
  type NodeWork,
  registerNode,
  reportAllocations,
} from '../../src/index.js';
import { AllocationRunner } from './allocation-runner.js';
import { describeHost, type HostOptions, persistentNodeId } from './describe-host.js';
import type { TaskDriver } from './task-driver.js';
import { diskTaskMemory, type TaskMemory, volatileTaskMemory } from './task-memory.js';
import { endUnwanted } from './unwanted-tasks.js';

export interface RunnerOptions extends HostOptions {
  readonly drivers: readonly TaskDriver[];
  /** Where allocations live; absent means that only functions can run, and nothing is kept. */
  readonly directory?: string;
  /** What a stop does to processes that could go on: `leave` (they are found again at the next start) or `kill`. Default `leave` with a directory. */
  readonly onStop?: 'leave' | 'kill';
  /** Directories of finished allocations that are kept for their logs. */
  readonly keepFinished?: number;
}

export interface Runner {
  readonly nodeId: string;
  /** Registers the node and begins to look after its allocations; resolves when the node is registered. */
  start(): Promise<void>;
  /** Ends or leaves the tasks and reports what is still to be reported. */
  stop(options?: { readonly deadline?: number }): Promise<void>;
}

const defaultKeepFinished = 50;
const retryDelay = 500;

/** The agent of one node: takes the allocations that the engine gives it, runs their tasks, and reports. */
export function createRunner(engine: Engine, options: RunnerOptions): Runner {
  const drivers = new Map(options.drivers.map((driver) => [driver.name, driver]));
  const directory = options.directory ?? null;
  const memory = directory === null ? volatileTaskMemory() : diskTaskMemory(directory);
  const newId = (): string => engine.ids.next('node');
  const nodeId = directory === null ? newId() : persistentNodeId(directory, newId);
  const description = describeHost(nodeId, options, options.drivers, directory, engine.clock.now());
  const agent = new Agent(engine, description, drivers, memory, options.keepFinished ?? defaultKeepFinished);
  const kill = (options.onStop ?? (directory === null ? 'kill' : 'leave')) === 'kill';
  return {
    nodeId,
    start: () => agent.start(),
    stop: ({ deadline = 10_000 } = {}) => agent.stop(kill, deadline),
  };
}

class Agent {
  readonly #engine: Engine;
  readonly #description: NodeDescription;
  readonly #drivers: ReadonlyMap<string, TaskDriver>;
  readonly #memory: TaskMemory;
  readonly #keepFinished: number;
  readonly #allocations = new Map<string, AllocationRunner>();
  readonly #ends = new Map<string, Promise<void>>();
  readonly #unreported = new Set<string>();
  /** Allocations that could not be taken up, and have been ended and reported. */
  readonly #abandoned = new Set<string>();
  readonly #finished: string[] = [];
  readonly #stopping = new AbortController();
  #cancelWait: () => void = () => undefined;
  #loops: Promise<unknown> = Promise.resolve();
  #reporting: Promise<void> | undefined;

  constructor(
    engine: Engine,
    description: NodeDescription,
    drivers: ReadonlyMap<string, TaskDriver>,
    memory: TaskMemory,
    keepFinished: number,
  ) {
    this.#engine = engine;
    this.#description = description;
    this.#drivers = drivers;
    this.#memory = memory;
    this.#keepFinished = keepFinished;
  }

  async start(): Promise<void> {
    const heartbeatTtl = await this.#register();
    this.#loops = Promise.all([this.#watch(), this.#beat(heartbeatTtl)]);
  }

  async stop(kill: boolean, deadline: number): Promise<void> {
    this.#stopping.abort();
    this.#cancelWait();
    const runners = [...this.#allocations.values()];
    if (kill) {
      for (const runner of runners) void runner.stop(true);
      await settledWithin(Promise.all(this.#ends.values()), deadline);
    }
    for (const runner of this.#allocations.values()) runner.release();
    await settledWithin(Promise.all([this.#loops, this.#flush()]), deadline);
  }

  async #register(): Promise<number> {
    for (;;) {
      const registered = await registerNode(this.#engine, hostPrincipal, this.#description);
      if (registered.isOk()) return registered.value.heartbeatTtl;
      this.#engine.logger.error({ error: registered.error.type }, 'The node could not be registered');
      if (this.#stopping.signal.aborted) return 0;
      await this.#pause(retryDelay);
    }
  }

  /** Tells that the node lives, three times within the time that it may be silent. */
  async #beat(heartbeatTtl: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#pause(heartbeatTtl / 3);
      if (this.#stopping.signal.aborted) return;
      const beat = await heartbeatNode(this.#engine, hostPrincipal, this.#description.ID);
      if (beat.isErr() && beat.error.type === 'node_not_found') await this.#register();
    }
  }

  async #watch(): Promise<void> {
    let after = 0;
    while (!this.#stopping.signal.aborted) {
      const listed = await listNodeWork(
        this.#engine,
        hostPrincipal,
        { nodeId: this.#description.ID },
        {
          after,
          whenCancelled: (cancel) => {
            this.#cancelWait = cancel;
            if (this.#stopping.signal.aborted) cancel();
          },
        },
      );
      if (this.#stopping.signal.aborted) return;
      if (listed.isErr()) {
        await this.#pause(retryDelay);
        continue;
      }
      if (after === 0) await this.#clearUp(listed.value.value);
      after = listed.value.index;
      this.#apply(listed.value.value);
    }
  }

  async #clearUp(work: readonly NodeWork[]): Promise<void> {
    const wanted = new Set(work.map(({ allocation }) => allocation.ID));
    for (const id of await endUnwanted(this.#memory, this.#drivers, wanted)) this.#keepForLogs(id);
  }

  /** Begins what is new, ends what is not wanted any more. */
  #apply(work: readonly NodeWork[]): void {
    const listed = new Set<string>();
    for (const item of work) {
      listed.add(item.allocation.ID);
      const known = this.#allocations.get(item.allocation.ID);
      const runner = known ?? this.#create(item);
      if (runner === undefined) {
        void this.#abandon(item);
        continue;
      }
      const { DesiredStatus, DesiredTransition } = item.allocation;
      if (DesiredStatus !== 'run') void runner.stop(DesiredTransition.NoShutdownDelay === true);
      if (known === undefined) this.#run(runner);
    }
    for (const [id, runner] of this.#allocations) {
      if (!listed.has(id) && !runner.isDone) void runner.stop(true);
    }
  }

  /** The job version is no longer kept, so nobody can say what its tasks are: what is left of them ends. */
  async #abandon({ allocation }: NodeWork): Promise<void> {
    if (this.#abandoned.has(allocation.ID)) return;
    this.#abandoned.add(allocation.ID);
    const others = this.#memory.known().filter(({ allocationId }) => allocationId !== allocation.ID);
    await endUnwanted(this.#memory, this.#drivers, new Set(others.map(({ allocationId }) => allocationId)));
    const report = {
      allocationId: allocation.ID,
      clientStatus: allocation.DesiredStatus === 'run' ? ('failed' as const) : ('complete' as const),
      clientDescription: 'The version of the job that it ran is no longer kept',
      taskStates: allocation.TaskStates ?? {},
    };
    const outcome = await reportAllocations(this.#engine, hostPrincipal, {
      nodeId: this.#description.ID,
      reports: [report],
    });
    if (outcome.isErr()) this.#abandoned.delete(allocation.ID);
    else this.#keepForLogs(allocation.ID);
  }

  #create({ allocation, job }: NodeWork): AllocationRunner | undefined {
    const group = job?.TaskGroups.find((candidate) => candidate.Name === allocation.TaskGroup);
    if (job === undefined || group === undefined) return undefined;
    const runner = new AllocationRunner({
      engine: this.#engine,
      memory: this.#memory,
      drivers: this.#drivers,
      node: this.#description,
      job,
      group,
      allocation,
      onChange: (id) => this.#changed(id),
    });
    this.#allocations.set(allocation.ID, runner);
    return runner;
  }

  #run(runner: AllocationRunner): void {
    const end = runner.run().catch((error: unknown) => {
      const message = error instanceof Error ? error.message : 'unknown';
      this.#engine.logger.error({ allocation: runner.id, error: message }, 'An allocation could not be run');
    });
    this.#ends.set(runner.id, end);
  }

  #changed(id: string): void {
    this.#unreported.add(id);
    void this.#flush();
  }

  /** One report at a time; what changes meanwhile goes into the next one. */
  #flush(): Promise<void> {
    this.#reporting ??= this.#report().finally(() => {
      this.#reporting = undefined;
      if (this.#unreported.size > 0 && !this.#stopping.signal.aborted) void this.#flush();
    });
    return this.#reporting;
  }

  async #report(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const batch = [...this.#unreported].flatMap((id) => this.#allocations.get(id) ?? []);
    this.#unreported.clear();
    if (batch.length === 0) return;
    const reports = batch.map((runner) => runner.report());
    const done = batch.filter((runner) => runner.isDone);
    const outcome = await reportAllocations(this.#engine, hostPrincipal, { nodeId: this.#description.ID, reports });
    if (outcome.isErr()) {
      for (const runner of batch) this.#unreported.add(runner.id);
      if (outcome.error.type === 'node_not_found') await this.#register();
      await this.#pause(retryDelay);
      return;
    }
    for (const id of outcome.value.unknown) void this.#allocations.get(id)?.stop(true);
    for (const runner of done) this.#finish(runner.id);
  }

  /** The engine knows the end: the allocation is over here, and only its newest logs are kept. */
  #finish(id: string): void {
    this.#allocations.delete(id);
    this.#ends.delete(id);
    this.#keepForLogs(id);
  }

  #keepForLogs(id: string): void {
    this.#finished.push(id);
    while (this.#finished.length > this.#keepFinished) this.#memory.forget(this.#finished.shift() as string);
  }

  async #pause(milliseconds: number): Promise<void> {
    const { clock } = this.#engine;
    await clock.sleepUntil(clock.now() + milliseconds, this.#stopping.signal);
  }
}

/** The limit is the host's wall time: a stop must end even if virtual time stands still. */
async function settledWithin(work: Promise<unknown>, deadline: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadline);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
