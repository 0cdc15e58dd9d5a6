import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import {
  type DeclaredCron,
  declarations,
  type FunctionDeclaration,
  type StoredSchedule,
  schedules,
} from '../../functions/declaration.js';
import type { Json } from '../../functions/define-function.js';
import { type FunctionRunNotFound, functionRunNotFound } from '../../functions/errors.js';
import {
  functionCounts,
  logs,
  numberOf,
  pauses,
  type RunError,
  type RunState,
  runId,
  runs,
  type StoredRun,
  steps,
} from '../../functions/run.js';
import type { InvalidRequest } from '../../jobs/errors.js';
import { namespaceOf } from '../../jobs/job-record.js';
import { checkOptions } from '../../options/check-options.js';
import type { ReadView, StorageError, TableName } from '../../ports/storage.js';
import { type Page, pageInSteps, readPage, type Source, takesAll } from '../../queries/page.js';
import { finish, type Steps } from '../../scheduler/steps.js';
import { isoFromInstant } from '../../shared/instant.js';
import { stated } from '../../shared/values.js';
import { definitionKey, type EngineContext, readResult } from '../context/engine-context.js';
import { heldSource } from '../listing/answer-list.js';
import { someNamespace } from '../records/declared-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../waiting/parked-queries.js';
import { explainRun } from './explain.js';
import { filterTable, type RunFilter, type WaitReason } from './functions-api.js';
import { countsIn, find, recordOf, Scan } from './stored-runs.js';

/** The most runs of one state, of all functions, that are read to count them. */
const mostCounted = 10_000;
const usualPage = 100;
const longestPage = 1000;

/** A function as readers see it: its declaration, its schedules, and how many runs are in each state. Durations are in milliseconds. */
export interface FunctionView extends Omit<FunctionDeclaration, 'crons' | 'missingSince'> {
  /** Since when no process has the function, as far as that was noticed; absent while one has. */
  readonly missingSince?: string;
  /** No run begins while it is paused. */
  readonly isPaused: boolean;
  /** Keys of its limits and rates that are paused. */
  readonly pausedKeys: readonly string[];
  readonly schedules: readonly ScheduleView[];
  readonly counts: Readonly<Record<RunState, number>>;
  /** Whether more than 10,000 runs of all functions are scheduled, running or waiting: the rest of them counts as queued. */
  readonly hasMore: boolean;
}

/** A schedule of a function with its launches. */
export interface ScheduleView extends DeclaredCron {
  /** Whether the code declares it; otherwise it was added as data. */
  readonly isDeclared: boolean;
  readonly nextLaunch: string;
  /** The time and the run of the last launch, while the run is kept. */
  readonly lastLaunch?: string;
  readonly lastRun?: string;
}

/** A run as lists have it. */
export interface FunctionRunSummary {
  readonly id: string;
  readonly function: string;
  readonly version: number;
  readonly state: RunState;
  readonly priority: number;
  readonly attempt: number;
  readonly interruptions: number;
  readonly enqueuedAt: string;
  readonly dueAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly batch?: string;
  /** The run that called it. */
  readonly parent?: string;
  /** The last value that its handler reported. */
  readonly progress?: Json;
  readonly meta: Readonly<Record<string, string>>;
  readonly error?: Omit<RunError, 'stack'> & { readonly stack?: string };
}

/** A run with its values, and the names of its finished steps. */
export interface FunctionRunView extends FunctionRunSummary {
  readonly input?: Json;
  readonly result?: Json;
  readonly steps: readonly string[];
}

type Read<T, E = never> = ResultAsync<Answer<T>, StorageError | E>;

/** What selects a page of functions. */
interface ListFunctionsInput {
  /** `default` when absent; `*` means all that the caller may read. */
  readonly namespace?: string;
  readonly prefix?: string;
  readonly perPage?: number;
  readonly nextToken?: string;
}

/** The functions of a namespace, by name. Needs `read-job`. */
export function listFunctions(
  context: EngineContext,
  caller: Principal,
  { prefix = '', perPage = 0, nextToken = '', waiting, ...input }: ListFunctionsInput & MayWait,
): Read<Page<FunctionView>> {
  const namespace = namespaceOf(input);
  const everywhere = namespace === everyNamespace;
  const sees = (name: string): boolean => allows(caller, name, ['read-job']);
  const steps = function* (current: () => ReadView): Steps<Answer<Page<FunctionView>>> {
    const view = current();
    const scope = everywhere ? {} : { index: 'by_namespace', prefix: [namespace] };
    const found = view.list(declarations, scope).map(({ record }) => record);
    const visible = found.filter((record) => record.name.startsWith(prefix) && sees(record.namespace));
    const page = readPage(
      heldSource(visible, { nextToken }, ({ name }) => name),
      perPage,
    )._unsafeUnwrap();
    const isHidden = everywhere && !someNamespace(view, sees);
    const index = isHidden ? 0 : indexOf(view, shownTables);
    const unfinished = new UnfinishedRuns(current);
    const items: FunctionView[] = [];
    for (const declared of page.items) {
      items.push(functionView(current(), declared, unfinished));
      yield;
    }
    return { index, value: { ...page, items } };
  };
  const query = {
    key: () => JSON.stringify(['functions', everywhere ? caller : namespace, prefix, perPage, nextToken]),
    tables: shownTables,
    run: (view: ReadView) => finish(steps(() => view)),
    steps,
  };
  return answerQuery(context, query, waiting);
}

