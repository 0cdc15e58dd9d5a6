import { err, ok, type Result } from 'neverthrow';
import { limitNames } from '../../functions/admission.js';
import {
  type FunctionPolicy,
  type HostRows,
  type Json,
  policyOf,
  type SchemaIssue,
} from '../../functions/define-function.js';
import {
  hasEnded,
  idempotencyTime,
  runId,
  runKeys,
  runs,
  type StoredKey,
  type StoredRun,
  values,
} from '../../functions/run.js';
import { runErrorOf } from '../../functions/run-error.js';
import { type StoredJson, storedJson } from '../../functions/stored-json.js';
import { milliseconds } from '../../options/durations.js';
import type { Storage } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { Transaction } from '../write-transaction.js';
import { type EnqueueOptions, FunctionsError } from './functions-api.js';
import { countNew, newRun, putNewRun, putRun, traced, viewOf } from './stored-runs.js';

/** A run to be enqueued, checked, without its number. */
export interface Order {
  readonly policy: FunctionPolicy;
  readonly input: Json | undefined;
  /** The JSON of the input. */
  readonly text: string | undefined;
  readonly limits: readonly string[];
}

export interface Placed {
  readonly run: StoredRun;
  readonly isNew: boolean;
}

/** What the schema of a function makes of an input. Rejects with the exception that `refusal` makes of its issues. */
export async function parsedBy(
  { input: schema }: FunctionPolicy,
  input: unknown,
  refusal: (issues: string) => Error,
): Promise<unknown> {
  if (schema === undefined) return input;
  const checked = schema['~standard'].validate(input);
  const result = checked instanceof Promise ? await checked : checked;
  if (result.issues === undefined) return result.value;
  throw refusal(issuesText(result.issues));
}

/** The issues of a schema in one line, with their paths. */
function issuesText(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return [...shown, ...(issues.length > shown.length ? [`${issues.length - shown.length} more`] : [])].join('; ');
}

export function parsedOf(policy: FunctionPolicy, input: unknown, what: string): Promise<unknown> {
  return parsedBy(policy, input, (issues) => new FunctionsError('invalid_input', `${what} is refused: ${issues}`));
}

/** The policy of a definition that belongs to this process. */
export function knownPolicy(
  policies: ReadonlyMap<string, FunctionPolicy>,
  caller: string,
  fn: unknown,
): FunctionPolicy {
  const policy = policyOf(fn);
  if (policy === undefined) throw new TypeError(`${caller}: the first argument is not made by defineFunction`);
  if (!policies.has(policy.name))
    throw new TypeError(`${caller}: ${policy.name} is not among the definitions of createFunctions`);
  return policy;
}

/** A function and its input. `where` precedes the messages; `mostBytes` of the input's JSON. */
interface OrderRequest {
  readonly fn: unknown;
  readonly input: unknown;
  readonly mostBytes: number;
  readonly caller?: string;
  readonly where?: string;
}

/** Checks a function and its input. */
export async function orderOf(
  policies: ReadonlyMap<string, FunctionPolicy>,
  { fn, input, mostBytes, caller = 'functions.enqueue', where = '' }: OrderRequest,
): Promise<Order> {
  const policy = knownPolicy(policies, caller, fn);
  const what = `${where}the input of ${policy.name}`;
  const stored = input === undefined ? undefined : storedOrThrow(`${where}input of ${policy.name}`, input, mostBytes);
  const parsed = await parsedOf(policy, stored?.value, what);
  try {
    return { policy, input: stored?.value, text: stored?.text, limits: limitNames(policy, parsed) };
  } catch (error) {
    throw new FunctionsError('invalid_input', `${what} gives no key: ${runErrorOf(error).message}`);
  }
}

/**
 * The statements of the host, and whether the last run of the write has reached them. A write that then rejects was refused because of them; a store
 * that fails in one of them resolves with its own error.
 */
