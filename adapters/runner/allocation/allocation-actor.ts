import { err, type Result } from 'neverthrow';
import { failedTask, standingOfTasks, toldState } from '../../../src/agent/allocation/client-status.js';
import {
  type AllocationEffect,
  type AllocationEvent,
  type AllocationLife,
  type AllocationPlan,
  type EndCause,
  isAtRest,
  isDone,
  mayFinish,
  newAllocationLife,
  transitionAllocation,
} from '../../../src/agent/allocation/transition-allocation.js';
import {
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
  type TaskUsage,
} from '../../../src/agent/link/node-command.js';
import type { AllocationReport, FailureOutput } from '../../../src/agent/link/node-work.js';
import {
  freshTaskRecord,
  hasBegun,
  newTaskLife,
  restoredTaskRecord,
  type TaskLife,
  taskPlan,
} from '../../../src/agent/task/task-life.js';
import type { Clock } from '../../../src/ports/clock.js';
import { stopOnClientAfter } from '../../../src/scheduler/reconcile/situation.js';
import { type Milliseconds, millisecondsFromNanos, second } from '../../../src/shared/duration.js';
import { AllocationChecks, type CheckedAllocation } from '../checks/allocation-checks.js';
import { runBriefly } from '../commands/run-briefly.js';
import { isTransientFault, messageOf } from '../disk/text-file.js';
import { type CommandRequest, knownSignal } from '../drivers/task-driver.js';
import { AllocationDisk } from './allocation-disk.js';
import type { AllocationWork } from './allocation-work.js';
import { momentOf, type RunnerContext } from './runner-context.js';
import { TaskPerformer } from './task-performer.js';

/** Shorter losses of contact with the server are ignored: they may be late heartbeats. */
const shortestTimeout = 2 * second;

/**
 * Runs one allocation: passes events to the pure functions of `src/agent`, keeps the tasks' records, and has the effects performed.
 * Events are handled one at a time, in the order of their arrival.
 */
export class AllocationActor {
  #work: AllocationWork;
  #life: AllocationLife;
  readonly #context: RunnerContext;
  readonly #onChange: (id: string) => void;
  readonly #performers: ReadonlyMap<string, TaskPerformer>;
  readonly #queue: AllocationEvent[] = [];
  readonly #checks: AllocationChecks;
  readonly #disk: AllocationDisk;
  #handling = false;
  #isClosed = false;
  #timer = new AbortController();
  #limit = new AbortController();
  #contact = new AbortController();
  readonly #running: RunningTimes;
  /** When the allocation was created, on the monotonic clock. */
  readonly #createdAt: Milliseconds;
  readonly #resting: (() => void)[] = [];

  /** Throws if its notes cannot be read or written now. */
  constructor(work: AllocationWork, context: RunnerContext, onChange: (id: string) => void) {
    this.#work = work;
    this.#context = context;
    this.#onChange = onChange;
    this.#running = new RunningTimes(context.clock);
    this.#checks = new AllocationChecks(work, context, this.#checked());
    this.#createdAt = context.serverTime.moment(work.allocation.CreateTime);
    const plan = this.#plan(work);
    const records = plan.tasks.map(({ name }) => this.#recordOf(name));
    this.#life = newAllocationLife(plan, records.map(newTaskLife));
    this.#disk = new AllocationDisk(work, context.disks, records.some(hasBegun));
    this.#performers = new Map(
      work.group.Tasks.map((task) => [
        task.Name,
        new TaskPerformer({ ...work, task }, context, this.#disk, (event) =>
          this.handle({ type: 'task', task: task.Name, event }),
        ),
      ]),
    );
  }

  get id(): string {
    return this.#work.allocation.ID;
  }

