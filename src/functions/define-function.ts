import { parseCron } from '../jobs/periodic/cron-expression.js';
import { timeZone } from '../jobs/periodic/decide-launch.js';
import { checkOptions, faultOf, type OptionKind, type OptionTable } from '../options/check-options.js';
import { type Duration, isDuration, milliseconds } from '../options/durations.js';
import {
  callable,
  count,
  either,
  group,
  listOf,
  oneOf,
  optional,
  share,
  textLike,
  wholeFrom,
} from '../options/option-kinds.js';
import { day, hour, type Milliseconds, minute, second } from '../shared/duration.js';
import type { DeclaredCron, DeclaredKeep, DeclaredLimit, DeclaredPolicy, FunctionDeclaration } from './declaration.js';
import { type Json, storedJson } from './stored-json.js';
import { mostValueBytes } from './value-limits.js';

export type { Json } from './stored-json.js';

/** A schema of zod, valibot, arktype or any other library that follows standardschema.dev. */
export interface Schema<In, Out> {
  readonly '~standard': StandardSchema<In, Out>;
}

/** The part of Standard Schema, version 1, that is used. */
export interface StandardSchema<In, Out> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => SchemaResult<Out> | Promise<SchemaResult<Out>>;
  readonly types?: { readonly input: In; readonly output: Out } | undefined;
}

/** The parsed value, or why the schema refuses it. */
export type SchemaResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One reason of a refusal. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

declare const types: unique symbol;

/** A declared function. It carries the types of its input and result; `enqueue` takes them from here. */
export interface FunctionDefinition<In = never, Out = unknown> {
  readonly name: string;
  readonly version: number;
  readonly [types]?: (input: In) => Out;
}

/** How a function runs. All of it belongs to the code, not to a queued run: a deploy changes it for runs that already wait. */
export interface FunctionOptions<In, Parsed> {
  /** The identity of the function: at most 128 of `A-Z a-z 0-9 . _ / -`. */
  readonly name: string;
  /** Checks the input when it is enqueued and again when an attempt begins. The handler gets the parsed value. */
  readonly input?: Schema<In, Parsed>;
  /** Raise it when processes with the earlier code must not take new inputs; 1 when absent. */
  readonly version?: number;
  /** Turns an input of an earlier version into one that `input` accepts. */
  readonly migrate?: (input: Json, from: number) => Json;
  readonly retry?: Retry;
  /** Of one attempt; 15 minutes when absent, `false` for none, 7 days at most. */
  readonly timeout?: Duration | false;
  /** An attempt without a heartbeat, progress, step or call for so long times out; never when absent. */
  readonly silence?: Duration;
  /** Runs at once over all processes: of the function, for each key, or both. Those over the limit wait. */
  readonly concurrency?: number | Limit<Parsed> | readonly Limit<Parsed>[];
  /** Starts in a time over all processes. Runs wait; none is dropped. */
  readonly rate?: Rate<Parsed> | readonly Rate<Parsed>[];
  /** A module whose default export is the handler: it runs in a thread. `new URL('./resize.js', import.meta.url)`. */
  readonly thread?: URL;
  /** When it runs automatically. */
  readonly cron?: string | Cron<In> | readonly Cron<In>[];
  /** 1 to 100, higher first; 50 when absent. */
  readonly priority?: number;
  /**
   * The ID of a workspace that is notified of its runs: of failures for good and cancellations, of runs that are not started for ten
   * minutes, and of the other triggers that its configurations ask for.
   */
  readonly notify?: string;
  /** How long ended runs are kept: 1 day when they succeeded, 30 days otherwise, and 10,000 of each. */
  readonly keep?: { readonly succeeded?: Keep; readonly others?: Keep };
}

/** How many runs may be under way at once. */
export interface Limit<Parsed> {
  readonly limit: number;
  /** Each key is counted separately, and keys take turns. Called with the parsed input at the enqueue. */
  readonly key?: (input: Parsed) => string;
  /** Limits of the same scope, also of other functions, share one count; that of the function alone when absent. */
  readonly scope?: string;
}

/** How many runs may start in a time. */
export interface Rate<Parsed> extends Limit<Parsed> {
  readonly per: Duration;
  /** How many may start at once after a pause; `limit` when absent. */
  readonly burst?: number;
}

