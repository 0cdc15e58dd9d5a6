import { counted, durationText } from './durations.js';
import type { RunRecord } from './timeline.js';

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

interface AllocationOfRun {
  readonly NodeName: string;
  readonly TaskStates: Readonly<Record<string, { readonly Restarts: number }>> | null;
}

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
    durations('Waited', runs, waited),
    durations('Took', runs, took),
    row('Exit code', ({ run }) => run && (run.failure?.exitCode === undefined ? '' : String(run.failure.exitCode))),
    row('First error', ({ run }) => run && (run.failure?.message ?? '')),
    row('Node', ({ allocations }) => allocations && nodesOf(allocations)),
    row('Attempts', ({ allocations }) => allocations && attemptsOf(allocations)),
    row('Version of the job', (run) => versionOf(run)?.toString()),
  ];
}

function durations(name: string, runs: readonly KnownRun[], of: (run: RunRecord) => number | undefined): ComparedRow {
  const times = runs.map(({ run }) => run && of(run));
  const known = times.filter((time) => time !== undefined);
  return {
    name,
    values: times.map((time, at) =>
      time === undefined ? (runs[at]?.run === undefined ? undefined : 'never started') : durationText(time),
    ),
    differs:
      known.length === runs.length
        ? muchLonger(Math.max(...known), Math.min(...known))
        : runs.every(({ run }) => run !== undefined) && known.length > 0,
  };
}

function waited({ createdAt, startedAt }: RunRecord): number | undefined {
  return startedAt === undefined ? undefined : Date.parse(startedAt) - Date.parse(createdAt);
}

function took({ startedAt, endedAt }: RunRecord): number | undefined {
  return startedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
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
