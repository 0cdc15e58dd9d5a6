import { transitionTaskState } from '../agent/task/task-event.js';
import { admitJob } from '../jobs/admission/admit-job.js';
import { canonicaliseJob } from '../jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../jobs/document/decode-job.js';
import type { Job } from '../jobs/document/job.js';
import { type RunOutcome, stoppedEarly } from '../jobs/runs/job-run.js';
import type { ChildrenSummary, GroupSummary, JobSummary } from '../jobs/status/job-summary.js';
import { type Allocation, noTransition, pendingTask, type TaskState } from '../scheduler/allocation.js';
import { durationTextFromNanos, type Milliseconds } from '../shared/duration.js';
import { type Instant, isoFromInstant, unixNanosFromInstant } from '../shared/instant.js';
import type { DeclaredKeep, DeclaredLimit, FunctionDeclaration } from './declaration.js';
import type { Json } from './define-function.js';
import { type Counts, hasEnded, type RunError, type StoredRun } from './run.js';

/*
 * Functions and runs in the job interface. A declared function is a stored job, one version for each policy that was declared. A run
 * has no rows there: its job, summary, allocation and log are computed from the run when somebody reads them.
 *
 *   function             job of type batch, parameterized, or periodic if it declares exactly one cron
 *   paused               stopped
 *   run                  NAME/periodic-NUMBER if a schedule launched it, otherwise NAME/dispatch-NUMBER
 *   scheduled, queued    pending
 *   running, waiting     running
 *   ended                dead; its outcome as for jobs, a cancelled run is stopped
 *   attempts of a run    one allocation, whose task was restarted; none before the first one
 */

/** The name of the only group of the job of a function, and of its only task. */
export const functionTask = 'function';

/** The job of a declared function, without the indexes and times of its version. */
export function functionJob(declared: FunctionDeclaration, region: string): Job {
  const { name, namespace, priority, crons, hasHandler } = declared;
  const [cron] = crons.length === 1 ? crons : [];
  const start =
    cron === undefined
      ? { ParameterizedJob: { Payload: 'optional' } }
      : {
          Periodic: {
            Spec: cron.schedule,
            SpecType: 'cron',
            TimeZone: cron.timeZone,
            ProhibitOverlap: cron.overlap !== 'allow',
          },
        };
  return decodeJob(
    {
      ...{ ID: name, Name: name, Namespace: namespace, Type: 'batch', Priority: priority, ...start },
      TaskGroups: [
        {
          Name: functionTask,
          Count: 1,
          // Both are those of the policy, which the config shows.
          RestartPolicy: { Attempts: 0, Mode: 'fail' },
          ReschedulePolicy: { Attempts: 0, Unlimited: false },
          Tasks: [
            {
              Name: functionTask,
              Driver: 'function',
              Config: { function: name, version: declared.version, ...(hasHandler ? policyConfig(declared) : {}) },
            },
          ],
        },
      ],
    },
    { durationTexts: true },
  )
    .map(canonicaliseJob)
    .andThen((job) => admitJob(job, { region }))
    ._unsafeUnwrap();
}

/** Whether a job is one that `functionJob` makes of the function of its name. */
export function isFunctionJob({ ID, Type, TaskGroups }: Job): boolean {
  const [group] = TaskGroups;
  const [task] = group?.Tasks ?? [];
  return (
    Type === 'batch' &&
    group?.Name === functionTask &&
    task?.Driver === 'function' &&
    task.Config?.['function'] === ID &&
    typeof task.Config['version'] === 'number'
  );
}

/** The policy under the names of `defineFunction`, so that the diff of two versions reads like that of the code. */
function policyConfig({ retry, timeout, limits, rates, crons, keep }: FunctionDeclaration): Record<string, unknown> {
  const { attempts, backoff, delay, factor, max, jitter } = retry;
  const waits = typeof backoff === 'string' ? backoff : backoff.map(durationText);
  const kept = ({ age, count }: DeclaredKeep) => ({ age: durationText(age), count });
  const limited = ({ limit, scope, perKey }: DeclaredLimit) => ({ limit, scope, perKey });
  return {
    timeout: timeout === undefined ? false : durationText(timeout),
    retry: { attempts, backoff: waits, delay: durationText(delay), factor, max: durationText(max), jitter },
    concurrency: limits.map(limited),
    rate: rates.map(({ per, burst, ...limit }) => ({ ...limited(limit), per: durationText(per), burst })),
    cron: crons.map(({ id, schedule, timeZone, missed, overlap }) => ({ id, schedule, timeZone, missed, overlap })),
    keep: { succeeded: kept(keep.succeeded), others: kept(keep.others) },
  };
}

