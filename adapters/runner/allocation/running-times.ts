import type { AllocationLife } from '../../../src/agent/allocation/allocation-life.js';
import type { TaskLife } from '../../../src/agent/task/task-life.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';

/** Since when the tasks of an allocation run, on the monotonic clock: wall time may be set while they do. */
export class RunningTimes {
  readonly #clock: Clock;
  /** By name of the task; only those that run. */
  readonly #since = new Map<string, Milliseconds>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes the present steps of the tasks. */
  follow(before: AllocationLife, { plan, tasks }: AllocationLife): void {
    for (const [at, { name }] of plan.tasks.entries()) {
      const task = tasks[at];
      if (task?.step.type !== 'running') this.#since.delete(name);
      else if (!this.#since.has(name)) this.#since.set(name, this.#began(before.tasks[at], task));
    }
  }

  /** Of several tasks, the one that began last counts; undefined while one of them does not run. */
  since(names: readonly string[]): Milliseconds | undefined {
    const since = names.map((name) => this.#since.get(name) ?? Number.NaN);
    const latest = Math.max(...since);
    return names.length === 0 || Number.isNaN(latest) ? undefined : latest;
  }

  /** A task that was found again began before, at a time that is known from its record only: it is read once. */
  #began(before: TaskLife | undefined, { record }: TaskLife): Milliseconds {
    const now = this.#clock.monotonic();
    const started = before?.step.type === 'recovering' ? Date.parse(record.state.StartedAt ?? '') : Number.NaN;
    return Number.isNaN(started) ? now : now - Math.max(0, this.#clock.now() - started);
  }
}