export function hostRowsOf(rows: HostRows): { readonly rows: HostRows; isReached: boolean } {
  const own: ReturnType<typeof hostRowsOf> = {
    isReached: false,
    rows: (sql) => {
      own.isReached = true;
      // Also a promise, which the store refuses.
      return rows(sql);
    },
  };
  return own;
}

export function storageWith(storage: Storage & { alongside?: (rows: HostRows) => Storage }, rows: HostRows): Storage {
  if (storage.alongside !== undefined) return storage.alongside(rows);
  throw new TypeError(
    'functions.enqueue: alongside needs a store that has the tables of the host, such as sqliteStorage',
  );
}

/** A value of the host as it is kept. */
export function storedOrThrow(what: string, given: unknown, mostBytes: number): StoredJson {
  const stored = storedJson(what, given, mostBytes);
  if (stored.isErr()) throw new FunctionsError(stored.error.type, stored.error.message);
  return stored.value;
}

export function newRunOf(
  { policy, input, limits }: Order,
  options: EnqueueOptions,
  number: number,
  now: Instant,
): StoredRun {
  const { delay, runAt, debounce, priority = policy.priority, meta, ttl } = options;
  const dueAt = Math.round(runAt?.getTime() ?? now + milliseconds(delay ?? debounce?.wait ?? 0));
  return {
    ...newRun(policy, input, { number, now, dueAt }),
    priority,
    ...(runAt === undefined && dueAt > now ? { waitsFrom: now } : {}),
    ...(limits.length === 0 ? {} : { limits }),
    ...(meta === undefined ? {} : { meta }),
    ...(ttl === undefined ? {} : { expiresAt: Math.round(now + milliseconds(ttl)) }),
  };
}

/** Enqueues a run, or finds the one that a key leads to. With a slot, the run begins in the same write. */
export function place(
  tx: Transaction,
  order: Order,
  options: EnqueueOptions,
  slot: { claim(tx: Transaction, run: StoredRun): StoredRun } | undefined,
): Result<Placed, FunctionsError> {
  const keys = keysOf(options);
  const known = placedBefore(tx, order, options, keys);
  if (known !== undefined) return known;
  const full = countNew(tx, order.policy.name);
  if (full !== undefined) return err(full);
  const fresh = traced(tx, newRunOf(order, options, tx.index, tx.now));
  const named = keys.length === 0 ? fresh : { ...fresh, keys: keys.map(({ kind, key }) => ({ kind, key })) };
  const run = slot === undefined ? named : slot.claim(tx, named);
  putNewRun(tx, run, order.text?.length ?? 0);
  for (const { kind, key, until } of keys)
    tx.put(runKeys, { kind, key, function: order.policy.name, run: run.number, until: until(tx.now) });
  return ok({ run, isNew: true });
}

/** The run that a key leads to; undefined when there is none. */
function placedBefore(
  tx: Transaction,
  order: Order,
  options: EnqueueOptions,
  keys: readonly AskedKey[],
): Result<Placed, FunctionsError> | undefined {
  const moved = options.debounce === undefined ? undefined : moveDebounced(tx, order, options, options.debounce);
  if (moved !== undefined) return ok({ run: moved, isNew: false });
  for (const asked of keys) {
    const found = runOfKey(tx, asked, order.policy.name);
    if (found === undefined) continue;
    const isSame = JSON.stringify(viewOf(tx, found).input) === order.text;
    if (asked.kind === 'unique') return isSame ? withIdempotency(tx, found, options) : ok({ run: found, isNew: false });
    if (isSame) return ok({ run: found, isNew: false });
    return err(
      new FunctionsError(
        'idempotency_mismatch',
        `the idempotency key '${asked.key}' belongs to ${runId(found)}, which has another input: use another key`,
      ),
    );
  }
  return undefined;
}

/** The most idempotency keys that lead to a run of a unique key. */
const mostKeys = 100;

interface AskedKey extends Pick<StoredKey, 'kind' | 'key'> {
  readonly until: (now: Instant) => Instant | 'started' | 'ended';
}