const durationText = (time: Milliseconds): string => durationTextFromNanos(Math.round(time * 1e6));

/** The ID of the job of a run. */
export function runJobId({ function: name, number, schedule }: Pick<StoredRun, 'function' | 'number' | 'schedule'>) {
  return `${name}/${schedule === undefined ? 'dispatch' : 'periodic'}-${number}`;
}

/** Undefined for an ID that no run has. Whether there is such a run is the caller's to check, with `runJobId`. */
export function runOfJobId(id: string): { readonly function: string; readonly number: number } | undefined {
  const [, name = '', digits = ''] = /^([A-Za-z0-9._/-]{1,128})\/(?:dispatch|periodic)-([1-9]\d{0,15})$/.exec(id) ?? [];
  const number = Number(digits);
  return name !== '' && Number.isSafeInteger(number) ? { function: name, number } : undefined;
}

/** The numbers from `first` up to and without `end`. */
interface NumberRange {
  readonly first: number;
  readonly end: number;
}

/** The runs of a function whose job IDs begin with a prefix, in the order of their numbers. */
export interface RunsOfPrefix {
  readonly function: string;
  readonly ranges: readonly NumberRange[];
  /** How they were started; undefined for both ways. */
  readonly launched?: boolean;
}

/** Greater than the number of any run. */
const endOfNumbers = Number.MAX_SAFE_INTEGER;
const every: readonly NumberRange[] = [{ first: 0, end: endOfNumbers }];

/** Undefined for a prefix with which no job ID of a run begins: only what follows the last slash distinguishes the runs of a function. */
export function runsOfPrefix(prefix: string): RunsOfPrefix | undefined {
  const slash = prefix.lastIndexOf('/');
  if (slash <= 0) return undefined;
  const name = prefix.slice(0, slash);
  const rest = prefix.slice(slash + 1);
  if (rest === '') return { function: name, ranges: every };
  for (const [word, launched] of [
    ['dispatch-', false],
    ['periodic-', true],
  ] as const) {
    if (word.startsWith(rest)) return { function: name, ranges: every, launched };
    const digits = rest.startsWith(word) ? rest.slice(word.length) : '';
    if (/^[1-9]\d{0,15}$/.test(digits)) return { function: name, ranges: numbersFrom(digits), launched };
  }
  return undefined;
}

function numbersFrom(digits: string): readonly NumberRange[] {
  const ranges: NumberRange[] = [];
  for (let unit = 1, first = Number(digits); first < endOfNumbers; unit *= 10, first *= 10)
    ranges.push({ first, end: Math.min(first + unit, endOfNumbers) });
  return ranges;
}

/** The end of the IDs of allocations of runs: a UUID of version 8, whose first digits are those of the run. */
const uuidOfRuns = '-8000-66756e637469';
const wordSize = 2 ** 32;

/** The ID of the allocation of a run. The short form, of eight digits, distinguishes four thousand million runs. */
export function runAllocationId(number: number): string {
  const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0');
  const high = hex(Math.floor(number / wordSize), 7);
  return `${hex(number % wordSize, 8)}-${high.slice(0, 4)}-8${high.slice(4)}${uuidOfRuns}`;
}

