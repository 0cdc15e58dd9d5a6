import { join } from 'node:path';
import { err, type Result } from 'neverthrow';
import {
  type CommandOutput,
  type CommandRefused,
  commandRefused,
  type TaskUsage,
} from '../../../src/agent/link/node-command.js';
import { outputTail, passwordsIn, secretForms, withoutForms } from '../../../src/agent/output/output-tail.js';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import type { StartFault, TaskEffect, TaskLifeEvent } from '../../../src/agent/task/task-life.js';
import type { TaskPaths } from '../disk/task-target.js';
import { isTransientFault, messageOf } from '../disk/text-file.js';
import type { CommandRequest, RunningTask, TaskDriver, TaskStart } from '../drivers/task-driver.js';
import { noUsage } from '../drivers/task-processes.js';
import { logEnd } from '../logs/log-collector.js';
import { beforeAbort, insist } from '../waiting.js';
import type { AllocationDisk } from './allocation-disk.js';
import type { FunctionSlot } from './function-slots.js';
import type { RunnerContext, TaskAssignment } from './runner-context.js';
import { TaskPreparation } from './task-preparation.js';
import { taskStart } from './task-start.js';

/** Milliseconds that writing a note may take before a task event says that the task waits for it. */
const noticeablePause = 3000;

/**
 * Carries out the effects of one task's state machine and returns events. Whatever the driver or the disk throws becomes an
 * event of this task.
 */
export class TaskPerformer {
  assignment: TaskAssignment;
  readonly #context: RunnerContext;
  readonly #tell: (event: TaskLifeEvent) => void;
  readonly #handles = new Map<number, RunningTask>();
  readonly #prepared: TaskPreparation;
  /** The output of the last attempt, for tasks without log files. */
  #lastOutput: ReturnType<NonNullable<RunningTask['lastOutput']>> | undefined;
  #preparation = new AbortController();
  /** Resolves when no preparation is under way. */
  #preparing: Promise<unknown> = Promise.resolve();
  #timer = new AbortController();
  /** Held from the preparation of a function to its end. */
  #slot: FunctionSlot | undefined;