/** The tables that end the wait for a function: not each run, which would end it at once. */
const shownTables: readonly TableName[] = [declarations, pauses, schedules, functionCounts];

function indexOf(view: ReadView, tables: readonly TableName[]): number {
  return Math.max(...tables.map((table) => view.tableIndex(table)));
}

/** Identifies a function for a caller. */
export interface FunctionReference {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly name: string;
}

/** One function; undefined when the namespace has none of that name. Needs `read-job`. */
export function readFunction(
  context: EngineContext,
  _caller: Principal,
  input: FunctionReference & MayWait,
): Read<FunctionView | undefined> {
  const namespace = namespaceOf(input);
  const { name, waiting } = input;
  const query = {
    key: () => JSON.stringify(['function', namespace, name]),
    tables: shownTables.map((table) => rowsUnder(table as typeof declarations, [name])),
    run: (view: ReadView) => {
      const declared = declaredIn(view, namespace, name);
      const value = declared && functionView(view, declared, new UnfinishedRuns(() => view));
      return { index: indexOf(view, shownTables), value };
    },
  };
  return answerQuery(context, query, waiting);
}

/** The declaration of a function, if it is of the namespace. */
export function declaredIn(view: ReadView, namespace: string, name: string): FunctionDeclaration | undefined {
  const declared = view.get(declarations, [name])?.record;
  return declared?.namespace === namespace ? declared : undefined;
}

/** How many unfinished runs are in each state. Those that no index has by function are read once for a whole list. */
class UnfinishedRuns {
  readonly #current: () => ReadView;
  #others: ReadonlyMap<string, readonly RunState[]> | undefined;
  #hasMore = false;

  constructor(current: () => ReadView) {
    this.#current = current;
  }

  of(
    name: string,
    unfinished: number,
  ): { readonly counts: Partial<Record<RunState, number>>; readonly hasMore: boolean } {
    const others = this.#othersOf(name);
    const counts: Partial<Record<RunState, number>> = { queued: Math.max(0, unfinished - others.length) };
    for (const state of others) counts[state] = (counts[state] ?? 0) + 1;
    return { counts, hasMore: this.#hasMore };
  }

  /** The states of the runs that are not queued. */
  #othersOf(name: string): readonly RunState[] {
    if (this.#others === undefined) {
      const found = new Map<string, RunState[]>();
      for (const index of ['due', 'live', 'waiting']) {
        const rows = this.#current().list(runs, { index, limit: mostCounted + 1 });
        if (rows.length > mostCounted) this.#hasMore = true;
        for (const { record } of rows.slice(0, mostCounted)) {
          // Those that wait for a run have a holder, too, and are counted by their own index.
          if (index === 'live' && record.state === 'waiting') continue;
          const states = found.get(record.function) ?? [];
          states.push(record.state);
          found.set(record.function, states);
        }
      }
      this.#others = found;
    }
    return this.#others.get(name) ?? [];
  }
}

const noneUnfinished = { scheduled: 0, queued: 0, running: 0, waiting: 0 };

function functionView(view: ReadView, declared: FunctionDeclaration, unfinished: UnfinishedRuns): FunctionView {
  const { crons: _, missingSince, ...shown } = declared;
  const { name } = declared;
  const stored = countsIn(view, name);
  const { succeeded, others, cancelled = 0, timed_out = 0 } = stored;
  const paused = view.list(pauses, { prefix: [name] }).map(({ record }) => record);
  const { counts, hasMore } = unfinished.of(name, stored.unfinished);
  const failed = others - cancelled - timed_out;
  return {
    ...shown,
    ...(missingSince === undefined ? {} : { missingSince: isoFromInstant(missingSince) }),
    isPaused: paused.some(({ key }) => key === undefined),
    pausedKeys: paused.flatMap(({ key }) => (key === undefined ? [] : [key])),
    schedules: view.list(schedules, { prefix: [name] }).map(({ record }) => scheduleView(view, record)),
    counts: { ...noneUnfinished, ...counts, succeeded, failed, cancelled, timed_out },
    hasMore,
  };
}

