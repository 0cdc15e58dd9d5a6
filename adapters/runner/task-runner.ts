import {
  type Allocation,
  decideRestart,
  type Engine,
  interpolate,
  interpolationLookup,
  type Job,
  millisecondsFromNanos,
  type Node,
  pendingTask,
  type RestartCount,
  restartsOnSuccess,
  type Task,
  type TaskExit,
  type TaskGroup,
  type TaskHappening,
  type TaskState,
  taskEnvironment,
  taskPhase,
  transitionTask,
} from '../../src/index.js';
import type { RunningTask, TaskDriver, TaskStart } from './task-driver.js';
import type { TaskMemory, TaskPaths, TaskRecord } from './task-memory.js';
import { payloadOf, setUpTask } from './task-setup.js';

export interface TaskAssignment {
  readonly engine: Engine;
  readonly memory: TaskMemory;
  readonly drivers: ReadonlyMap<string, TaskDriver>;
  readonly node: TaskNode;
  readonly job: Job;
  readonly group: TaskGroup;
  readonly task: Task;
  readonly allocation: Allocation;
  /** Called after every change of the state. */
  readonly onChange: () => void;
}

/** What a task may know of its node. */
export type TaskNode = Pick<Node, 'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta'>;

/** Drives one task from its first start to its end: starts, restarts by policy, kills, and notes each step before the next. */
export class TaskRunner {
  readonly #assignment: TaskAssignment;
  #record: TaskRecord;
  #running: RunningTask | undefined;
  readonly #killed = new AbortController();
  #killHappenings: readonly TaskHappening[] = [];
  #skipDelay = false;
  #released = false;
  #markStarted: () => void = () => undefined;
  /** Resolves when the task has started once, or will not any more. */
  readonly started: Promise<void>;

  constructor(assignment: TaskAssignment) {
    this.#assignment = assignment;
    const { memory, allocation, task } = assignment;
    this.#record = memory.load(allocation.ID, task.Name) ?? freshRecord(allocation.TaskStates?.[task.Name]);
    this.started = new Promise((resolve) => {
      this.#markStarted = resolve;
    });
  }

  get name(): string {
    return this.#assignment.task.Name;
  }

  get state(): TaskState {
    return this.#record.state;
  }

  get failed(): boolean {
    return this.#record.outcome === 'failed';
  }

  /** Some start of it may have left a process. */
  get hasBegun(): boolean {
    return this.#record.attempt > 0;
  }

  get isDead(): boolean {
    return this.#record.outcome !== null;
  }

  /** Resolves when the task is dead for good (or the runner has let go of it). */
  async run(): Promise<void> {
    try {
      if (!this.isDead) await this.#live();
    } finally {
      this.#markStarted();
    }
  }

