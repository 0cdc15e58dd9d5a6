import { hour, type Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { type Key, table } from '../shared/table.js';
import type { Json } from './stored-json.js';

/** How a run ended. */
export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'timed_out';

/** `scheduled`: due later, also between attempts. `queued`: due. `waiting`: for a run that it has called. */
export type RunState = 'scheduled' | 'queued' | 'running' | 'waiting' | Outcome;

const outcomes: readonly Outcome[] = ['succeeded', 'failed', 'cancelled', 'timed_out'];
export const runStates: readonly RunState[] = ['scheduled', 'queued', 'running', 'waiting', ...outcomes];

/** Why the last attempt failed. */
export interface RunError {
  /** At most 1 KiB with `message`. */
  readonly name: string;
  readonly message: string;
  /** At most 8 KiB. */
  readonly stack: string;
  readonly code?: string;
}

/** A run as it is stored. Times are wall times. */
export interface StoredRun {
  /** The index of the write that enqueued it: unique in the store, and growing. */
  readonly number: number;
  readonly function: string;
  /** The version of the code that enqueued it: its input has the shape of that one. */
  readonly version: number;
  readonly state: RunState;
  readonly priority: number;
  readonly enqueuedAt: Instant;
  readonly dueAt: Instant;
  /** When the wait began that ends at `dueAt`; absent for a time that the caller named. */
  readonly waitsFrom?: Instant;
  readonly startedAt: Instant | null;
  readonly endedAt: Instant | null;
  /** Attempts that have begun, without those that were interrupted. */
  readonly attempt: number;
  /** Attempts that ended with their process. */
  readonly interruptions: number;
  /** Counts every start, so that a start is named once: an outcome counts for the start that is stored. */
  readonly starts: number;
  /** The process that runs it; null unless it is running or waiting. */
  readonly holder: string | null;
  /** Absent: it is in `function_values`. */
  readonly input?: Json;
  readonly result?: Json;
  /** The values of this run in `function_values`. */
  readonly apart?: readonly ValueKind[];
  readonly meta?: Readonly<Record<string, string>>;
  /** The last progress that its handler reported. */
  readonly progress?: Json;
  /** Lines of its log are stored. */
  readonly hasLog?: true;
  /** The run that called it, and by which name. */
  readonly parent?: { readonly run: number; readonly function: string; readonly step: string };
  /** The number of its batch. */
  readonly batch?: number;
  /** It is cancelled unless it has been started by then. */
  readonly expiresAt?: Instant;
  /** The reason of a cancellation that its holder has not carried out yet. */
  readonly cancelling?: string;
  readonly keys?: readonly StoredKey[];
  /** The counts that it belongs to, of limits and rates with a key: `scope=key`. The first one is its turn. */
  readonly limits?: readonly string[];
  /** It was enqueued by a process without its code, which cannot know its `limits`. A process that has the code adds them before it starts. */
  readonly hasOpenKeys?: true;
  /** The trace of its enqueue, as a `traceparent`. */
  readonly trace?: string;
  /** The schedule that launched it. */
  readonly schedule?: string;
  /** The launch before, for whose end it waits. */
  readonly after?: number;
  readonly error?: RunError;
}

/** What may be stored apart from its run. */
type ValueKind = 'input' | 'result';

/** A key that led, or leads, to this run. */
export interface StoredKey {
  readonly kind: 'unique' | 'debounce' | 'idempotency';
  readonly key: string;
  /** Until when an idempotency key leads here that was first used after the enqueue. */
  readonly until?: Instant;
}

/** How long an idempotency key leads to its run. */
export const idempotencyTime: Milliseconds = 24 * hour;

const ended: ReadonlySet<RunState> = new Set(outcomes);
export const hasEnded = ({ state }: Pick<StoredRun, 'state'>): boolean => ended.has(state);
/** Of a run that has ended. */
export const outcomeIn = ({ state }: Pick<StoredRun, 'state'>): Outcome => state as Outcome;

/** The group of ended runs that a bound of `keep` counts. */
type KeptGroup = 'succeeded' | 'others';
const groupOf = ({ state }: Pick<StoredRun, 'state'>): KeptGroup => (state === 'succeeded' ? 'succeeded' : 'others');

/** The time from which the age of a kept run counts: a result stays at least as long as the idempotency key that leads to it. */
export function keptFrom({ endedAt, enqueuedAt, keys = [] }: StoredRun): Instant {
  const named = keys.filter(({ kind }) => kind === 'idempotency');
  return Math.max(endedAt ?? 0, ...named.map(({ until }) => until ?? enqueuedAt + idempotencyTime));
}

/** A run that its process may have died of: it is taken when no other such run is under way in the process. */
const isSuspect = ({ state, interruptions }: StoredRun): boolean => state === 'queued' && interruptions > 0;
const isReady = (run: StoredRun): boolean => run.state === 'queued' && run.after === undefined && !isSuspect(run);

/** The place of a queued run. Runs of one key stand together, so that keys can take turns. */
export const readyKey = ({ function: name, limits, priority, dueAt, number }: StoredRun): Key => [
  name,
  limits?.[0] ?? '',
  100 - priority,
  dueAt,
  number,
];

export const runs = table<StoredRun>(
  'function_runs',
  ({ number }) => [number],
  {
    ready: { version: 1, key: (run) => (isReady(run) ? readyKey(run) : undefined) },
    suspects: { version: 1, key: (run) => (isSuspect(run) ? readyKey(run) : undefined) },
    due: { version: 1, key: ({ state, dueAt, number }) => (state === 'scheduled' ? [dueAt, number] : undefined) },
    waits: {
      version: 1,
      key: ({ state, waitsFrom, number }) =>
        state === 'scheduled' && waitsFrom !== undefined ? [waitsFrom, number] : undefined,
    },
    live: { version: 1, key: ({ holder, number }) => (holder === null ? undefined : [holder, number]) },
    cancelling: {
      version: 1,
      key: ({ holder, cancelling, number }) =>
        holder === null || cancelling === undefined ? undefined : [holder, number],
    },
    expiring: {
      version: 1,
      key: ({ state, expiresAt, starts, number }) =>
        expiresAt !== undefined && starts === 0 && (state === 'queued' || state === 'scheduled')
          ? [expiresAt, number]
          : undefined,
    },
    history: {
      version: 1,
      key: (run) => (hasEnded(run) ? [run.function, groupOf(run), keptFrom(run), run.number] : undefined),
      lazy: 128,
    },
    open_keys: {
      version: 1,
      key: ({ state, hasOpenKeys, function: name, version, number }) =>
        state === 'queued' && hasOpenKeys === true ? [name, version, number] : undefined,
    },
    after: {
      version: 1,
      key: ({ after, state, number }) => (after === undefined || ended.has(state) ? undefined : [after, number]),
    },
    waiting: {
      version: 1,
      key: ({ state, function: name, number }) => (state === 'waiting' ? [name, number] : undefined),
    },
    by_function: { version: 1, key: ({ function: name, number }) => [name, number], lazy: 128 },
    batch: { version: 1, key: ({ batch, number }) => (batch === undefined ? undefined : [batch, number]) },
  },
  { numbered: true, grows: true },
);

/** An input or result of more than 512 characters, written once. */
interface StoredValue {
  readonly run: number;
  readonly kind: ValueKind;
  readonly value: Json;
}
export const values = table<StoredValue>('function_values', ({ run, kind }) => [run, kind]);

/** A finished step, or a run that was called. */
export interface StoredStep {
  readonly run: number;
  readonly name: string;
  /** The value of the step, or the result of the run that was called. */
  readonly value?: Json;
  readonly called?: CalledRun;
}

/** A run that was called. */
interface CalledRun {
  readonly number: number;
  readonly function: string;
  /** Absent until it has ended. */
  readonly outcome?: Outcome;
  readonly error?: RunError;
}
export const steps = table<StoredStep>('function_steps', ({ run, name }) => [run, name]);

/** Runs that were enqueued together. */
export interface StoredBatch {
  /** That of its first run. */
  readonly number: number;
  readonly total: number;
  /** How many have ended, by outcome. */
  readonly ended: Readonly<Record<Outcome, number>>;
  /** How many are still stored. */
  readonly left: number;
  /** The function that is enqueued when all have ended. */
  readonly next?: { readonly function: string; readonly version: number; readonly priority: number };
  /** All have ended once. */
  readonly followed?: true;
}
export const batches = table<StoredBatch>('function_batches', ({ number }) => [number]);

export const openMembers = ({ total, ended: { succeeded, failed, cancelled, timed_out } }: StoredBatch): number =>
  total - succeeded - failed - cancelled - timed_out;

/** A line of the log of a run. `at`: wall time. */
export interface LogLine {
  readonly at: Instant;
  readonly level: 'info' | 'error';
  readonly text: string;
}

/** Lines that were stored together. */
interface StoredLog {
  readonly run: number;
  /** The write that stored them: later lines have greater ones. */
  readonly chunk: number;
  readonly lines: readonly LogLine[];
}
export const logs = table<StoredLog>('function_logs', ({ run, chunk }) => [run, chunk]);

/** What a handler reported since it was stored last. */
export interface Notes {
  readonly progress?: Json;
  readonly lines: readonly LogLine[];
}

/** Characters of the log of a run, and of one of its lines. */
export const longestLog = 64 * 1024;
export const longestLine = 8 * 1024;

/** The latest lines that fit into a log. */
export function latestLines(lines: readonly LogLine[]): readonly LogLine[] {
  let room = longestLog;
  let from = lines.length;
  while (from > 0) {
    room -= lines[from - 1]?.text.length ?? 0;
    if (room < 0) break;
    from -= 1;
  }
  return from === 0 ? lines : lines.slice(from);
}

/** The run that a key leads to. */
interface RunKey extends Pick<StoredKey, 'kind' | 'key'> {
  readonly function: string;
  readonly run: number;
  /** Until when: a time, or the run has started or ended. */
  readonly until: Instant | 'started' | 'ended';
}
export const runKeys = table<RunKey>('function_keys', ({ kind, function: name, key }) => [kind, name, key]);

/** How many runs of a function have not ended, and how many ended ones are kept. */
export interface Counts extends Readonly<Record<KeptGroup, number>> {
  readonly unfinished: number;
  /** Of the others, if any: the rest failed. */
  readonly cancelled?: number;
  readonly timed_out?: number;
}
interface FunctionCounts extends Counts {
  readonly function: string;
}

/** The counts with one ended run more, or one less. */
export function counted(counts: Counts, run: Pick<StoredRun, 'state'>, change: 1 | -1): Counts {
  const { state } = run;
  const group = groupOf(run);
  const after = { ...counts, [group]: counts[group] + change };
  if (state !== 'cancelled' && state !== 'timed_out') return after;
  return { ...after, [state]: Math.max(0, (counts[state] ?? 0) + change) };
}
export const functionCounts = table<FunctionCounts>('functions', ({ function: name }) => [name]);

/** A function that starts no runs, or with a key none of that key. */
export interface FunctionPause {
  readonly function: string;
  readonly key?: string;
}
export const pauses = table<FunctionPause>('function_pauses', ({ function: name, key }) =>
  key === undefined ? [name] : [name, key],
);

/** The keys of a run's limits and rates, without their scopes. */
export const keysOf = ({ limits = [] }: Pick<StoredRun, 'limits'>): readonly string[] =>
  limits.map((name) => name.slice(name.indexOf('=') + 1));

/** The name of their queue in the rows of processes. */
export const queueName = 'functions';

/** The third interruption ends a run. */
export const interruptionLimit = 3;

/** A run that a process begins. */
export function started(run: StoredRun, holder: string, now: Instant): StoredRun {
  return {
    ...run,
    state: 'running',
    holder,
    startedAt: now,
    attempt: run.attempt + 1,
    starts: run.starts + 1,
  };
}

/** A scheduled run whose time has come. */
export function comeDue({ waitsFrom: _, ...run }: StoredRun): StoredRun {
  return { ...run, state: 'queued' };
}

/** A scheduled run after the clock was set back by `step`, as far as known: by as much as it began to wait later than now at least. */
export function setBack(run: StoredRun, now: Instant, step: Milliseconds): StoredRun {
  const { waitsFrom = now, dueAt } = run;
  const by = Math.max(step, waitsFrom - now);
  return { ...run, dueAt: dueAt - by, waitsFrom: waitsFrom - by };
}

/** How an attempt ended. `wait` is the time until the next one. */
export type AttemptEnd =
  | { readonly type: 'succeeded'; readonly result: Json | undefined }
  | { readonly type: 'failed' | 'timed_out'; readonly error: RunError; readonly wait: Milliseconds | undefined }
  | { readonly type: 'snoozed'; readonly wait: Milliseconds }
  | { readonly type: 'cancelled'; readonly error: RunError }
  /** By a stop of its process, which is nobody's fault. */
  | { readonly type: 'handed_back' }
  /** With its process. */
  | { readonly type: 'interrupted' };

/** The run after an attempt. Results longer than a row are stored apart by the caller. */
export function afterAttempt(run: StoredRun, end: AttemptEnd, now: Instant): StoredRun {
  const { holder: _, cancelling, ...rest } = run;
  const free: StoredRun = { ...rest, holder: null };
  const finished = (state: Outcome, error?: RunError): StoredRun => ({
    ...free,
    state,
    endedAt: now,
    ...(error === undefined ? {} : { error }),
  });
  switch (end.type) {
    case 'succeeded':
      return { ...finished('succeeded'), ...(end.result === undefined ? {} : { result: end.result }) };
    case 'failed':
    case 'timed_out':
      if (cancelling !== undefined) return finished('cancelled', cancellation(cancelling));
      if (end.wait === undefined) return finished(end.type, end.error);
      return { ...free, state: 'scheduled', dueAt: now + end.wait, waitsFrom: now, error: end.error };
    case 'snoozed':
      if (cancelling !== undefined) return finished('cancelled', cancellation(cancelling));
      return { ...free, state: 'scheduled', dueAt: now + end.wait, waitsFrom: now, attempt: run.attempt - 1 };
    case 'cancelled':
      return finished('cancelled', end.error);
    case 'handed_back':
      if (cancelling !== undefined) return finished('cancelled', cancellation(cancelling));
      return { ...free, state: 'queued', attempt: run.attempt - 1 };
    case 'interrupted':
      return afterInterruption(free, cancelling, now);
  }
}

function afterInterruption(run: StoredRun, cancelling: string | undefined, now: Instant): StoredRun {
  const interruptions = run.interruptions + 1;
  if (cancelling !== undefined)
    return { ...run, interruptions, state: 'cancelled', endedAt: now, error: cancellation(cancelling) };
  if (interruptions < interruptionLimit) return { ...run, interruptions, state: 'queued', attempt: run.attempt - 1 };
  const message = `the process ended ${interruptions} times while it ran`;
  return { ...run, interruptions, state: 'failed', endedAt: now, error: { name: 'ProcessDied', message, stack: '' } };
}

export function cancellation(reason: string): RunError {
  return { name: 'Cancelled', message: reason, stack: '' };
}

/** What a cancellation makes of a run; undefined when it has ended. A run under way is ended by its holder. */
export function cancelled(run: StoredRun, reason: string, now: Instant): StoredRun | undefined {
  if (hasEnded(run)) return undefined;
  if (run.holder !== null) return { ...run, cancelling: run.cancelling ?? reason };
  return { ...run, state: 'cancelled', endedAt: now, error: cancellation(reason) };
}

/** An ended run that is asked for again, from `dueAt` on: with all its attempts, its number and its finished steps. */
export function retried(run: StoredRun, now: Instant, dueAt: Instant = now): StoredRun | undefined {
  if (!hasEnded(run) || run.state === 'succeeded') return undefined;
  const { error: _, expiresAt: __, after: ___, ...rest } = run;
  const again: StoredRun = { ...rest, dueAt, startedAt: null, endedAt: null, attempt: 0, interruptions: 0 };
  return dueAt > now ? { ...again, state: 'scheduled', waitsFrom: now } : { ...again, state: 'queued' };
}

/** The ID that callers see. */
export const runId = ({ function: name, number }: Pick<StoredRun, 'function' | 'number'>): string =>
  `${name}/${number}`;

/** The number in an ID; undefined when it is none. */
export function numberOf(id: string): number | undefined {
  const [, digits] = /^[A-Za-z0-9._/-]{1,128}\/(\d{1,16})$/.exec(id) ?? [];
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** As exports have it. The processes that run functions are not exported: what they had under way is queued, as if they had been stopped. */
export function runWithoutProcess(run: StoredRun): StoredRun {
  if (run.holder === null) return run;
  return afterAttempt(run, { type: 'handed_back' }, run.startedAt ?? run.enqueuedAt);
}
