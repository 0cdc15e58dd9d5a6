import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { Job } from '../document/job.js';
import type { RunOutcome } from './job-run.js';

/**
 * A run of a batch job that has ended: of an instance of a parent, or of a job without one. It is kept when the job, its allocations and
 * evaluations are collected: the latest of each parent, and none longer than `keptFor`.
 */
export interface EndedRun {
  readonly namespace: string;
  /** The parent of the instance; the job itself without one. */
  readonly parentId: string;
  /** Counts the runs of the parent, from 1. */
  readonly number: number;
  readonly jobId: string;
  readonly version: number;
  readonly outcome: RunOutcome;
  /** When it was registered, dispatched or launched. */
  readonly createdAt: Instant;
  /** When its first task started; absent if none has. */
  readonly startedAt?: Instant;
  readonly endedAt: Instant;
  /** Why it did not succeed; absent if it did, or was stopped before anything failed. */
  readonly failure?: FailedTask;
  /** Index of the write in which it ended. */
  readonly index: number;
}

/** The task whose failure ended a run. */
export interface FailedTask {
  readonly allocationId: string;
  /** Absent when no task failed: the node was lost, for example. */
  readonly task?: string;
  /** Absent if it did not exit. */
  readonly exitCode?: number;
  readonly signal?: number;
  /** The line of its output that names an error, or what its node said; at most 300 characters. */
  readonly message: string;
}

export const endedRuns = table<EndedRun>('ended_runs', (run) => [run.namespace, run.parentId, run.number], {
  by_end: { version: 1, key: (run) => [run.index, run.namespace, run.jobId] },
  by_job: { version: 1, key: (run) => [run.namespace, run.jobId, run.number] },
});

/** The longest message of a failure. */
const longestMessage = 300;

/** The parent and the times of a run. */
export function runOf({ Namespace, ParentID, ID, Version, SubmitTime }: Job) {
  const parentId = ParentID === '' ? ID : ParentID;
  return { namespace: Namespace, parentId, jobId: ID, version: Version, createdAt: instantFromUnixNanos(SubmitTime) };
}

/** The first line of an output that names an error; otherwise the last line that is not empty. Undefined for an empty output. */
export function errorLine(output: string): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((each) => /error|exception|fatal|panic|traceback|failed/i.test(each)) ?? lines.at(-1);
  return line === undefined ? undefined : bounded(line.trim());
}

export function bounded(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message;
}

const variableParts: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b/g, '<time>'],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b/gi, '<id>'],
  [/"[^"]{1,200}"/g, '"…"'],
  [/'[^']{1,200}'/g, "'…'"],
  [/\d+/g, '<n>'],
];

/** A message without the parts that differ from run to run: times, IDs, addresses, numbers, and what is in quotation marks. */
export function causeOf(message: string): string {
  return variableParts
    .reduce((text, [pattern, name]) => text.replaceAll(pattern, name), message)
    .replaceAll(/\s+/g, ' ');
}

/** A failed run of a job or a function. */
export interface FailedRun {
  readonly namespace: string;
  /** The job, the parent of an instance, or the function. */
  readonly of: string;
  /** The instance, or the run of the function. */
  readonly id: string;
  readonly outcome: RunOutcome;
  readonly exitCode: number | undefined;
  readonly message: string;
  readonly endedAt: Instant;
}

/** Runs that failed alike. */
export interface FailureCause<T = Instant> {
  readonly outcome: RunOutcome;
  /** Absent if no task exited. */
  readonly exitCode?: number;
  /** The message without the parts that differ from run to run. */
  readonly cause: string;
  readonly count: number;
  /** Of all counted failures, from 0 to 1. */
  readonly share: number;
  readonly firstAt: T;
  readonly lastAt: T;
  /** The jobs and functions with most of these failures, at most five. */
  readonly jobs: readonly JobCount[];
  /** The latest of the runs. */
  readonly example: { readonly id: string; readonly message: string };
}

interface JobCount {
  readonly namespace: string;
  readonly jobId: string;
  readonly count: number;
}

/** Counts failed runs by their cause. */
export class FailureCauses {
  readonly #groups = new Map<
    string,
    { latest: FailedRun; first: Instant; count: number; jobs: Map<string, JobCount> }
  >();
  #failures = 0;

  add(run: FailedRun): void {
    this.#failures += 1;
    const { outcome, exitCode, message, namespace, of, endedAt } = run;
    const key = JSON.stringify([outcome, exitCode, causeOf(message)]);
    const group = this.#groups.get(key) ?? { latest: run, first: endedAt, count: 0, jobs: new Map() };
    this.#groups.set(key, group);
    group.count += 1;
    group.first = Math.min(group.first, endedAt);
    if (endedAt > group.latest.endedAt) group.latest = run;
    const job = `${namespace}\u0000${of}`;
    group.jobs.set(job, { namespace, jobId: of, count: (group.jobs.get(job)?.count ?? 0) + 1 });
  }

  /** Most frequent first, at most `most`. */
  causes(most: number): readonly FailureCause[] {
    const groups = [...this.#groups.values()].sort((left, right) => right.count - left.count).slice(0, most);
    return groups.map(({ latest, first, count, jobs }) => ({
      outcome: latest.outcome,
      ...(latest.exitCode === undefined ? {} : { exitCode: latest.exitCode }),
      cause: causeOf(latest.message),
      count,
      share: count / this.#failures,
      firstAt: first,
      lastAt: latest.endedAt,
      jobs: [...jobs.values()].sort((left, right) => right.count - left.count).slice(0, 5),
      example: { id: latest.id, message: latest.message },
    }));
  }
}