  /** All tasks are dead and none will start again. */
  get isDone(): boolean {
    return isDone(this.#life);
  }

  get mayFinish(): boolean {
    return mayFinish(this.#life);
  }

  /** Always reports: a previous agent may have recorded the end of all tasks and died before reporting it. */
  begin(): void {
    this.handle({ type: 'assigned' });
    this.#onChange(this.id);
    this.#checks.begin();
    this.#limitDuration();
    this.heard();
  }

  /** The server has changed the allocation or the job version that it runs. */
  update(work: AllocationWork): void {
    this.#work = work;
    for (const task of work.group.Tasks) {
      const performer = this.#performers.get(task.Name);
      if (performer !== undefined) performer.assignment = { ...work, task };
    }
    this.handle({ type: 'updated', plan: this.#plan(work) });
    this.#limitDuration();
  }

  /** How long it keeps running without contact with the server (`stop_on_client_after`); undefined: no limit. */
  get disconnectTimeout(): Milliseconds | undefined {
    const after = stopOnClientAfter(this.#work.group);
    return after === undefined || isAtRest(this.#life) ? undefined : Math.max(after, shortestTimeout);
  }

  /** The server has just answered: restarts the timeout. */
  heard(): void {
    this.#contact.abort();
    const after = this.disconnectTimeout;
    if (after === undefined) return;
    this.#contact = this.#after(after, () => this.stop('cut_off', true));
  }

  stop(cause: EndCause, skipDelay: boolean): void {
    this.handle({ type: 'stop', cause, skipDelay });
  }

  get tasks(): readonly string[] {
    return [...this.#performers.keys()];
  }

  /**
   * Restarts one running task, all running tasks (possibly none, while they wait for their next start), or all tasks from the
   * beginning. Returns an error if that is impossible.
   */
  restart(task: string | null, all: boolean): CommandRefused | undefined {
    const unknown = this.#unknownTask(task);
    if (unknown !== undefined) return unknown;
    const running = this.#runningTasks(task);
    if (running.length === 0 && (!all || this.isDone)) {
      const runsOn = this.#life.cause === null && !this.isDone;
      return task === null && runsOn ? undefined : callerFailed('state', 'Task not running');
    }
    const asked = all ? 'all tasks' : task === null ? 'running tasks' : 'task';
    const reason = `User requested ${asked} to restart`;
    this.handle({ type: 'restart', tasks: all ? 'all' : running, reason });
    return undefined;
  }

  /** Sends a signal to one task, or to all running tasks. Returns an error if that is impossible. */
  signal(task: string | null, signal: string): CommandRefused | undefined {
    const name = knownSignal(signal);
    if (name === undefined) return callerFailed('invalid', `invalid signal: ${signal}`);
    const unknown = this.#unknownTask(task);
    if (unknown !== undefined) return unknown;
    const running = this.#runningTasks(task);
    if (running.length === 0) return callerFailed('state', 'Task not running');
    for (const each of running) {
      const happening = { type: 'signalling', signal: name, reason: 'User requested to signal task' } as const;
      this.handle({ type: 'task', task: each, event: { type: 'report', happening } });
      this.#performers.get(each)?.signal(name);
    }
    return undefined;
  }

  /** The latest results of its services' checks. */
  checkResults(): unknown {
    return this.#checks.results();
  }

  /** What the checks may read and trigger. */
  #checked(): CheckedAllocation {
    return {
      tasks: () => standingOfTasks(this.#life),
      since: (task) => this.#since(task),
      run: (task, command, timeout) => runBriefly((request) => this.exec(task, request), command, timeout),
      restart: (task, reason) => {
        const event = { type: 'restart', reason, asFailure: true } as const;
        for (const each of this.#runningTasks(task)) this.handle({ type: 'task', task: each, event });
      },
      changed: () => this.#onChange(this.id),
    };
  }

  /** Without a task: when the main tasks started. */
  #since(task: string | null): Milliseconds | undefined {
    const { tasks } = this.#life.plan;
    return this.#running.since(
      tasks.flatMap(({ name, phase }) => ((task === null ? phase === 'main' : name === task) ? name : [])),
    );
  }

  usageOf(task: string): Promise<TaskUsage | undefined> {
    return this.#performers.get(task)?.usage() ?? Promise.resolve(undefined);
  }

  exec(task: string, request: CommandRequest): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>> {
    const performer = this.#performers.get(task);
    if (performer === undefined) return Promise.resolve(err(callerFailed('not_found', 'task not found')));
    const state = this.#life.tasks[this.#life.plan.tasks.findIndex(({ name }) => name === task)]?.record.state;
    const hasBegun = state === undefined || state.StartedAt !== null || state.State === 'dead';
    if (hasBegun) return performer.exec(request);
    return Promise.resolve(err(commandRefused('not_found', `task "${task}" not started yet.`)));
  }

  #unknownTask(task: string | null): CommandRefused | undefined {
    if (task === null || this.#performers.has(task)) return undefined;
    return callerFailed('not_found', `Could not find task runner for task: ${task}`);
  }

  #runningTasks(task: string | null): string[] {
    return this.#life.plan.tasks
      .filter(({ name }, at) => (task ?? name) === name && this.#life.tasks[at]?.step.type === 'running')
      .map(({ name }) => name);
  }

  report(): AllocationReport {
    const { healthy } = this.#checks;
    return { allocationId: this.id, ...toldState(this.#life), ...(healthy === undefined ? {} : { healthy }) };
  }

  /** The job that it is a run of, and whether it failed. */
  get end(): { readonly job: string; readonly failed: boolean } {
    const { ID, ParentID, Namespace } = this.#work.job;
    const failed = failedTask(this.#life) !== undefined || toldState(this.#life).clientStatus === 'failed';
    return { job: `${Namespace} ${ParentID === '' ? ID : ParentID}`, failed };
  }

  /** The last output lines of the task that failed or timed out; undefined without such a task or output. */
  async failureOutput(): Promise<FailureOutput | undefined> {
    const task = failedTask(this.#life);
    const text = task === undefined ? '' : ((await this.#performers.get(task)?.outputTail()) ?? '');
    return task === undefined || text === '' ? undefined : { task, text };
  }

  /** Resolves when nothing of this allocation is pending in the agent. */
  atRest(): Promise<void> {
    if (isAtRest(this.#life)) return Promise.resolve();
    return new Promise((resolve) => this.#resting.push(resolve));
  }

  /** For an ended allocation: later events, such as the end of a script, change and record nothing, as its folder may be gone. */
  close(): void {
    this.#isClosed = true;
  }

  handle(event: AllocationEvent): void {
    if (this.#isClosed) return;
    this.#queue.push(event);
    if (this.#handling) return;
    this.#handling = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#handleOne(next);
    } finally {
      this.#handling = false;
    }
  }

  #handleOne(event: AllocationEvent): void {
    const before = this.#life;
    const { next, effects } = transitionAllocation(before, event, momentOf(this.#context));
    this.#life = next;
    this.#running.follow(before, next);
    this.#keep(before);
    for (const effect of effects) this.#perform(effect);
    if (next !== before) {
      this.#checks.judge();
      this.#onChange(this.id);
    }
    if (isAtRest(next)) this.#rest();
  }

  #keep(before: AllocationLife): void {
    for (const [at, task] of this.#life.tasks.entries()) {
      const was = before.tasks[at];
      const name = this.#life.plan.tasks[at]?.name ?? '';
      if (was?.timer !== task.timer) this.#performers.get(name)?.dropTimer();
      if (was?.record !== task.record) this.#context.memory.save(this.id, name, task.record);
    }
  }

  #perform(effect: AllocationEffect): void {
    if (effect.type === 'task') this.#performers.get(effect.task)?.perform(effect.effect);
    else this.#setTimer(effect.timer, effect.after);
  }

  #rest(): void {
    this.#checks.end();
    this.#disk.close();
    this.#timer.abort();
    this.#limit.abort();
    this.#contact.abort();
    for (const performer of this.#performers.values()) performer.close();
    for (const resolve of this.#resting.splice(0)) resolve();
  }

  #setTimer(timer: number, after: number): void {
    this.#timer.abort();
    this.#timer = this.#after(after, () => this.handle({ type: 'timer', timer }));
  }

  /** `MaxRunDuration` is measured from the creation of the allocation. */
  #limitDuration(): void {
    this.#limit.abort();
    const limit = millisecondsFromNanos(this.#work.group.MaxRunDuration ?? 0);
    if (limit <= 0 || isAtRest(this.#life)) return;
    const left = this.#createdAt + limit - this.#context.clock.monotonic();
    this.#limit = this.#after(left, () => this.stop('expired', true));
  }

  #after(duration: number, act: () => void): AbortController {
    const controller = new AbortController();
    const wait = async (): Promise<void> => {
      await this.#context.clock.sleep(duration, controller.signal);
      if (!controller.signal.aborted) act();
    };
    this.#context.background.run('allocation timer', wait());
    return controller;
  }

  #plan({ job, group }: AllocationWork): AllocationPlan {
    const { drivers, leavesTasks } = this.#context;
    return {
      tasks: group.Tasks.map((task) => taskPlan(job, task, leavesTasks && drivers.get(task.Driver)?.survives === true)),
      shutdownDelay: millisecondsFromNanos(group.ShutdownDelay ?? 0),
    };
  }

  #recordOf(task: string) {
    const moment = momentOf(this.#context);
    try {
      const known = this.#context.memory.load(this.id, task);
      if (known !== undefined) return restoredTaskRecord(known, moment);
    } catch (error) {
      if (isTransientFault(error)) throw error;
      this.#context.logger.warn(
        { allocation: this.id, task, error: messageOf(error) },
        'The state of a task cannot be read from the disk',
      );
    }
    return freshTaskRecord(this.#work.allocation.TaskStates?.[task], moment);
  }
}

/** When the running tasks of an allocation started, on the monotonic clock: the wall clock may be set while they run. */
class RunningTimes {
  readonly #clock: Clock;
  /** By task name; only running tasks. */
  readonly #since = new Map<string, Milliseconds>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Updates the times from the current steps of the tasks. */
  follow(before: AllocationLife, { plan, tasks }: AllocationLife): void {
    for (const [at, { name }] of plan.tasks.entries()) {
      const task = tasks[at];
      if (task?.step.type !== 'running') this.#since.delete(name);
      else if (!this.#since.has(name)) this.#since.set(name, this.#began(before.tasks[at], task));
    }
  }

  /** Of several tasks, the latest start counts; undefined while one of them is not running. */
  since(names: readonly string[]): Milliseconds | undefined {
    const since = names.map((name) => this.#since.get(name) ?? Number.NaN);
    const latest = Math.max(...since);
    return names.length === 0 || Number.isNaN(latest) ? undefined : latest;
  }

  /** A recovered task started before this agent: its start is read from its record, once. */
  #began(before: TaskLife | undefined, { record }: TaskLife): Milliseconds {
    const now = this.#clock.monotonic();
    const started = before?.step.type === 'recovering' ? Date.parse(record.state.StartedAt ?? '') : Number.NaN;
    return Number.isNaN(started) ? now : now - Math.max(0, this.#clock.now() - started);
  }
}
