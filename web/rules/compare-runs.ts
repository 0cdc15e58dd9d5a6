import { counted, durationText } from './durations.js';
import type { AllocationRecord, RunRecord } from './timeline.js';

/* What two runs of a job have in common and in what they differ. */

interface JobOfRun {
  readonly Version: number;
  readonly Meta: Readonly<Record<string, string>> | null;
  /** Base64. */
  readonly Payload: string | null;
  readonly ParameterizedJob: {
    readonly MetaRequired: readonly string[] | null;
    readonly MetaOptional: readonly string[] | null;
  } | null;
}

type AllocationOfRun = Pick<AllocationRecord, 'NodeName' | 'TaskStates'>;

/** What is known of a run; what was collected is undefined. */
export interface KnownRun {
  /** Undefined while it is under way. */
  readonly run: RunRecord | undefined;
  readonly job: JobOfRun | undefined;
  readonly allocations: readonly AllocationOfRun[] | undefined;
}

/** The version of the job that a run is of; undefined when neither the run nor its job says so. */
export function versionOf({ run, job }: KnownRun): number | undefined {
  return run?.version ?? job?.Version;
}

export interface ComparedRow {
  readonly name: string;
  /** One for each run: empty for nothing, undefined for what is not known any more. */
  readonly values: readonly (string | undefined)[];
  readonly differs: boolean;
}

/** Durations count as different if the longer one is longer by more than a tenth, and by a second. */
const muchLonger = (longest: number, shortest: number): boolean =>
  longest > shortest * 1.1 && longest - shortest >= 1000;

/** The rows of the comparison, for one run or for two. */
export function comparedRows(runs: readonly KnownRun[]): readonly ComparedRow[] {
  const row = (name: string, of: (run: KnownRun) => string | undefined): ComparedRow => {
    const values = runs.map(of);
    const [first] = values;
    return {
      name,
      values,
      differs: values.every((value) => value !== undefined) && values.some((value) => value !== first),
    };
  };
  return [
    row('Outcome', ({ run }) => (run === undefined ? 'under way' : run.outcome.replaceAll('_', ' '))),
    ...[...inputNames(runs)].map((name) => row(`Input ${name}`, ({ job }) => valueIn(job, name))),
    ...[...metaNames(runs)].map((name) => row(`Meta ${name}`, ({ job }) => valueIn(job, name))),
    row('Payload', ({ job }) => job && payloadOf(job)),
    durations('Waited', runs, ({ createdAt }, start) => start - Date.parse(createdAt)),
    durations('Took', runs, ({ endedAt }, start) => Date.parse(endedAt) - start),
    row('Exit code', ({ run }) => run && exitCodeOf(run)),
    row('First error', ({ run }) => run && (run.failure?.message ?? '')),
    row('Node', ({ allocations }) => allocations && nodesOf(allocations)),
    row('Attempts', ({ allocations }) => allocations && attemptsOf(allocations)),
    row('Version of the job', (run) => versionOf(run)?.toString()),
  ];
}

function durations(
  name: string,
  runs: readonly KnownRun[],
  of: (run: RunRecord, start: number) => number,
): ComparedRow {
  const times = runs.map(({ run }) => (run?.startedAt === undefined ? undefined : of(run, Date.parse(run.startedAt))));
  const known = times.filter((time) => time !== undefined);
  const haveEnded = runs.every(({ run }) => run !== undefined);
  return {
    name,
    values: times.map((time, at) => {
      if (time !== undefined) return durationText(time);
      return runs[at]?.run === undefined ? undefined : 'never started';
    }),
    differs:
      known.length === runs.length ? muchLonger(Math.max(...known), Math.min(...known)) : haveEnded && known.length > 0,
  };
}

function exitCodeOf({ outcome, startedAt, failure }: RunRecord): string {
  if (outcome === 'succeeded' && startedAt !== undefined) return '0';
  return failure?.exitCode === undefined ? '' : String(failure.exitCode);
}

function inputNames(runs: readonly KnownRun[]): ReadonlySet<string> {
  return new Set(
    runs.flatMap(({ job }) => [
      ...(job?.ParameterizedJob?.MetaRequired ?? []),
      ...(job?.ParameterizedJob?.MetaOptional ?? []),
    ]),
  );
}

function metaNames(runs: readonly KnownRun[]): ReadonlySet<string> {
  const inputs = inputNames(runs);
  return new Set(runs.flatMap(({ job }) => Object.keys(job?.Meta ?? {}).filter((name) => !inputs.has(name))));
}

function valueIn(job: JobOfRun | undefined, name: string): string | undefined {
  if (job === undefined) return undefined;
  const meta = job.Meta ?? {};
  return Object.hasOwn(meta, name) ? meta[name] : '';
}

function payloadOf({ Payload }: JobOfRun): string {
  return Payload === null ? '' : new TextDecoder().decode(Uint8Array.from(atob(Payload), (unit) => unit.charCodeAt(0)));
}

function nodesOf(allocations: readonly AllocationOfRun[]): string {
  return [...new Set(allocations.map(({ NodeName }) => NodeName))].sort().join(', ');
}

function attemptsOf(allocations: readonly AllocationOfRun[]): string {
  const restarts = allocations
    .flatMap(({ TaskStates }) => Object.values(TaskStates ?? {}))
    .reduce((sum, { Restarts }) => sum + Restarts, 0);
  return `${counted(allocations.length, 'allocation')}, ${counted(restarts, 'restart')}`;
}