/** A run that a unique key led to; the idempotency key of the call leads to it from now on. */
function withIdempotency(
  tx: Transaction,
  run: StoredRun,
  { idempotencyKey: key }: EnqueueOptions,
): Result<Placed, FunctionsError> {
  if (key === undefined) return ok({ run, isNew: false });
  const { keys = [] } = run;
  if (keys.length > mostKeys)
    return err(
      new FunctionsError('too_large', `${mostKeys} idempotency keys lead to ${runId(run)} already: use one of them`),
    );
  const until = tx.now + idempotencyTime;
  const named: StoredRun = { ...run, keys: [...keys, { kind: 'idempotency', key, until }] };
  tx.put(runs, named);
  tx.put(runKeys, { kind: 'idempotency', key, function: run.function, run: run.number, until });
  return ok({ run: named, isNew: false });
}

/**
 * Whether a run may be queued again: not while its unique key leads to another one, which does the same. Its key leads to it again.
 */
export function reclaimKeys(tx: Transaction, run: StoredRun): boolean {
  const keys = (run.keys ?? []).filter(({ kind }) => kind !== 'idempotency');
  const isTaken = keys.some((key) => (runOfKey(tx, key, run.function)?.number ?? run.number) !== run.number);
  if (isTaken) return false;
  for (const { kind, key } of keys) {
    const found = tx.get(runKeys, [kind, run.function, key])?.record;
    if (found !== undefined && found.run !== run.number) tx.put(runKeys, { ...found, run: run.number });
  }
  return true;
}

/** The waiting run of a debounce key as if it had been enqueued now, save for its number and the bound of its wait. */
function moveDebounced(
  tx: Transaction,
  order: Order,
  options: EnqueueOptions,
  { key, max }: NonNullable<EnqueueOptions['debounce']>,
): StoredRun | undefined {
  const found = runOfKey(tx, { kind: 'debounce', key }, order.policy.name);
  if (found === undefined) return undefined;
  const fresh = newRunOf(order, options, found.number, tx.now);
  // With a clock that was set back, the first call is not later than this one.
  const firstAt = Math.min(found.enqueuedAt, tx.now);
  const latest = max === undefined ? Number.POSITIVE_INFINITY : Math.round(firstAt + milliseconds(max));
  const dueAt = Math.min(fresh.dueAt, latest);
  const state = dueAt > tx.now ? 'scheduled' : 'queued';
  const run: StoredRun = {
    ...{ ...fresh, dueAt, state, enqueuedAt: firstAt },
    ...(found.keys === undefined ? {} : { keys: found.keys }),
  };
  if (found.apart?.includes('input') === true) tx.remove(values, [found.number, 'input']);
  putRun(tx, run, order.text?.length ?? 0);
  return run;
}

function keysOf({ unique, idempotencyKey, debounce }: EnqueueOptions): AskedKey[] {
  const keys: AskedKey[] = [];
  if (idempotencyKey !== undefined)
    keys.push({ kind: 'idempotency', key: idempotencyKey, until: (now) => now + idempotencyTime });
  if (unique !== undefined) {
    const { key, until = 'started' } = typeof unique === 'string' ? { key: unique } : unique;
    const isState = until === 'started' || until === 'ended';
    keys.push({ kind: 'unique', key, until: (now) => (isState ? until : now + milliseconds(until)) });
  }
  if (debounce !== undefined) keys.push({ kind: 'debounce', key: debounce.key, until: () => 'started' });
  return keys;
}

/** The run that a key still leads to. */
function runOfKey(
  view: Transaction,
  { kind, key }: Pick<StoredKey, 'kind' | 'key'>,
  name: string,
): StoredRun | undefined {
  const found = view.get(runKeys, [kind, name, key])?.record;
  const run = found === undefined ? undefined : view.get(runs, [found.run])?.record;
  if (found === undefined || run === undefined) return undefined;
  if (found.until === 'started') return run.starts === 0 && !hasEnded(run) ? run : undefined;
  if (found.until === 'ended') return hasEnded(run) ? undefined : run;
  return found.until > view.now ? run : undefined;
}