/** A schedule of a function. */
export interface Cron<In> {
  /** Distinguishes the schedules of a function; `cron` when absent, which one of them may be. */
  readonly id?: string;
  /** Five fields, six with seconds first, or seven with a year last; also `@daily` and the like. */
  readonly schedule: string;
  /** An IANA name such as `Europe/Berlin`; UTC when absent. */
  readonly timeZone?: string;
  readonly input?: In;
  /**
   * Launches that were due while no process ran, more than a minute ago: one run for the last of them (`once`, the default), none
   * (`skip`), or one each, the last 100 (`all`, which needs `overlap: 'allow'` to make more than one at a time).
   */
  readonly missed?: 'skip' | 'once' | 'all';
  /**
   * While the run of an earlier launch has not ended: no new one (`skip`, the default), one beside it (`allow`), or one that waits for
   * its end (`queue`): one at most, further launches are not made.
   */
  readonly overlap?: 'allow' | 'skip' | 'queue';
}

/** Bounds of the ended runs that are kept: by age and by number. */
export interface Keep {
  readonly age?: Duration;
  readonly count?: number;
}

/** When a failed run is tried again: 5 attempts with waits of 1, 5, 25 and 125 seconds ± 20 % when absent. */
export interface Retry {
  /** Calls of the handler, the first one included. */
  readonly attempts?: number;
  /** The wait after an attempt: growing, constant, a list, or a function of the error and the attempt that failed. */
  readonly backoff?:
    | 'exponential'
    | 'fixed'
    | readonly Duration[]
    | ((error: unknown, attempt: number) => Duration | 'stop');
  /** The first wait; 1 second when absent. */
  readonly delay?: Duration;
  /** Each wait is this many times the one before; 5 when absent. */
  readonly factor?: number;
  /** The longest wait; 1 hour when absent. */
  readonly max?: Duration;
  /** The share by which a wait varies; 0.2 when absent. */
  readonly jitter?: number;
}

/** One attempt of a run, as its handler sees it. */
export interface RunContext {
  /** The ID of the run, the same in every attempt: `send-receipt/4711`. */
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  readonly meta: Readonly<Record<string, string>>;
  /** The time of `runAt`, of the end of `delay`, or of the enqueue. */
  readonly dueAt: Date;
  /** Aborts when the attempt should end. The name of its reason is `cancelled`, `timed_out`, `stopping` or `lost`. */
  readonly signal: AbortSignal;
  /**
   * Does `work` once in the run: a later attempt gets the stored value instead. Resolves when the value is stored. Steps are
   * known by name; the order is free, and a name used twice in an attempt is an error.
   */
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>;
  /**
   * Runs another function and gives its result; rejects with `RunFailedError` when it did not succeed. A later attempt gets the
   * stored result of the same name. While it waits, the run needs no slot and no time of its timeout.
   */
  call<In, Out>(name: string, fn: FunctionDefinition<In, Out>, ...input: InputOf<In>): Promise<Out>;
  /** Lines of the run's log, of which the last 64 KiB are kept. Stored within a second, and with the outcome. */
  readonly log: RunLog;
  /** How far the attempt is: at most 4 KiB of JSON, of which the last value is kept. Stored within a second. */
  progress(value: Json): void;
  /** The attempt is alive: see `silence`. */
  heartbeat(): void;
  /**
   * Gives the result back, and stores it together with rows of the host's own tables: `return run.commit(result, rows)`. Needs a
   * store that has these tables (`sqliteStorage`). When the rows are refused, the attempt fails with the host's own error.
   */
  commit<T>(result: T, rows: HostRows): T;
}

/** The input of a call: none for a function without one. */
export type InputOf<In> = [In] extends [undefined] ? [input?: undefined] : [input: In];

/** The log of a run. A line has at most 8 KiB. */
export interface RunLog {
  info(text: string): void;
  error(text: string): void;
}

/** Statements of the host that commit together with the enqueue or the outcome, or not at all. */
export type HostRows = (sql: { run(text: string, ...values: unknown[]): void }) => void;

/** What a function does. An exception fails the attempt. */
export type Handler<Parsed, Out> = (input: Parsed, run: RunContext) => Out | Promise<Out>;

/** Fails the run without another attempt. */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError';
}

