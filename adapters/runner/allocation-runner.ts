import {
  type Allocation,
  type AllocationReport,
  clientDescriptionOf,
  clientStatusOf,
  type Engine,
  instantFromUnixNanos,
  type Job,
  millisecondsFromNanos,
  type TaskGroup,
  type TaskHappening,
  type TaskPhase,
  taskPhase,
} from '../../src/index.js';
import type { TaskDriver } from './task-driver.js';
import type { TaskMemory } from './task-memory.js';
import { type TaskNode, TaskRunner } from './task-runner.js';

export interface AllocationAssignment {
  readonly engine: Engine;
  readonly memory: TaskMemory;
  readonly drivers: ReadonlyMap<string, TaskDriver>;
  readonly node: TaskNode;
  readonly job: Job;
  readonly group: TaskGroup;
  readonly allocation: Allocation;
  readonly onChange: (allocationId: string) => void;
}

/** Runs the tasks of one allocation in their order, and ends them in theirs (job interface, lifecycle order and termination). */
export class AllocationRunner {
  readonly #assignment: AllocationAssignment;
  readonly #tasks: readonly { readonly runner: TaskRunner; readonly phase: TaskPhase; readonly leader: boolean }[];
  readonly #finished = new Map<TaskRunner, Promise<void>>();
  readonly #over = new AbortController();
  #ending = false;
  #released = false;
  #done = false;

  constructor(assignment: AllocationAssignment) {
    this.#assignment = assignment;
    const { allocation, onChange } = assignment;
    this.#tasks = assignment.group.Tasks.map((task) => ({
      runner: new TaskRunner({ ...assignment, task, onChange: () => onChange(allocation.ID) }),
      phase: taskPhase(task),
      leader: task.Leader,
    }));
  }

  get id(): string {
    return this.#assignment.allocation.ID;
  }

  /** All tasks are dead, and nothing will start any more. */
  get isDone(): boolean {
    return this.#done;
  }

  report(): AllocationReport {
    const taskStates = Object.fromEntries(this.#tasks.map(({ runner }) => [runner.name, runner.state]));
    const derived = clientStatusOf(taskStates);
    // Tasks may all be dead for a moment while others are still to start.
    const clientStatus = (derived === 'complete' || derived === 'failed') && !this.#done ? 'running' : derived;
    return { allocationId: this.id, clientStatus, clientDescription: clientDescriptionOf(clientStatus), taskStates };
  }

  /** Resolves when every task is dead, or when the runner has let go. */
  async run(): Promise<void> {
    this.#limitDuration();
    await this.#startInOrder();
    await this.#endOfMain();
    if (this.#released) return;
    this.#ending = true;
    await this.#killAll(this.#alive('prestart', 'prestart_sidecar', 'poststart', 'poststart_sidecar'), [
      { type: 'main_dead' },
    ]);
    const everStarted = this.#tasks.some(({ runner }) => runner.state.StartedAt !== null);
    if (everStarted) await Promise.all(this.#ofPhase('poststop').map((runner) => this.#start(runner)));
    if (this.#released) return;
    for (const { runner } of this.#tasks) runner.abandon();
    this.#over.abort();
    this.#done = true;
    this.#assignment.onChange(this.id);
  }

  /** Ends the allocation: the leader first, then the other tasks, then the sidecars. */
  async stop(skipDelay: boolean): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const { engine, group } = this.#assignment;
    const delay = millisecondsFromNanos(group.ShutdownDelay ?? 0);
    if (delay > 0 && !skipDelay) await engine.clock.sleepUntil(engine.clock.now() + delay, this.#over.signal);
    const leaders = this.#tasks.filter(({ leader }) => leader).map(({ runner }) => runner);
    await this.#killAll(leaders, [], skipDelay);
    await this.#killAll(this.#alive('main', 'prestart', 'poststart'), [], skipDelay);
    await this.#killAll(this.#alive('prestart_sidecar', 'poststart_sidecar'), [], skipDelay);
  }

  /** The runner stops; processes that can go on without it do. */
  release(): void {
    this.#released = true;
    this.#ending = true;
    this.#over.abort();
    for (const { runner } of this.#tasks) runner.release();
  }

  async #startInOrder(): Promise<void> {
    const sidecars = this.#startable('prestart_sidecar');
    const before = [...this.#startable('prestart'), ...sidecars].map((runner) => ({
      runner,
      end: this.#start(runner),
    }));
    await Promise.all(before.map(({ runner, end }) => (sidecars.includes(runner) ? runner.started : end)));
    const main = this.#startable('main');
    for (const runner of main) void this.#start(runner);
    await Promise.all(main.map((runner) => runner.started));
    for (const runner of this.#startable('poststart', 'poststart_sidecar')) void this.#start(runner);
  }

  /** While the allocation is ending, only tasks that may have a process are taken up, to end them. */
  #startable(...phases: TaskPhase[]): TaskRunner[] {
    return this.#ofPhase(...phases).filter((runner) => !this.#ending || runner.hasBegun);
  }

  async #endOfMain(): Promise<void> {
    const leader = this.#tasks.find((task) => task.leader)?.runner;
    const main = this.#ofPhase('main').map((runner) => this.#endOf(runner));
    if (leader !== undefined && this.#finished.has(leader)) {
      await this.#finished.get(leader);
      if (!this.#ending) await this.#killAll(this.#alive('main'), [{ type: 'leader_dead' }]);
    }
    await Promise.all(main);
    if (!this.#ending) await Promise.all(this.#ofPhase('poststart').map((runner) => this.#endOf(runner)));
  }

  #start(runner: TaskRunner): Promise<void> {
    const known = this.#finished.get(runner);
    if (known !== undefined) return known;
    const finished = runner.run().then(() => {
      if (runner.failed) void this.#failWith(runner);
    });
    this.#finished.set(runner, finished);
    return finished;
  }

  /** One task that failed for good takes the others with it. */
  async #failWith(failed: TaskRunner): Promise<void> {
    if (this.#released) return;
    this.#ending = true;
    const others = this.#tasks
      .filter(({ runner, phase }) => runner !== failed && phase !== 'poststop')
      .map(({ runner }) => runner);
    await this.#killAll(others, [{ type: 'sibling_failed', sibling: failed.name }]);
  }

  async #killAll(runners: readonly TaskRunner[], reasons: readonly TaskHappening[], skipDelay = false): Promise<void> {
    for (const runner of runners) runner.kill(reasons, skipDelay);
    await Promise.all(runners.map((runner) => this.#endOf(runner)));
  }

  /** When the task is dead; at once for one that was never started. */
  #endOf(runner: TaskRunner): Promise<void> {
    return this.#finished.get(runner) ?? Promise.resolve();
  }

  #ofPhase(...phases: TaskPhase[]): TaskRunner[] {
    return this.#tasks.filter(({ phase }) => phases.includes(phase)).map(({ runner }) => runner);
  }

  #alive(...phases: TaskPhase[]): TaskRunner[] {
    return this.#ofPhase(...phases).filter((runner) => !runner.isDead);
  }

  /** `MaxRunDuration` ends the tasks without making the allocation a failed one. */
  #limitDuration(): void {
    const { engine, group, allocation } = this.#assignment;
    const limit = millisecondsFromNanos(group.MaxRunDuration ?? 0);
    if (limit <= 0) return;
    const end = instantFromUnixNanos(allocation.CreateTime) + limit;
    void engine.clock.sleepUntil(end, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted) void this.stop(true);
    });
  }
}
