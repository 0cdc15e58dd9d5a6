import type { FunctionPolicy, Json } from '../../functions/define-function.js';
import {
  batches,
  type Counts,
  counted,
  functionCounts,
  hasEnded,
  keptFrom,
  keysOf,
  type LogLine,
  latestLines,
  logs,
  numberOf,
  type RunState,
  runId,
  runKeys,
  runs,
  type StoredRun,
  steps,
  values,
} from '../../functions/run.js';
import type { ReadView, Row } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { Transaction } from '../write-transaction.js';
import { batchId, FunctionsError, type RunFilter, type RunRecord } from './functions-api.js';
import { RunReports } from './run-reports.js';

/** Rows that one write changes because of time: due, expired, collected, left by a dead process. */
export const batchSize = 100;
/** An input or result with more characters is stored apart from its run, which is written three times. */
const longestInline = 512;
/** Rows that one read or write of a bulk call looks at. */
const bulkSize = 200;

export function countsIn(view: ReadView, name: string): Counts {
  const { function: _, ...counts } = view.get(functionCounts, [name])?.record ?? { function: name, ...nothing };
  return counts;
}

const nothing: Counts = { unfinished: 0, succeeded: 0, others: 0 };

export function changeUnfinished(tx: Transaction, name: string, by: number): void {
  const counts = countsIn(tx, name);
  tx.put(functionCounts, { function: name, ...counts, unfinished: counts.unfinished + by });
}

/** Counts an ended run more, or one less. */
export function countEnded(tx: Transaction, run: StoredRun, change: 1 | -1): void {
  tx.put(functionCounts, { function: run.function, ...counted(countsIn(tx, run.function), run, change) });
}

/** Counts runs that the caller is about to store or to queue again; why they do not fit, after which nothing has changed. */
export function countNew(tx: Transaction, name: string, more = 1): FunctionsError | undefined {
  const { maximumUnfinished } = tx.settings.functions;
  const counts = countsIn(tx, name);
  const unfinished = counts.unfinished + more;
  if (unfinished <= maximumUnfinished) {
    tx.put(functionCounts, { function: name, ...counts, unfinished });
    return undefined;
  }
  return new FunctionsError(
    'queue_full',
    `${name} has ${counts.unfinished} runs that have not ended and takes at most ${maximumUnfinished}, so ${more} more do not fit: ` +
      'wait until some have ended, or discard them',
  );
}

/** The launch that waits for the end of this run begins. */
export function releaseNext(tx: Transaction, { number, schedule }: StoredRun): void {
  if (schedule === undefined) return;
  for (const { record } of tx.list(runs, { index: 'after', prefix: [number] })) {
    const { after: _, ...run } = record;
    tx.put(runs, run);
  }
}

/** Walks the runs that a filter selects, the latest first, a bounded number at a time. */
export class Scan {
  isOver = false;
  readonly matches: (run: StoredRun) => boolean;
  readonly #range: { readonly index?: string; readonly prefix?: Key };
  #before: number;

  constructor(filter: RunFilter) {
    const states = filter.state === undefined ? undefined : new Set([filter.state].flat());
    const batch = filter.batch === undefined ? undefined : Number(/^batch\/(\d{1,16})$/.exec(filter.batch)?.[1] ?? -1);
    const name = filter.function;
    if (batch !== undefined) this.#range = { index: 'batch', prefix: [batch] };
    else this.#range = name === undefined ? {} : { index: 'by_function', prefix: [name] };
    this.#before = (filter.after === undefined ? undefined : numberOf(filter.after)) ?? Number.MAX_SAFE_INTEGER;
    this.matches = (run) => isOfKind(run, filter, states) && isWithin(run, filter, batch);
  }

