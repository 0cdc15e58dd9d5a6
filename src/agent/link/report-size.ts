import type { TaskState } from '../../scheduler/allocation.js';
import type { AllocationReport } from './node-work.js';

/** Maximum JSON length of the reports in one message, in characters: far below the servers' body limit in bytes, whatever the encoding. */
const longestMessage = 1_000_000;

/** How many newest events each task of a long report keeps: as many as fit. */
const fewerEvents = [5, 2, 1, 0];

/** The first reports that fit in one message: at least one, which loses older task events if it is longer than a message. */
export function reportsOfOneMessage<T extends { readonly report: AllocationReport }>(
  reports: readonly T[],
): readonly T[] {
  const fitting: T[] = [];
  let left = longestMessage;
  for (const each of reports) {
    const length = lengthOf(each.report);
    if (length > left) break;
    fitting.push(each);
    left -= length;
  }
  const [first] = reports;
  if (fitting.length > 0 || first === undefined) return fitting;
  return [{ ...first, report: shortened(first.report) }];
}

function shortened(report: AllocationReport): AllocationReport {
  let shorter = report;
  for (const kept of fewerEvents) {
    shorter = { ...report, taskStates: withNewestEvents(report.taskStates, kept) };
    if (lengthOf(shorter) <= longestMessage) break;
  }
  return shorter;
}

function withNewestEvents(states: AllocationReport['taskStates'], kept: number): AllocationReport['taskStates'] {
  const shorten = (state: TaskState): TaskState => ({
    ...state,
    Events: state.Events === null ? null : state.Events.slice(Math.max(0, state.Events.length - kept)),
  });
  return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, shorten(state)]));
}

function lengthOf(report: AllocationReport): number {
  return JSON.stringify(report).length;
}
