import type { AllocationLife } from '../../../src/agent/allocation/allocation-life.js';
import type { TaskLife } from '../../../src/agent/task/task-life.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';

/** When the running tasks of an allocation started, on the monotonic clock: the wall clock may be set while they run. */
export class RunningTimes {
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