  /** The next rows. A store may run a read several times, so they are passed with `take` when it has ended. */
  look(view: ReadView): ScannedRuns {
    const to = [...(this.#range.prefix ?? []), this.#before];
    const rows = view.list(runs, { ...this.#range, to, reverse: true, limit: bulkSize }).map(({ record }) => record);
    return {
      matching: rows.filter(this.matches),
      before: rows.at(-1)?.number ?? 0,
      isLast: rows.length < bulkSize,
    };
  }

  take({ before, isLast }: ScannedRuns): void {
    this.#before = before;
    this.isOver = isLast;
  }
}

interface ScannedRuns {
  readonly matching: readonly StoredRun[];
  /** The number of the last row, and whether there is none after it. */
  readonly before: number;
  readonly isLast: boolean;
}

function isOfKind(run: StoredRun, filter: RunFilter, states: ReadonlySet<RunState> | undefined): boolean {
  if (filter.function !== undefined && run.function !== filter.function) return false;
  if (states !== undefined && !states.has(run.state)) return false;
  if (filter.key !== undefined && !isOfKey(run, filter.key)) return false;
  return filter.error === undefined || run.error?.name === filter.error || run.error?.code === filter.error;
}

/** A key of its limits or rates, or one with which it was enqueued. */
function isOfKey(run: StoredRun, key: string): boolean {
  return keysOf(run).includes(key) || run.keys?.some((each) => each.key === key) === true;
}

function isWithin(run: StoredRun, { from, to, meta = {} }: RunFilter, batch: number | undefined): boolean {
  if (batch !== undefined && run.batch !== batch) return false;
  if (from !== undefined && run.enqueuedAt < from.getTime()) return false;
  if (to !== undefined && run.enqueuedAt >= to.getTime()) return false;
  return Object.entries(meta).every(([name, value]) => run.meta?.[name] === value);
}

export function find(view: ReadView, id: string): StoredRun | undefined {
  const number = typeof id === 'string' ? numberOf(id) : undefined;
  const run = number === undefined ? undefined : view.get(runs, [number])?.record;
  return run !== undefined && runId(run) === id ? run : undefined;
}

export function recordOf(view: ReadView, run: StoredRun): RunRecord {
  const { input, result } = viewOf(view, run);
  const date = (at: Instant | null): Date | null => (at === null ? null : new Date(at));
  return {
    id: runId(run),
    function: run.function,
    version: run.version,
    state: run.state,
    priority: run.priority,
    attempt: run.attempt,
    interruptions: run.interruptions,
    enqueuedAt: new Date(run.enqueuedAt),
    dueAt: new Date(run.dueAt),
    startedAt: date(run.startedAt),
    endedAt: date(run.endedAt),
    input,
    ...(result === undefined ? {} : { result }),
    ...(run.progress === undefined ? {} : { progress: run.progress as Json }),
    parent: run.parent === undefined ? null : runId({ function: run.parent.function, number: run.parent.run }),
    batch: run.batch === undefined ? null : batchId(run.batch),
    meta: run.meta ?? {},
    error: run.error ?? null,
  };
}

/** Removes the ended runs that are too old or too many, one batch of each group: the counts after it, and whether there may be more. */
export function collect(
  tx: Transaction,
  policy: Pick<FunctionPolicy, 'name' | 'keep'>,
  before: Counts,
): { readonly counts: Counts; readonly isPartial: boolean } {
  let counts = before;
  let isPartial = false;
  for (const group of ['succeeded', 'others'] as const) {
    const { age, count } = policy.keep[group];
    const tooMany = counts[group] - count;
    // What an idempotency key leads to is kept for as long as the key does.
    const isOver = ({ record }: Row<StoredRun>, at: number): boolean => {
      const from = keptFrom(record);
      return (at < tooMany && from <= tx.now) || from + age < tx.now;
    };
    const oldest = { index: 'history', prefix: [policy.name, group] };
    const isAny = tx.list(runs, { ...oldest, limit: 1 }).some(isOver);
    const removed = isAny ? tx.list(runs, { ...oldest, limit: batchSize }).filter(isOver) : [];
    for (const { record } of removed) {
      removeRun(tx, record);
      counts = counted(counts, record, -1);
    }
    if (removed.length === batchSize) isPartial = true;
  }
  return { counts, isPartial };
}

/** Removes a run with all that belongs to it. Its counts are the caller's. */
export function removeRun(tx: Transaction, run: StoredRun): void {
  tx.remove(runs, [run.number]);
  if (!hasEnded(run)) releaseNext(tx, run);
  for (const kind of run.apart ?? []) tx.remove(values, [run.number, kind]);
  for (const { record } of tx.list(steps, { prefix: [run.number] })) tx.remove(steps, [record.run, record.name]);
  if (run.hasLog === true)
    for (const { record } of tx.list(logs, { prefix: [run.number] })) tx.remove(logs, [record.run, record.chunk]);
  leaveBatch(tx, run);
  for (const { kind, key } of run.keys ?? []) {
    const stored = tx.get(runKeys, [kind, run.function, key])?.record;
    if (stored?.run === run.number) tx.remove(runKeys, [kind, run.function, key]);
  }
}

/** A batch is stored for as long as one of its runs. */
function leaveBatch(tx: Transaction, run: StoredRun): void {
  const batch = run.batch === undefined ? undefined : tx.get(batches, [run.batch])?.record;
  if (batch?.left === 1) tx.remove(batches, [batch.number]);
  else if (batch !== undefined) tx.put(batches, { ...batch, left: batch.left - 1 });
}

export function inputOf(view: ReadView, run: StoredRun): Json | undefined {
  return run.apart?.includes('input') === true ? view.get(values, [run.number, 'input'])?.record.value : run.input;
}

/** Stores what an attempt has reported; the oldest lines make room. The progress is that of the run, which the caller stores. */
export function putLines(tx: Transaction, { number }: StoredRun, lines: readonly LogLine[]): void {
  if (lines.length === 0) return;
  const before = tx.list(logs, { prefix: [number] }).map(({ record }) => record);
  const kept = latestLines([...before.flatMap((chunk) => chunk.lines), ...lines]);
  let over = before.reduce((sum, chunk) => sum + chunk.lines.length, lines.length) - kept.length;
  for (const chunk of before) {
    if (over <= 0) break;
    if (chunk.lines.length <= over) tx.remove(logs, [number, chunk.chunk]);
    else tx.put(logs, { ...chunk, lines: chunk.lines.slice(over) });
    over -= chunk.lines.length;
  }
  tx.put(logs, { run: number, chunk: tx.index, lines: kept.slice(-lines.length) });
}

export function resultApart(tx: Transaction, run: StoredRun): StoredRun {
  const { result, ...rest } = run;
  if (result === undefined || JSON.stringify(result).length <= longestInline) return run;
  tx.put(values, { run: run.number, kind: 'result', value: result });
  return { ...rest, apart: [...(run.apart ?? []).filter((kind) => kind !== 'result'), 'result'] };
}

/** A run that begins when it is due. */
export function newRun(
  policy: Pick<FunctionPolicy, 'name' | 'version' | 'priority'>,
  input: Json | undefined,
  { number, now, dueAt }: { readonly number: number; readonly now: Instant; readonly dueAt: Instant },
): StoredRun {
  return {
    number,
    function: policy.name,
    version: policy.version,
    state: dueAt > now ? 'scheduled' : 'queued',
    priority: policy.priority,
    enqueuedAt: now,
    dueAt,
    startedAt: null,
    endedAt: null,
    attempt: 0,
    interruptions: 0,
    starts: 0,
    holder: null,
    ...(input === undefined ? {} : { input }),
  };
}

/** A new run in the trace of its write. */
export function traced(tx: Transaction, run: StoredRun): StoredRun {
  return tx.trace === undefined ? run : { ...run, trace: tx.trace };
}

/** A new run as it is stored, and reported. */
export function putNewRun(tx: Transaction, run: StoredRun, inputLength: number): void {
  putRun(tx, run, inputLength);
  RunReports.in(tx).created(run);
}

/** A run as it is stored: a long input apart. */
export function putRun(tx: Transaction, run: StoredRun, inputLength: number): void {
  const { input, ...rest } = run;
  const isLong = input !== undefined && inputLength > longestInline;
  if (isLong) tx.put(values, { run: run.number, kind: 'input', value: input });
  tx.put(runs, isLong ? { ...rest, apart: ['input'] } : run);
}

/** The ID, the input and the result as a reader sees them. */
export function viewOf(
  view: ReadView,
  run: StoredRun,
): { readonly id: string; readonly input: Json | undefined; readonly result: Json | undefined } {
  const isApart = run.apart?.includes('result') === true;
  const result = isApart ? view.get(values, [run.number, 'result'])?.record.value : run.result;
  return { id: runId(run), input: inputOf(view, run), result };
}
