import type { FunctionPolicy, Json } from '../../functions/define-function.js';
import {
  counted,
  type EndedCounts,
  functionCounts,
  hasEnded,
  keptFrom,
  numberOf,
  type RunState,
  retried,
  runId,
  runKeys,
  runStates,
  runs,
  type StoredRun,
  steps,
  values,
} from '../../functions/run.js';
import type { ReadView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { Transaction } from '../commit.js';
import type { BatchCounts, RunFilter, RunRecord } from './functions-api.js';

/** Rows that one write changes because of time: due, expired, collected, left by a dead process. */
export const batchSize = 100;
/** An input or result with more characters is stored apart from its run, which is written three times. */
const longestInline = 512;
/** Rows that one read or write of a bulk call looks at. */
const bulkSize = 200;

/** Stores a run that may have ended just now, outside of an attempt. */
export function endIn(tx: Transaction, run: StoredRun): void {
  tx.put(runs, run);
  if (hasEnded(run)) countEnded(tx, run, 1);
}

/** Queues a run again that ended otherwise than well; false for others. */
export function retryIn(tx: Transaction, run: StoredRun): boolean {
  const changed = retried(run, tx.now);
  if (changed === undefined) return false;
  tx.put(runs, changed);
  countEnded(tx, run, -1);
  return true;
}

export function countEnded(tx: Transaction, run: StoredRun, change: 1 | -1): void {
  const counts = counted(endedCountsOf(tx, run.function), run, change);
  tx.put(functionCounts, { function: run.function, ...counts });
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

  /** The matching ones of the next rows. */
  next(view: ReadView): StoredRun[] {
    const to = [...(this.#range.prefix ?? []), this.#before];
    const rows = view.list(runs, { ...this.#range, to, reverse: true, limit: bulkSize });
    this.#before = rows.at(-1)?.record.number ?? 0;
    this.isOver = rows.length < bulkSize;
    return rows.map(({ record }) => record).filter(this.matches);
  }
}

function isOfKind(run: StoredRun, filter: RunFilter, states: ReadonlySet<RunState> | undefined): boolean {
  if (filter.function !== undefined && run.function !== filter.function) return false;
  if (states !== undefined && !states.has(run.state)) return false;
  return filter.error === undefined || run.error?.name === filter.error || run.error?.code === filter.error;
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
    batch: run.batch === undefined ? null : `batch/${run.batch}`,
    meta: run.meta ?? {},
    error: run.error ?? null,
  };
}

export function countsOf(members: readonly StoredRun[]): BatchCounts {
  const counts = Object.fromEntries(runStates.map((state) => [state, 0])) as Record<RunState, number>;
  for (const { state } of members) counts[state] += 1;
  return { ...counts, total: members.length };
}
export function endedCountsOf(view: ReadView, name: string): EndedCounts {
  const { function: _, ...counts } = view.get(functionCounts, [name])?.record ?? {
    function: name,
    succeeded: 0,
    others: 0,
  };
  return counts;
}

/** Removes the ended runs that are too old or too many, one batch of each group: the counts after it, and whether there may be more. */
export function collect(
  tx: Transaction,
  policy: FunctionPolicy,
  before: EndedCounts,
): { readonly counts: EndedCounts; readonly isPartial: boolean } {
  let counts = before;
  let isPartial = false;
  for (const group of ['succeeded', 'others'] as const) {
    const { age, count } = policy.keep[group];
    const oldest = tx.list(runs, { index: 'history', prefix: [policy.name, group], limit: batchSize });
    const tooMany = counts[group] - count;
    // What an idempotency key leads to is kept for as long as the key does.
    const removed = oldest.filter(({ record }, at) => {
      const from = keptFrom(record);
      return (at < tooMany && from <= tx.now) || from + age < tx.now;
    });
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
  for (const kind of run.apart ?? []) tx.remove(values, [run.number, kind]);
  for (const { record } of tx.list(steps, { prefix: [run.number] })) tx.remove(steps, [record.run, record.name]);
  for (const { kind, key } of run.keys ?? []) {
    const stored = tx.get(runKeys, [kind, run.function, key])?.record;
    if (stored?.run === run.number) tx.remove(runKeys, [kind, run.function, key]);
  }
}

export function inputOf(view: ReadView, run: StoredRun): Json | undefined {
  return run.apart?.includes('input') === true ? view.get(values, [run.number, 'input'])?.record.value : run.input;
}

export function resultApart(tx: Transaction, run: StoredRun): StoredRun {
  const { result, ...rest } = run;
  if (result === undefined || JSON.stringify(result).length <= longestInline) return run;
  tx.put(values, { run: run.number, kind: 'result', value: result });
  return { ...rest, apart: [...(run.apart ?? []).filter((kind) => kind !== 'result'), 'result'] };
}

/** A run that begins when it is due. */
export function newRun(
  policy: FunctionPolicy,
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

/** A new run as it is stored: a long input apart. */
export function putNewRun(tx: Transaction, run: StoredRun, inputLength: number): void {
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
