import { allocationOutcome } from '../../jobs/runs/run-outcome.js';
import type { RunFailure } from '../../notifications/events/event.js';
import type { Allocation, TaskEvent } from '../../scheduler/allocation.js';

/** The failure that ended a run: that of the first failed task of the allocation that failed last. */
export function failureOf(allocations: readonly Allocation[]): RunFailure | undefined {
  const last = lastFailed(allocations);
  if (last === undefined) return undefined;
  const { task, end } = failedTaskOf(last);
  const message = (end === undefined ? '' : messageOf(end)) || last.ClientDescription || 'failed';
  const failure = { allocationId: last.ID, group: last.TaskGroup, task, ...exitOf(end), message };
  const output = last.FailureOutput;
  return output === undefined || output.task !== task ? failure : { ...failure, output: output.text };
}

/** The first failed task; without one, as after a timeout, the task whose output the node has sent. */
function failedTaskOf({ TaskStates, FailureOutput }: Allocation) {
  const [task, state] = Object.entries(TaskStates ?? {}).find(([, { Failed }]) => Failed) ?? [];
  return { task: task ?? FailureOutput?.task ?? null, end: endOf(state?.Events ?? []) };
}

/** Null for a task that did not exit, or that exited without a signal. */
function exitOf(end: TaskEvent | undefined): Pick<RunFailure, 'exitCode' | 'signal'> {
  if (end?.Type !== 'Terminated') return { exitCode: null, signal: null };
  return { exitCode: end.ExitCode, signal: end.Signal > 0 ? end.Signal : null };
}

function lastFailed(allocations: readonly Allocation[]): Allocation | undefined {
  const failed = allocations.filter((each) => {
    const outcome = allocationOutcome(each);
    return outcome === 'failed' || outcome === 'timed_out' || outcome === 'lost';
  });
  return failed.reduce<Allocation | undefined>(
    (latest, each) => (latest === undefined || each.ModifyIndex >= latest.ModifyIndex ? each : latest),
    undefined,
  );
}

/** The event that ended a task: its exit, or the failure to run it. */
function endOf(events: readonly TaskEvent[]): TaskEvent | undefined {
  return events.findLast(({ Type }) => Type === 'Terminated') ?? events.findLast(({ FailsTask }) => FailsTask);
}

function messageOf({ DisplayMessage, Message, DriverError, SetupError }: TaskEvent): string {
  return [DriverError, SetupError, DisplayMessage, Message].find((text) => text !== '') ?? '';
}