/** Fails the attempt; the next one begins after this wait or at this time. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError';
  readonly wait: Duration | Date;

  constructor(message: string, wait: Duration | Date, options?: ErrorOptions) {
    super(message, options);
    this.wait = wait;
  }
}

/** Puts the run off: it is called again later, and the attempt does not count. */
export class Snooze extends Error {
  override readonly name = 'Snooze';
  readonly wait: Duration | Date;

  constructor(wait: Duration | Date) {
    super('put off');
    this.wait = wait;
  }
}

/** The policy of a function, with every default. Milliseconds. */
export interface FunctionPolicy {
  readonly name: string;
  readonly version: number;
  readonly input: Schema<unknown, unknown> | undefined;
  readonly migrate: ((input: Json, from: number) => Json) | undefined;
  readonly retry: RetryPolicy;
  readonly timeout: Milliseconds;
  /** Infinite without a bound. */
  readonly silence: Milliseconds;
  readonly priority: number;
  readonly keep: DeclaredPolicy['keep'];
  readonly limits: readonly LimitPolicy[];
  readonly rates: readonly RatePolicy[];
  readonly crons: readonly CronPolicy[];
  /** The workspace that is notified of its runs. */
  readonly notify: string | undefined;
  /** Without a handler or a thread, the function can be enqueued here and runs elsewhere. */
  readonly handler: Handler<unknown, unknown> | undefined;
  readonly thread: URL | undefined;
}

interface RetryPolicy extends Omit<DeclaredPolicy['retry'], 'backoff'> {
  readonly backoff: Exclude<NonNullable<Retry['backoff']>, readonly Duration[]> | readonly Milliseconds[];
}

export interface LimitPolicy {
  readonly limit: number;
  readonly key: ((input: unknown) => string) | undefined;
  readonly scope: string;
}

export interface RatePolicy extends LimitPolicy {
  readonly per: Milliseconds;
  readonly burst: number;
}

/** A schedule with every default. */
export interface CronPolicy extends DeclaredCron {
  readonly input: Json | undefined;
}

/** Policies by definition, so that a definition shows its name and version only. */
const policies = new WeakMap<object, FunctionPolicy>();

const longestTimeout = 7 * day;
const duration: OptionKind = {
  takes: 'milliseconds or a string such as 30s, 1h30m or 7d',
  fits: (value) => isDuration(value),
};
const keep = optional(group<Keep>({ age: optional(duration), count: optional(count) }));

const identifier = textLike(/^[A-Za-z0-9._/-]{1,128}$/, 'at most 128 letters, digits and . _ / -');
const limitTable: OptionTable<Limit<unknown>> = {
  limit: wholeFrom(1, 1_000_000),
  key: optional(callable),
  scope: optional(identifier),
};
const rateTable: OptionTable<Rate<unknown>> = {
  ...limitTable,
  per: { ...duration, fits: (value) => isDuration(value) && milliseconds(value) >= 1 },
  burst: optional(wholeFrom(1, 1_000_000)),
};
const cronTable: OptionTable<Cron<unknown>> = {
  id: optional(identifier),
  schedule: {
    takes: 'a cron expression of five fields, six with seconds first, or seven with a year last',
    fits: (value) => typeof value === 'string' && parseSchedule(value).isOk(),
  },
  timeZone: optional({
    takes: 'the IANA name of a time zone, such as Europe/Berlin',
    fits: (value) => typeof value === 'string' && timeZone(value) !== undefined,
  }),
  input: optional({
    takes: `JSON of at most ${mostValueBytes} bytes`,
    fits: (value) => storedJson('input', value, mostValueBytes).isOk(),
  }),
  missed: optional(oneOf('skip', 'once', 'all')),
  overlap: optional(oneOf('allow', 'skip', 'queue')),
};