/** The number of the run that an allocation belongs to; undefined for one of a job. */
export function runOfAllocationId(id: string): number | undefined {
  const [, low = '', high = '', rest = ''] =
    /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-8000-66756e637469$/.exec(id.toLowerCase()) ?? [];
  if (low === '') return undefined;
  const number = Number.parseInt(high + rest, 16) * wordSize + Number.parseInt(low, 16);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The numbers of runs up to `latest` whose allocations have an ID that begins so: few, and none for fewer than eight digits. */
export function runsOfAllocationPrefix(prefix: string, latest: number): readonly number[] {
  const digits = /^[0-9a-f]{8}/.exec(prefix.toLowerCase())?.[0];
  if (digits === undefined) return [];
  const numbers: number[] = [];
  for (let number = Number.parseInt(digits, 16); number <= latest; number += wordSize)
    if (runAllocationId(number).startsWith(prefix.toLowerCase())) numbers.push(number);
  return numbers;
}

/** A run with its input, which may be stored apart, and the index of its last change. */
export interface ReadRun {
  readonly run: StoredRun;
  readonly input: Json | undefined;
  readonly modifyIndex: number;
}

/** The job of a run. `parent`: that of its function. */
export function runJob(parent: Job, { run, input, modifyIndex }: ReadRun): Job {
  const id = runJobId(run);
  const isLaunched = run.schedule !== undefined;
  return {
    ...parent,
    ...{ ID: id, Name: id, ParentID: parent.ID, Priority: run.priority },
    Periodic: null,
    ParameterizedJob: isLaunched ? null : (parent.ParameterizedJob ?? dispatched),
    Dispatched: !isLaunched,
    Payload: input === undefined ? null : base64Of(JSON.stringify(input)),
    Meta: run.meta === undefined ? null : run.meta,
    Stop: run.state === 'cancelled',
    Status: jobStatusOf(run),
    StatusDescription: hasEnded(run) && run.error !== undefined ? sentence(run.error) : '',
    Stable: false,
    Version: 0,
    VersionTag: null,
    SubmitTime: unixNanosFromInstant(run.enqueuedAt),
    CreateIndex: run.number,
    ModifyIndex: modifyIndex,
    JobModifyIndex: run.number,
  };
}

const dispatched = { Payload: 'optional', MetaRequired: null, MetaOptional: null } as const;

function jobStatusOf(run: StoredRun): 'pending' | 'running' | 'dead' {
  if (hasEnded(run)) return 'dead';
  return run.state === 'running' || run.state === 'waiting' ? 'running' : 'pending';
}

const outcomes: { readonly [state in StoredRun['state']]?: RunOutcome } = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'stopped',
  timed_out: 'timed_out',
};

/** How the job of a run ended; undefined before its end. */
export const runOutcomeOf = ({ state }: Pick<StoredRun, 'state'>): RunOutcome | undefined => outcomes[state];

/** The numbers of the instances of a function. `running`: how many of its runs are under way. */
export function childrenOf({ unfinished, succeeded, others }: Counts, running: number): ChildrenSummary {
  return { Pending: Math.max(0, unfinished - running), Running: running, Dead: succeeded + others };
}

/** The summary of the job of a run. */
export function runSummary(job: Job, run: StoredRun): JobSummary {
  const counted: GroupSummary = { ...noAllocations, [countOf(run)]: 1 };
  return {
    JobID: job.ID,
    Namespace: job.Namespace,
    Summary: { [functionTask]: counted },
    Children: { Pending: 0, Running: 0, Dead: 0 },
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
  };
}

const noAllocations: GroupSummary = {
  ...{ Queued: 0, Complete: 0, Failed: 0, Running: 0, Starting: 0, Lost: 0, Unknown: 0 },
};

function countOf(run: StoredRun): keyof GroupSummary {
  if (run.state === 'succeeded' || run.state === 'cancelled') return 'Complete';
  if (hasEnded(run)) return 'Failed';
  if (run.starts === 0) return 'Queued';
  return jobStatusOf(run) === 'running' ? 'Running' : 'Starting';
}

/** No node: a run belongs to a process, for as long as an attempt is under way. */
const noNode = { NodeID: '00000000-0000-0000-0000-000000000000', NodeName: 'functions' } as const;

/** The allocation of a run: all its attempts; undefined before the first one. */
export function runAllocation(job: Job, { run, modifyIndex }: Omit<ReadRun, 'input'>): Allocation | undefined {
  if (run.starts === 0) return undefined;
  const changedAt = run.endedAt ?? run.startedAt ?? run.enqueuedAt;
  return {
    ID: runAllocationId(run.number),
    Namespace: job.Namespace,
    EvalID: '',
    Name: `${job.ID}.${functionTask}[0]`,
    ...noNode,
    JobID: job.ID,
    JobType: job.Type,
    JobVersion: job.Version,
    JobCreateIndex: job.CreateIndex,
    JobPriority: job.Priority,
    TaskGroup: functionTask,
    AllocatedResources: noResources,
    Metrics: noMetrics,
    DesiredTransition: noTransition,
    ...statusOf(run),
    TaskStates: { [functionTask]: taskStateOf(run) },
    CreateIndex: run.number,
    ModifyIndex: modifyIndex,
    AllocModifyIndex: run.number,
    CreateTime: unixNanosFromInstant(run.enqueuedAt),
    ModifyTime: unixNanosFromInstant(changedAt),
  };
}

type AllocationStatus = Pick<Allocation, 'ClientStatus' | 'ClientDescription' | 'DesiredStatus' | 'DesiredDescription'>;