  constructor(
    assignment: TaskAssignment,
    context: RunnerContext,
    disk: AllocationDisk,
    tell: (event: TaskLifeEvent) => void,
  ) {
    this.assignment = assignment;
    this.#context = context;
    this.#tell = tell;
    this.#prepared = new TaskPreparation(context, {
      disk,
      tell,
      signal: (name) => void this.signal(name),
      exec: (request) => this.exec(request),
    });
  }

  get driver(): TaskDriver | undefined {
    return this.#context.drivers.get(this.assignment.task.Driver);
  }

  perform(effect: TaskEffect): void {
    switch (effect.type) {
      case 'prepare':
        this.#run('preparing a task', this.#prepare(effect.again));
        break;
      case 'cancel_preparation':
        this.#preparation.abort();
        break;
      case 'start':
        this.#run('starting a task', this.#start(effect.attempt));
        break;
      case 'recover':
        this.#run('finding a task', this.#recover(effect.attempt));
        break;
      case 'signal':
        this.#use(effect.attempt, (task) => task.signal(effect.signal));
        break;
      case 'destroy':
        this.#use(effect.attempt, (task) => task.destroy());
        break;
      case 'release':
        this.#use(effect.attempt, (task) => task.release());
        break;
      case 'timer':
        this.#setTimer(effect.timer, effect.after);
    }
  }

  /** Runs a command in the task's environment. */
  exec(request: CommandRequest): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>> {
    const { task } = this.assignment;
    const attempt = this.#present;
    if (attempt === undefined) {
      return Promise.resolve(err(commandRefused('not_found', `task "${task.Name}" is not running.`)));
    }
    const run = this.driver?.exec;
    if (run === undefined) {
      return Promise.resolve(err(commandRefused('failed', `The driver ${task.Driver} does not support exec`)));
    }
    return run(this.#arguments(attempt), request);
  }

  /** The task's current resource usage; undefined while it is not running. */
  async usage(): Promise<TaskUsage | undefined> {
    const attempt = this.#present;
    return attempt === undefined ? undefined : ((await this.#handles.get(attempt)?.usage?.()) ?? noUsage);
  }

  /**
   * The last lines that it printed, with the values of its variables and the secrets of this process blanked. Empty if those values are
   * unknown, as after a restart of the agent: better no output than a secret in it.
   */
  async outputTail(): Promise<string> {
    const { allocation, task } = this.assignment;
    const values = this.#prepared.secretsOf(this.assignment);
    if (values === null) return '';
    const secrets = [...values, ...processSecrets(process.env)];
    if (this.#lastOutput !== undefined) return outputTail(this.#lastOutput, secrets);
    const logs = this.#context.memory.paths(allocation.ID, task.Name)?.logs;
    if (logs === undefined) return '';
    const [stdout, stderr] = await Promise.all([
      logEnd(join(logs, `${task.Name}.stdout`)),
      logEnd(join(logs, `${task.Name}.stderr`)),
    ]);
    return outputTail({ stdout, stderr }, secrets);
  }

  /** Sends a signal to the running task; false while it is not running. */
  signal(signal: string): boolean {
    const attempt = this.#present;
    if (attempt === undefined) return false;
    this.#use(attempt, (task) => task.signal(signal));
    return true;
  }

  get #present(): number | undefined {
    return [...this.#handles.keys()].at(-1);
  }

  /** Ends all work for the task. */
  close(): void {
    this.#slot?.release();
    this.#prepared.ended();
  }

  /** Cancels the obsolete timer of the previous step. */
  dropTimer(): void {
    this.#timer.abort();
  }

  async #prepare(again: boolean): Promise<void> {
    const preparation = new AbortController();
    this.#preparation = preparation;
    const { signal } = preparation;
    // An abandoned preparation may still work on the same files, and its result does not concern this one.
    const before = this.#preparing;
    const fault = beforeAbort(signal, before).then(() => this.#preparationFault(signal, again));
    this.#preparing = Promise.all([before, fault]);
    const found = await fault;
    const slot = found === undefined ? await this.#takeSlot(signal) : undefined;
    if (this.#preparation !== preparation) return slot?.release();
    this.#slot = slot;
    this.#tell(found === undefined ? { type: 'prepared' } : { type: 'not_prepared', fault: found });
  }

  async #takeSlot(signal: AbortSignal): Promise<FunctionSlot | undefined> {
    if (this.driver?.functions === undefined) return undefined;
    const { functionSlots } = this.#context;
    const taken = `${functionSlots.limit} ${functionSlots.limit === 1 ? 'allocation runs' : 'allocations run'} functions on the node`;
    return functionSlots.take(this.assignment.allocation.ID, signal, () =>
      this.#sayWaits(`${taken}, and more do not at once (concurrency of its runner)`),
    );
  }

  async #preparationFault(signal: AbortSignal, again: boolean): Promise<StartFault | undefined> {
    const { task } = this.assignment;
    if (this.driver === undefined) {
      return { kind: 'refused', message: `This node has no driver ${task.Driver}`, recoverable: false };
    }
    try {
      return await this.#insist(signal, () => this.#prepared.prepare(this.assignment, signal, again));
    } catch (error) {
      const message = messageOf(error);
      // The shortage may still end: the restart policy decides.
      if (isTransientFault(error)) return { kind: 'driver', message, recoverable: true };
      return { kind: 'setup', message, recoverable: false };
    }
  }

  async #start(attempt: number): Promise<void> {
    this.#preparation = new AbortController();
    this.#tell(await this.#startAnswer(attempt));
    this.#watch(attempt);
  }

  async #startAnswer(attempt: number): Promise<TaskLifeEvent> {
    const notStarted = (fault: StartFault): TaskLifeEvent => {
      this.#slot?.release();
      return { type: 'not_started', attempt, fault };
    };
    // The number is on disk before the start, so that a restarted runner searches for exactly this start.
    const kept = await this.#kept();
    if (!kept)
      return notStarted({ kind: 'driver', message: 'The start could not be recorded on disk', recoverable: true });
    const outcome = await this.#askDriver((driver) =>
      this.#insist(this.#preparation.signal, () => driver.start(this.#arguments(attempt))),
    );
    if (outcome.type === 'threw') {
      return notStarted({ kind: 'driver', message: outcome.message, recoverable: outcome.transient });
    }
    if (outcome.type === 'running') {
      this.#handles.set(attempt, outcome.task);
      return { type: 'started', attempt };
    }
    const { message, recoverable, refused = false } = outcome;
    return notStarted({ kind: refused ? 'refused' : 'driver', message: messageOf(message), recoverable });
  }

  async #recover(attempt: number): Promise<void> {
    this.#preparation = new AbortController();
    this.#tell(await this.#recoverAnswer(attempt));
    this.#watch(attempt);
  }

  async #recoverAnswer(attempt: number): Promise<TaskLifeEvent> {
    const outcome = await this.#askDriver((driver) =>
      this.#insist(this.#preparation.signal, () => driver.recover(this.#arguments(attempt))),
    );
    switch (outcome.type) {
      case 'threw':
        return { type: 'exited', attempt, exit: lost(outcome.message) };
      case 'never_started':
        return { type: 'never_started', attempt };
      case 'exited':
        return { type: 'exited', attempt, exit: soundExit(outcome.exit) };
      case 'running':
        await this.#prepared.recall(this.assignment, this.#preparation.signal);
        this.#handles.set(attempt, outcome.task);
        return { type: 'found', attempt };
    }
  }

  #insist<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
    return insist(this.#context.clock, signal, work, (error) => this.#sayWaits(messageOf(error)));
  }

  /** Whether the latest record of the task is on disk. Waits without a limit; a task event names the cause. */
  async #kept(): Promise<boolean> {
    const { memory, clock } = this.#context;
    const { allocation, task } = this.assignment;
    const over = new AbortController();
    const slow = async (): Promise<void> => {
      await clock.sleep(noticeablePause, over.signal);
      if (!over.signal.aborted) this.#sayWaits("the node's data directory is not writable (disk full?)");
    };
    this.#run('a slow disk', slow());
    const kept = await memory.kept(allocation.ID, task.Name);
    over.abort();
    return kept;
  }

  #sayWaits(reason: string): void {
    this.#tell({ type: 'report', happening: { type: 'hook_message', message: `The task waits: ${reason}` } });
  }

  /** Returns the driver's result, or what it threw. */
  async #askDriver<T extends { readonly type: string }>(ask: (driver: TaskDriver) => Promise<T>): Promise<T | Threw> {
    try {
      const driver = this.driver;
      if (driver === undefined) return threw(`This node has no driver ${this.assignment.task.Driver}`);
      const answer = await ask(driver);
      return typeof answer?.type === 'string' ? answer : threw('The driver returned an invalid result');
    } catch (error) {
      return { type: 'threw', message: messageOf(error), transient: isTransientFault(error) };
    }
  }

  #arguments(attempt: number): TaskStart {
    const { memory, node } = this.#context;
    const { allocation, task } = this.assignment;
    const paths: TaskPaths | null = memory.paths(allocation.ID, task.Name);
    const start = taskStart({ assignment: this.assignment, node, paths }, attempt, this.#prepared.environment);
    return { ...start, failed: (error) => this.#sayFailed(attempt, error) };
  }

  #sayFailed(attempt: number, error: string): void {
    const { allocation, task } = this.assignment;
    const about = {
      namespace: allocation.Namespace,
      job: allocation.JobID,
      allocation: allocation.ID,
      task: task.Name,
    };
    this.#context.logger.warn(
      { ...about, attempt, error: withoutForms(error, this.#secretForms()) },
      'A function failed',
    );
  }

  /** The message of an exit is in the task's events, and in alerts. */
  #withoutSecrets(exit: TaskExit): TaskExit {
    if (typeof exit.message !== 'string') return exit;
    return { ...exit, message: withoutForms(exit.message, this.#secretForms()) };
  }

  #secretForms(): readonly string[] {
    return secretForms([...(this.#prepared.secretsOf(this.assignment) ?? []), ...processSecrets(process.env)]);
  }

  /** Waits for the end of a running task. */
  #watch(attempt: number): void {
    const task = this.#handles.get(attempt);
    if (task === undefined) return;
    this.#prepared.started();
    const end = async (): Promise<void> => {
      const exit = await exitOf(task);
      this.#lastOutput = task.lastOutput?.();
      this.#handles.delete(attempt);
      this.#slot?.release();
      this.#prepared.ended();
      this.#tell({ type: 'exited', attempt, exit: this.#withoutSecrets(exit) });
    };
    this.#run('watching a task', end());
  }

  #use(attempt: number, act: (task: RunningTask) => void | Promise<void>): void {
    const task = this.#handles.get(attempt);
    if (task === undefined) return;
    const { allocation, task: described } = this.assignment;
    const guarded = async (): Promise<void> => {
      try {
        await act(task);
      } catch (error) {
        const about = { allocation: allocation.ID, task: described.Name, error: messageOf(error) };
        this.#context.logger.warn(about, 'A driver failed while it handled a running task');
      }
    };
    this.#run('steering a task', guarded());
  }

  #setTimer(timer: number, after: number): void {
    this.#timer.abort();
    const controller = new AbortController();
    this.#timer = controller;
    const ring = async (): Promise<void> => {
      await this.#context.clock.sleep(after, controller.signal);
      if (!controller.signal.aborted) this.#tell({ type: 'timer', timer });
    };
    this.#run('a timer of a task', ring());
  }

  #run(what: string, work: Promise<void>): void {
    this.#context.background.run(what, work);
  }
}

