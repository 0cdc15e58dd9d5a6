import type { Instant } from '../../shared/instant.js';
import type { RunOutcome } from './job-run.js';

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