function scheduleView(view: ReadView, stored: StoredSchedule): ScheduleView {
  const { id, schedule, timeZone, missed, overlap, version, dueAt, lastRun } = stored;
  const last = lastRun === undefined ? undefined : view.get(runs, [lastRun])?.record;
  return {
    ...{ id, schedule, timeZone, missed, overlap },
    isDeclared: version !== null,
    nextLaunch: isoFromInstant(dueAt),
    ...(last === undefined ? {} : { lastLaunch: isoFromInstant(last.enqueuedAt), lastRun: runId(last) }),
  };
}

/** Which runs of a function are listed: all members must hold. */
export interface RunsSelection extends Pick<RunFilter, 'key' | 'error' | 'batch' | 'meta'> {
  /** One or several of the states. */
  readonly state?: string | readonly string[];
  /** Enqueued at this time or later, and before this time. */
  readonly from?: number;
  readonly to?: number;
}

/** Selects a page of runs. */
interface ListFunctionRunsInput extends FunctionReference, Omit<RunsSelection, 'meta'> {
  /** `NAME=VALUE` each. */
  readonly meta?: readonly string[];
  /** 100 when absent or 0; at most 1,000. */
  readonly perPage?: number;
  readonly nextToken?: string;
}

/** The filter of a selection, checked. */
export function filterOf(name: string, selection: RunsSelection): Result<RunFilter, InvalidRequest> {
  const { state, key, error, batch, meta, from, to } = selection;
  const times = { from: from === undefined ? from : new Date(from), to: to === undefined ? to : new Date(to) };
  const states = state as RunState | readonly RunState[] | undefined;
  const filter = { function: name, ...stated({ state: states, key, error, batch, meta, ...times }) };
  return checked('filter', () => checkOptions('runs', filter, filterTable)).map(() => filter);
}

/** The refusal of what options do not take. */
export function checked(field: string, check: () => void): Result<void, InvalidRequest> {
  try {
    return ok(check());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return err({ type: 'invalid_request', field, message: error.message });
  }
}

/** The runs of a function, the latest first; undefined when the namespace has none of that name. Needs `read-job`. */
export function listFunctionRuns(
  context: EngineContext,
  _caller: Principal,
  input: ListFunctionRunsInput & MayWait,
): Read<Page<FunctionRunSummary> | undefined, InvalidRequest> {
  const { name, perPage = 0, nextToken = '', meta = [], waiting, ...selection } = input;
  const namespace = namespaceOf(input);
  const page = pageFrom(perPage, nextToken);
  if (page.isErr()) return errAsync(page.error);
  const { start, size } = page.value;
  const filter = entriesOf(meta).andThen((entries) => filterOf(name, { ...selection, meta: entries }));
  if (filter.isErr()) return errAsync(filter.error);
  const { matches } = new Scan(filter.value);
  const steps = (current: () => ReadView) => runsInSteps(current, { namespace, name, matches, start, size });
  const query = {
    key: () => JSON.stringify(['function-runs', namespace, filter.value, start, size]),
    tables: [rowsUnder(runs, [name], 'by_function'), rowsUnder(declarations, [name])],
    run: (view: ReadView) => finish(steps(() => view)),
    steps,
  };
  return answerQuery(context, query, waiting);
}

/** `start`: the number of the first run. */
function pageFrom(
  perPage: number,
  nextToken: string,
): Result<{ readonly start: number | undefined; readonly size: number }, InvalidRequest> {
  if (perPage < 0 || perPage > longestPage)
    return err({ type: 'invalid_request', field: 'per_page', message: `per_page is from 0 to ${longestPage}` });
  const start = nextToken === '' ? undefined : numberOf(nextToken);
  if (nextToken !== '' && start === undefined)
    return err({ type: 'invalid_request', field: 'next_token', message: 'next_token is the ID of a run' });
  return ok({ start, size: perPage === 0 ? usualPage : perPage });
}

function entriesOf(texts: readonly string[]): Result<Readonly<Record<string, string>>, InvalidRequest> {
  const message = 'meta must have the form NAME=VALUE';
  if (!texts.every((text) => text.includes('='))) return err({ type: 'invalid_request', field: 'meta', message });
  return ok(
    Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)])),
  );
}

interface RunsWanted {
  readonly namespace: string;
  readonly name: string;
  readonly matches: (run: StoredRun) => boolean;
  /** The number of the first run of the page. */
  readonly start: number | undefined;
  readonly size: number;
}