/** One value, or a list of them. */
function oneOrMore(kind: OptionKind): OptionKind {
  const faultWithin = (value: unknown, path: string): string | undefined => {
    for (const [at, item] of [value].flat().entries()) {
      const fault = faultOf(item, kind, Array.isArray(value) ? `${path}[${at}]` : path);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return { takes: kind.takes, fits: () => true, faultWithin };
}

const retryTable: OptionTable<Retry> = {
  attempts: optional(wholeFrom(1, 1000)),
  backoff: optional(either(either(oneOf('exponential', 'fixed'), listOfDurations()), callable)),
  delay: optional(duration),
  factor: optional({ ...count, takes: 'a number from 1' }),
  max: optional(duration),
  jitter: optional(share),
};

const optionTable: OptionTable<FunctionOptions<unknown, unknown>> = {
  name: identifier,
  input: optional({
    takes: "a Standard Schema, such as z.object({ … }) (an object with the member '~standard')",
    fits: (value) =>
      value !== null &&
      ['object', 'function'].includes(typeof value) &&
      typeof (value as Partial<Schema<unknown, unknown>>)['~standard']?.validate === 'function',
  }),
  version: optional(wholeFrom(1, 1_000_000)),
  migrate: optional(callable),
  retry: optional(group(retryTable)),
  timeout: optional({
    takes: 'false, or milliseconds or a string such as 30s, more than 0 and at most 7d',
    fits: (value) =>
      value === false || (isDuration(value) && milliseconds(value) > 0 && milliseconds(value) <= longestTimeout),
  }),
  silence: optional({ ...duration, fits: (value) => isDuration(value) && milliseconds(value) > 0 }),
  concurrency: optional({ ...oneOrMore(group(limitTable)), faultWithin: concurrencyFault }),
  rate: optional(oneOrMore(group(rateTable))),
  thread: optional({
    takes: "a URL, such as new URL('./resize.js', import.meta.url)",
    fits: (value) => value instanceof URL,
  }),
  cron: optional({ ...oneOrMore(group(cronTable)), faultWithin: cronFault }),
  priority: optional(wholeFrom(1, 100)),
  notify: optional(
    textLike(/^[^\s/]{1,128}$/, 'the ID of a workspace: 1 to 128 characters without slashes and white space'),
  ),
  keep: optional(group<NonNullable<FunctionOptions<unknown, unknown>['keep']>>({ succeeded: keep, others: keep })),
};

function concurrencyFault(value: unknown, path: string): string | undefined {
  const limits = typeof value === 'number' ? { limit: value } : value;
  return oneOrMore(group(limitTable)).faultWithin?.(limits, path);
}

function cronFault(value: unknown, path: string): string | undefined {
  const crons = typeof value === 'string' ? { schedule: value } : value;
  const fault = oneOrMore(group(cronTable)).faultWithin?.(crons, path);
  if (fault !== undefined) return fault;
  const ids = [crons as Cron<unknown>].flat().map(({ id = 'cron' }) => id);
  return new Set(ids).size < ids.length ? `${path} has two schedules with one id: give each an id` : undefined;
}

function listOfDurations(): OptionKind {
  const list = listOf(duration);
  return {
    takes: "'exponential', 'fixed', a list of durations or a function",
    fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isDuration) && list.fits(value),
  };
}

/**
 * Declares a function. Without a handler it can be enqueued, and runs in a process that has it with one. Throws a TypeError for
 * unknown and mistyped options.
 */
export function defineFunction<In = void, Parsed = In, Out = void>(
  options: FunctionOptions<In, Parsed>,
  handler?: Handler<Parsed, Out>,
): FunctionDefinition<In, Out> {
  checkOptions('defineFunction', options as FunctionOptions<unknown, unknown>, optionTable);
  if (handler !== undefined && typeof handler !== 'function')
    throw new TypeError(`defineFunction: the handler of ${options.name} is not a function`);
  if (handler !== undefined && options.thread !== undefined)
    throw new TypeError(`defineFunction: ${options.name} has a handler and a thread: give one of them`);
  const { name, version = 1 } = options;
  const definition: FunctionDefinition<In, Out> = Object.freeze({ name, version });
  policies.set(definition, {
    ...policyFrom(options as FunctionOptions<unknown, unknown>),
    handler: handler as Handler<unknown, unknown> | undefined,
  });
  return definition;
}

function policyFrom(options: FunctionOptions<unknown, unknown>): Omit<FunctionPolicy, 'handler'> {
  const { name, version = 1, input, migrate, timeout = 15 * minute, priority = 50, keep = {}, notify } = options;
  return {
    name,
    version,
    input,
    migrate,
    retry: retryFrom(options.retry),
    thread: options.thread,
    silence: options.silence === undefined ? Number.POSITIVE_INFINITY : milliseconds(options.silence),
    timeout: timeout === false ? Number.POSITIVE_INFINITY : milliseconds(timeout),
    priority,
    keep: { succeeded: kept(keep.succeeded, day), others: kept(keep.others, 30 * day) },
    ...limitsFrom(options),
    crons: cronsFrom(options.cron),
    notify,
  };
}

function limitsFrom({
  name,
  concurrency = [],
  rate = [],
}: FunctionOptions<unknown, unknown>): Pick<FunctionPolicy, 'limits' | 'rates'> {
  const limits = several<Limit<unknown>>(typeof concurrency === 'number' ? { limit: concurrency } : concurrency);
  const rates = several<Rate<unknown>>(rate);
  return {
    limits: limits.map(({ limit, key, scope = `${name}:${key === undefined ? 'all' : 'key'}` }) => ({
      limit,
      key,
      scope,
    })),
    rates: rates.map(({ limit, key, per, burst = limit, scope = `${name}:${key === undefined ? 'all' : 'key'}` }) => ({
      ...{ limit, key, burst },
      per: milliseconds(per),
      scope: `rate:${scope}`,
    })),
  };
}

function cronsFrom(cron: FunctionOptions<unknown, unknown>['cron'] = []): readonly CronPolicy[] {
  return several<Cron<unknown>>(typeof cron === 'string' ? { schedule: cron } : cron).map(cronPolicyOf);
}

function several<T extends object>(given: T | readonly T[]): readonly T[] {
  return 'length' in given ? given : [given];
}

/** A schedule with every default. */
export function cronPolicyOf({ id = 'cron', schedule, timeZone = 'UTC', input, ...rest }: Cron<unknown>): CronPolicy {
  const { missed = 'once', overlap = 'skip' } = rest;
  const stored = input === undefined ? undefined : storedJson('input', input, mostValueBytes).unwrapOr(undefined);
  return { id, schedule, timeZone, input: stored?.value, missed, overlap };
}

/**
 * Six fields begin with seconds, as in the cron packages for Node. The periodic block of a job reads a trailing year there, as Nomad
 * does: what is written for functions would run at other times.
 */
export function parseSchedule(schedule: string): ReturnType<typeof parseCron> {
  const fields = schedule.match(/[^\t\n\f\r ]+/g)?.length;
  return parseCron(fields === 6 ? `${schedule} *` : schedule);
}

/** Throws a TypeError for a schedule that is none. */
export function checkCron(caller: string, cron: Cron<unknown>): void {
  checkOptions(caller, cron, cronTable);
}

function retryFrom({ attempts, backoff: given = 'exponential', delay = second, ...rest }: Retry = {}): RetryPolicy {
  const { factor = 5, max = hour, jitter = 0.2 } = rest;
  const backoff = typeof given === 'string' || typeof given === 'function' ? given : given.map(milliseconds);
  const most = attempts ?? (Array.isArray(backoff) ? backoff.length + 1 : 5);
  return { attempts: most, backoff, delay: milliseconds(delay), factor, max: milliseconds(max), jitter };
}

function kept({ age, count: number = 10_000 }: Keep = {}, otherwise: Milliseconds): DeclaredKeep {
  return { age: age === undefined ? otherwise : milliseconds(age), count: number };
}

/** Whether the code of a function is here. */
export const runsHere = ({ handler, thread }: FunctionPolicy): boolean => handler !== undefined || thread !== undefined;

/** The policy of a definition; undefined for what `defineFunction` did not make. */
export function policyOf(definition: unknown): FunctionPolicy | undefined {
  return typeof definition === 'object' && definition !== null ? policies.get(definition) : undefined;
}

/** The policy as readers in any process see it. */
export function declarationOf(policy: FunctionPolicy, namespace: string): FunctionDeclaration {
  const { name, version, priority, timeout, keep } = policy;
  const { backoff, attempts, delay, factor, max, jitter } = policy.retry;
  return {
    name,
    namespace,
    version,
    hasHandler: runsHere(policy),
    priority,
    ...(Number.isFinite(timeout) ? { timeout } : {}),
    retry: { attempts, backoff: typeof backoff === 'function' ? 'function' : backoff, delay, factor, max, jitter },
    limits: policy.limits.map(declaredLimit),
    rates: policy.rates.map((rate) => ({
      ...declaredLimit({ ...rate, scope: rate.scope.replace(/^rate:/, '') }),
      per: rate.per,
      burst: rate.burst,
    })),
    crons: policy.crons.map(({ input: _, ...cron }) => cron),
    keep,
  };
}

function declaredLimit({ limit, scope, key }: LimitPolicy | RatePolicy): DeclaredLimit {
  return { limit, scope, perKey: key !== undefined };
}