  /** Ends the task, for the reasons given as happenings; one that never started just counts as killed. */
  kill(happenings: readonly TaskHappening[], skipDelay: boolean): void {
    if (this.isDead || this.#killed.signal.aborted) return;
    this.#killHappenings = happenings;
    this.#skipDelay = skipDelay;
    this.#killed.abort();
  }

  /** Counts a task that will never be started as ended. */
  abandon(): void {
    if (!this.isDead && this.#record.attempt === 0) this.#finish('killed', { type: 'killed' });
  }

  /** The runner stops, the task may go on. */
  release(): void {
    this.#released = true;
    this.#running?.release();
    this.#killed.abort();
  }

  async #live(): Promise<void> {
    const { allocation, task, memory, drivers } = this.#assignment;
    const resumed = this.#record.attempt > 0;
    const paths = memory.prepare(allocation.ID, task.Name);
    if (!resumed && this.#record.state.Events === null) this.#happen([{ type: 'received' }]);
    const driver = drivers.get(task.Driver);
    if (driver === undefined)
      return this.#finish('failed', { type: 'setup_failed', message: `This node has no driver ${task.Driver}` });
    if (!resumed) {
      this.#happen([{ type: 'setup' }]);
      const fault = setUpTask(this.#assignment.job, task, paths);
      if (fault !== undefined) return this.#finish('failed', { type: 'setup_failed', message: fault });
    }
    const payload = payloadOf(this.#assignment.job);
    await this.#startUntilDone(driver, paths, payload);
  }

  async #startUntilDone(driver: TaskDriver, paths: TaskPaths | null, payload: Uint8Array | null): Promise<void> {
    // A start that was under way is looked for even if the task has to end: its process must not be forgotten.
    let recovering = this.#record.attempt > this.#record.endedAttempt;
    while (recovering || !this.#killed.signal.aborted) {
      const exit = recovering ? await this.#recover(driver, paths, payload) : await this.#start(driver, paths, payload);
      recovering = false;
      if (exit === 'never_started') continue;
      if (exit === 'released') return;
      if (this.#killed.signal.aborted) {
        this.#happen([{ type: 'ended', exit }]);
        break;
      }
      const proceeds = await this.#afterExit(exit);
      if (!proceeds) return;
    }
    if (!this.#released) this.#finish('killed', { type: 'killed' });
  }

  /** Applies the restart policy; false when the task is dead. The end and what follows from it are noted in one step. */
  async #afterExit(exit: TaskExit): Promise<boolean> {
    const { engine, job, task } = this.#assignment;
    const now = engine.clock.now();
    const verdict = decideRestart(
      task.RestartPolicy,
      restartsOnSuccess(job, taskPhase(task)),
      exit,
      this.#record.counted,
      now,
      engine.ids.fraction(),
    );
    const ended: TaskHappening = { type: 'ended', exit };
    const endedAttempt = this.#record.attempt;
    switch (verdict.type) {
      case 'succeeded':
        this.#happen([ended, { type: 'succeeded' }], { outcome: 'succeeded', endedAttempt });
        return false;
      case 'failed':
        this.#happen([ended, { type: 'gave_up', reason: verdict.reason }], { outcome: 'failed', endedAttempt });
        return false;
      case 'restart':
        this.#happen([ended, { type: 'restarting', after: verdict.after, reason: verdict.reason }], {
          counted: verdict.next,
          endedAttempt,
        });
        await engine.clock.sleepUntil(now + verdict.after, this.#killed.signal);
        return true;
    }
  }

  async #start(
    driver: TaskDriver,
    paths: TaskPaths | null,
    payload: Uint8Array | null,
  ): Promise<TaskExit | 'released'> {
    // The number is noted before the start: a runner that comes back looks for exactly this start.
    this.#save({ ...this.#record, attempt: this.#record.attempt + 1 });
    const outcome = await driver.start(this.#startArguments(paths, payload));
    if (outcome.type === 'start_failed') return outcome;
    this.#happen([{ type: 'started' }]);
    this.#markStarted();
    return this.#untilExit(outcome.task);
  }

  async #recover(
    driver: TaskDriver,
    paths: TaskPaths | null,
    payload: Uint8Array | null,
  ): Promise<TaskExit | 'never_started' | 'released'> {
    const outcome = await driver.recover(this.#startArguments(paths, payload));
    if (outcome.type === 'never_started') return 'never_started';
    if (outcome.type === 'exited') return outcome.exit;
    this.#happen([{ type: 'restored' }]);
    if (this.#record.state.State !== 'running') this.#happen([{ type: 'started' }]);
    this.#markStarted();
    return this.#untilExit(outcome.task);
  }

  async #untilExit(running: RunningTask): Promise<TaskExit | 'released'> {
    this.#running = running;
    const ending = new Promise<'kill'>((resolve) => {
      if (this.#killed.signal.aborted) resolve('kill');
      else this.#killed.signal.addEventListener('abort', () => resolve('kill'), { once: true });
    });
    const first = await Promise.race([running.exited, ending]);
    try {
      if (first !== 'kill') return first;
      return this.#released ? 'released' : await this.#end(running);
    } finally {
      this.#running = undefined;
    }
  }

  /** Shutdown delay, kill signal, kill timeout, and then by force. */
  async #end(running: RunningTask): Promise<TaskExit> {
    const { engine, task } = this.#assignment;
    if (this.#killHappenings.length > 0) this.#happen(this.#killHappenings);
    const exited = new AbortController();
    const done = running.exited.then((exit) => {
      exited.abort();
      return exit;
    });
    const delay = millisecondsFromNanos(task.ShutdownDelay);
    if (delay > 0 && !this.#skipDelay) {
      this.#happen([{ type: 'shutdown_delay', delay }]);
      await engine.clock.sleepUntil(engine.clock.now() + delay, exited.signal);
    }
    const timeout = Math.min(millisecondsFromNanos(task.KillTimeout), maximumKillTimeout);
    this.#happen([{ type: 'killing', reason: 'The allocation is ending', timeout }]);
    running.signal(task.KillSignal === '' ? 'SIGINT' : task.KillSignal);
    await engine.clock.sleepUntil(engine.clock.now() + timeout, exited.signal);
    if (!exited.signal.aborted) running.destroy();
    return done;
  }

  #startArguments(paths: TaskPaths | null, payload: Uint8Array | null): TaskStart {
    const { allocation, task, job, group, node } = this.#assignment;
    const directories = { shared: paths?.shared ?? '', local: paths?.local ?? '', secrets: paths?.secrets ?? '' };
    const place = { job, group, task, allocation, node, directories };
    const environment = taskEnvironment(place);
    const known = interpolationLookup(place, environment);
    const lookup = (name: string): string | undefined =>
      name === 'dispatch.payload' && payload !== null ? Buffer.from(payload).toString('utf8') : known(name);
    return {
      allocationId: allocation.ID,
      task: task.Name,
      attempt: this.#record.attempt,
      config: interpolateAll(task.Config ?? {}, lookup) as Record<string, unknown>,
      environment,
      paths,
      payload,
      meta: { ...job.Meta, ...group.Meta, ...task.Meta },
      logs: {
        maximumFiles: task.LogConfig.MaxFiles,
        maximumFileBytes: task.LogConfig.MaxFileSizeMB * 1024 * 1024,
        disabled: task.LogConfig.Disabled,
      },
    };
  }

  #finish(outcome: NonNullable<TaskRecord['outcome']>, happening: TaskHappening): void {
    this.#happen([happening], { outcome });
  }

  #happen(happenings: readonly TaskHappening[], change: Partial<Omit<TaskRecord, 'state'>> = {}): void {
    const now = this.#assignment.engine.clock.now();
    const state = happenings.reduce(
      (current, happening) => transitionTask(current, happening, now),
      this.#record.state,
    );
    this.#save({ ...this.#record, ...change, state });
    this.#assignment.onChange();
  }

  #save(record: TaskRecord): void {
    const { memory, allocation, task } = this.#assignment;
    this.#record = record;
    memory.save(allocation.ID, task.Name, record);
  }
}

/** A node never waits longer than this for a task that was asked to end. */
const maximumKillTimeout = 30_000;
const noRestarts: RestartCount = { intervalStart: 0, count: 0 };

function freshRecord(reported: TaskState | undefined): TaskRecord {
  return { state: reported ?? pendingTask, attempt: 0, endedAttempt: 0, counted: noRestarts, outcome: null };
}

function interpolateAll(value: unknown, lookup: (name: string) => string | undefined): unknown {
  if (typeof value === 'string') return interpolate(value, lookup);
  if (Array.isArray(value)) return value.map((item) => interpolateAll(item, lookup));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolateAll(item, lookup)]));
}