function* runsInSteps(
  current: () => ReadView,
  { namespace, name, matches, start, size }: RunsWanted,
): Steps<Answer<Page<FunctionRunSummary> | undefined>> {
  const index = indexOf(current(), [runs, declarations]);
  if (declaredIn(current(), namespace, name) === undefined) return { index, value: undefined };
  const source: Source<StoredRun> = {
    slice: (last, limit) => {
      const before = last?.number ?? (start ?? Number.MAX_SAFE_INTEGER - 1) + 1;
      const range = { index: 'by_function', prefix: [name], to: [name, before], reverse: true };
      const rows = current().list(runs, limit === undefined ? range : { ...range, limit });
      return rows.map(({ record }) => record);
    },
    accept: matches,
    token: runId,
  };
  const page = yield* pageInSteps(() => source, { perPage: size, filter: takesAll, show: summaryOf(current) });
  return { index, value: page._unsafeUnwrap() };
}

function summaryOf(current: () => ReadView): (run: StoredRun) => FunctionRunSummary {
  return ({ apart: _, input: __, result: ___, ...run }) => {
    const { input: ____, result: _____, ...shown } = viewOfRecord(current(), run);
    if (shown.error === undefined) return shown;
    const { stack: ______, ...error } = shown.error;
    return { ...shown, error };
  };
}

/** The record of a run as JSON: absent members instead of null, times as strings. */
function viewOfRecord(view: ReadView, run: StoredRun): Omit<FunctionRunView, 'steps'> {
  const entries = Object.entries(recordOf(view, run)).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'input' || name === 'result' || name === 'progress') return value === undefined ? [] : [[name, value]];
    if (value === null || value === undefined) return [];
    return [[name, value instanceof Date ? value.toISOString() : value]];
  });
  return Object.fromEntries(entries) as unknown as Omit<FunctionRunView, 'steps'>;
}

/** Identifies a run for a caller. */
export interface FunctionRunReference {
  /** That of the function; `default` when absent. */
  readonly namespace?: string;
  readonly id: string;
}

/** The run, if its function is of the namespace. */
export function runIn(view: ReadView, namespace: string, id: string): StoredRun | undefined {
  const run = find(view, id);
  return run !== undefined && declaredIn(view, namespace, run.function) !== undefined ? run : undefined;
}

/** One run; undefined when the namespace has none. Needs `read-job`. */
export function readFunctionRun(
  context: EngineContext,
  _caller: Principal,
  input: FunctionRunReference & MayWait,
): Read<FunctionRunView | undefined> {
  const namespace = namespaceOf(input);
  const { id, waiting } = input;
  const number = numberOf(id) ?? -1;
  const query = {
    key: () => JSON.stringify(['function-run', namespace, id]),
    tables: [rowsUnder(runs, [number]), rowsUnder(steps, [number])],
    run: (view: ReadView) => {
      const run = runIn(view, namespace, id);
      const named = run === undefined ? [] : view.list(steps, { prefix: [run.number] });
      const value = run && { ...viewOfRecord(view, run), steps: named.map(({ record }) => record.name) };
      return { index: indexOf(view, [runs, steps]), value };
    },
  };
  return answerQuery(context, query, waiting);
}

/** What a run waits for. Needs `read-job`. */
export function explainFunctionRun(
  context: EngineContext,
  _caller: Principal,
  input: FunctionRunReference,
): ResultAsync<RunExplanation, FunctionRunNotFound | StorageError> {
  return ofRun(context, input, (view, run) => {
    const defined = context.definitions.get(definitionKey(namespaceOf(input), run.function));
    return explainRun(view, run, defined?.policy, context.clock);
  });
}

/** Why a run does not begin, or that it waits for nothing. */
export interface RunExplanation {
  readonly reason: WaitReason;
  readonly message: string;
}

/** A line that a handler has logged. */
export interface FunctionLogLine {
  readonly at: string;
  readonly level: 'info' | 'error';
  readonly text: string;
}

/** The last 64 KiB of what the attempts of a run have logged. Needs `read-logs`. */
export function readFunctionRunLog(
  context: EngineContext,
  _caller: Principal,
  input: FunctionRunReference,
): ResultAsync<readonly FunctionLogLine[], FunctionRunNotFound | StorageError> {
  return ofRun(context, input, (view, run) =>
    view
      .list(logs, { prefix: [run.number] })
      .flatMap(({ record }) => record.lines)
      .map(({ at, level, text }) => ({ at: isoFromInstant(at), level, text })),
  );
}

function ofRun<T>(
  context: EngineContext,
  input: FunctionRunReference,
  show: (view: ReadView, run: StoredRun) => T,
): ResultAsync<T, FunctionRunNotFound | StorageError> {
  const namespace = namespaceOf(input);
  return readResult(context, (view): Result<T, FunctionRunNotFound> => {
    const run = runIn(view, namespace, input.id);
    return run === undefined ? err(functionRunNotFound(input.id)) : ok(show(view, run));
  });
}