interface Threw {
  readonly type: 'threw';
  readonly message: string;
  /** A temporary shortage prevented the start. */
  readonly transient: boolean;
}

function threw(message: string): Threw {
  return { type: 'threw', message, transient: false };
}

async function exitOf(task: RunningTask): Promise<TaskExit> {
  try {
    return soundExit(await task.exited);
  } catch (error) {
    return lost(messageOf(error));
  }
}

/** The exit result of a driver, with values of a wrong type replaced. */
function soundExit(exit: TaskExit | undefined): TaskExit {
  if (exit?.type === 'start_failed') return exit;
  if (exit?.type === 'exited' && Number.isInteger(exit.code) && Number.isInteger(exit.signal)) return exit;
  return lost('The driver returned an invalid exit result');
}

function lost(message: string): TaskExit {
  return { type: 'exited', code: 1, signal: 0, message };
}

/** Parts of names of variables that hold secrets, and ends of names of those that only say where one is. */
const secretName =
  /(?:^|_)(?:tokens?|secrets?|(?:PG)?password|passwd|passphrase|pass|credentials?|(?:api|access|private|secret|encryption|signing)?_?keys?)(?:_|$)/i;
const placeName = /_(?:file|path|dir|directory|url|id|name|ttl)$/i;
/** Shorter values occur in any output by chance. */
const shortest = 8;

/**
 * Secrets in the environment of this process: values of variables that are named like a secret, and passwords in URLs. Functions can print
 * them, and commands that inherit variables.
 */
export function processSecrets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = Object.entries(environment).flatMap(([name, value = '']) =>
    secretName.test(name) && !placeName.test(name) ? [value] : passwordsIn(value),
  );
  return secrets.filter(({ length }) => length >= shortest);
}