function statusOf(run: StoredRun): AllocationStatus {
  const { state, error, cancelling } = run;
  const text = error === undefined ? '' : sentence(error);
  switch (state) {
    case 'succeeded':
      return { ClientStatus: 'complete', ClientDescription: 'The run has succeeded', DesiredStatus: 'run' };
    case 'failed':
      return { ClientStatus: 'failed', ClientDescription: text, DesiredStatus: 'run' };
    case 'timed_out':
      return { ClientStatus: 'failed', ClientDescription: `The last attempt timed out: ${text}`, DesiredStatus: 'run' };
    case 'cancelled':
      return {
        ...{ ClientStatus: 'complete', ClientDescription: stoppedEarly },
        ...{ DesiredStatus: 'stop', DesiredDescription: text },
      };
    case 'running':
    case 'waiting':
      return {
        ClientStatus: 'running',
        ClientDescription:
          state === 'waiting' ? 'The run waits for a run that it has called' : `Attempt ${run.attempt}`,
        ...(cancelling === undefined
          ? { DesiredStatus: 'run' }
          : { DesiredStatus: 'stop', DesiredDescription: cancelling }),
      };
    case 'scheduled':
    case 'queued':
      return { ClientStatus: 'pending', ClientDescription: waitText(run), DesiredStatus: 'run' };
  }
}

function waitText({ dueAt, error }: StoredRun): string {
  const wait = `The next attempt is due at ${isoFromInstant(dueAt)}`;
  return error === undefined ? wait : `${wait}, after ${sentence(error)}`;
}

/** What is known of the attempts: the last one and how many there were. */
function taskStateOf(run: StoredRun): TaskState {
  const { startedAt, endedAt, enqueuedAt, starts, error, dueAt } = run;
  let state = transitionTaskState(pendingTask, { type: 'received' }, enqueuedAt);
  const then = (happening: Parameters<typeof transitionTaskState>[1], at: Instant): void => {
    state = transitionTaskState(state, happening, at);
  };
  const failed = { code: 1, signal: 0, ...(error === undefined ? {} : { message: sentence(error) }) };
  if (startedAt !== null) then({ type: 'started' }, startedAt);
  const restarts = { Restarts: starts - 1, LastRestart: starts > 1 ? (state.StartedAt ?? null) : null };
  if (endedAt !== null) endTask(run, endedAt, then);
  else if (run.state === 'scheduled' || run.state === 'queued') {
    const from = run.waitsFrom ?? startedAt ?? enqueuedAt;
    if (error !== undefined) then({ type: 'ended', exit: { type: 'exited', ...failed } }, from);
    then(
      { type: 'restarting', after: Math.max(0, dueAt - from), reason: error === undefined ? '' : sentence(error) },
      from,
    );
  }
  return { ...state, ...restarts };
}

function endTask(
  run: StoredRun,
  at: Instant,
  then: (happening: Parameters<typeof transitionTaskState>[1], at: Instant) => void,
): void {
  const text = run.error === undefined ? '' : sentence(run.error);
  if (run.state === 'succeeded') {
    then({ type: 'ended', exit: { type: 'exited', code: 0, signal: 0 } }, at);
    then({ type: 'succeeded' }, at);
  } else if (run.state === 'cancelled') {
    then({ type: 'killing', timeout: 0, reason: text }, at);
    then({ type: 'killed' }, at);
  } else {
    then({ type: 'ended', exit: { type: 'exited', code: 1, signal: 0, message: text } }, at);
    then({ type: 'gave_up', reason: text }, at);
  }
}

/** An error on one line. */
function sentence({ name, message }: RunError): string {
  const line = message.split(/[\r\n]/).find((part) => part.trim() !== '') ?? '';
  return name === 'Error' || name === 'Cancelled' ? line || name : `${name}: ${line}`;
}

const noResources: Allocation['AllocatedResources'] = {
  Tasks: {
    [functionTask]: {
      Cpu: { CpuShares: 0, ReservedCores: null },
      Memory: { MemoryMB: 0, MemoryMaxMB: 0 },
      Networks: null,
      Devices: null,
    },
  },
  TaskLifecycles: { [functionTask]: null },
  Shared: { Networks: null, DiskMB: 0, Ports: null },
};

const noMetrics: Allocation['Metrics'] = {
  ...{ NodesEvaluated: 0, NodesFiltered: 0, NodesInPool: 0, NodePool: '', NodesAvailable: null, ClassFiltered: null },
  ...{ ConstraintFiltered: null, NodesExhausted: 0, ClassExhausted: null, DimensionExhausted: null },
  ...{ QuotaExhausted: null, ResourcesExhausted: null, Scores: null, ScoreMetaData: null },
  ...{ AllocationTime: 0, CoalescedFailures: 0 },
};

/** Standard base 64 of the UTF-8 bytes of a string. */
function base64Of(text: string): string {
  let characters = '';
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 4096) characters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(characters);
}
