import { err, ok, type Result } from 'neverthrow';
import type { FunctionPolicy, Json } from '../../functions/define-function.js';
import {
  hasEnded,
  idempotencyTime,
  runId,
  runKeys,
  runs,
  type StoredKey,
  type StoredRun,
} from '../../functions/run.js';
import { milliseconds } from '../../options/durations.js';
import type { Storage } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { Transaction } from '../commit.js';
import { issuesText, valueFault } from './attempt.js';
import { type EnqueueOptions, FunctionsError, type HostRows } from './functions-api.js';
import type { RunLoop } from './run-loop.js';
import { newRun, putNewRun, traced, viewOf } from './stored-runs.js';

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

export async function parsedOf(policy: FunctionPolicy, input: unknown, what: string): Promise<unknown> {
  if (policy.input === undefined) return input;
  const checked = policy.input['~standard'].validate(input);
  const result = checked instanceof Promise ? await checked : checked;
  if (result.issues === undefined) return result.value;
  throw new FunctionsError('invalid_input', `${what} is refused: ${issuesText(result.issues)}`);
}

/** The statements of the host, with what they threw in the last run of the write: that is the host's own error. */
export function hostRowsOf(rows: HostRows): { readonly rows: HostRows; thrown?: { readonly error: unknown } } {
  const own: { rows: HostRows; thrown?: { readonly error: unknown } } = {
    rows: (sql) => {
      delete own.thrown;
      try {
        return rows(sql);
      } catch (error) {
        own.thrown = { error };
        throw error;
      }
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

export function jsonOf(what: string, value: unknown): string {
  const fault = valueFault(what, value);
  if (fault !== undefined) throw new FunctionsError(fault.type, fault.message);
  return JSON.stringify(value);
}

export function newRunOf(
  { policy, input, limits }: Order,
  options: EnqueueOptions,
  number: number,
  now: Instant,
): StoredRun {
  const { delay, runAt, priority = policy.priority, meta, ttl } = options;
  const dueAt = Math.round(runAt?.getTime() ?? now + milliseconds(delay ?? 0));
  return {
    ...newRun(policy, input, { number, now, dueAt }),
    priority,
    ...(limits.length === 0 ? {} : { limits }),
    ...(meta === undefined ? {} : { meta }),
    ...(ttl === undefined ? {} : { expiresAt: Math.round(now + milliseconds(ttl)) }),
  };
}

/** Enqueues a run, or finds the one that a key leads to. With a loop that has room, the run begins in the same write. */
export function place(
  tx: Transaction,
  order: Order,
  options: EnqueueOptions,
  loop: RunLoop | undefined,
): Result<Placed, FunctionsError> {
  const keys = keysOf(options);
  for (const { kind, key } of keys) {
    const found = runOfKey(tx, { kind, key }, order.policy.name);
    if (found === undefined) continue;
    const isSame = kind !== 'idempotency' || JSON.stringify(viewOf(tx, found).input) === order.text;
    return isSame
      ? ok({ run: found, isNew: false })
      : err(
          new FunctionsError(
            'idempotency_mismatch',
            `the idempotency key '${key}' belongs to ${runId(found)}, which has another input: use another key`,
          ),
        );
  }
  const fresh = traced(tx, newRunOf(order, options, tx.index, tx.now));
  const named = keys.length === 0 ? fresh : { ...fresh, keys: keys.map(({ kind, key }) => ({ kind, key })) };
  const run = loop === undefined ? named : loop.claim(tx, named);
  putNewRun(tx, run, order.text?.length ?? 0);
  for (const { kind, key, until } of keys)
    tx.put(runKeys, { kind, key, function: order.policy.name, run: run.number, until: until(tx.now) });
  return ok({ run, isNew: true });
}

interface AskedKey extends StoredKey {
  readonly until: (now: Instant) => Instant | 'started' | 'ended';
}

function keysOf({ unique, idempotencyKey }: EnqueueOptions): AskedKey[] {
  const keys: AskedKey[] = [];
  if (idempotencyKey !== undefined)
    keys.push({ kind: 'idempotency', key: idempotencyKey, until: (now) => now + idempotencyTime });
  if (unique !== undefined) {
    const { key, until = 'started' } = typeof unique === 'string' ? { key: unique } : unique;
    const isState = until === 'started' || until === 'ended';
    keys.push({ kind: 'unique', key, until: (now) => (isState ? until : now + milliseconds(until)) });
  }
  return keys;
}

/** The run that a key still leads to. */
function runOfKey(view: Transaction, { kind, key }: StoredKey, name: string): StoredRun | undefined {
  const found = view.get(runKeys, [kind, name, key])?.record;
  const run = found === undefined ? undefined : view.get(runs, [found.run])?.record;
  if (found === undefined || run === undefined) return undefined;
  if (found.until === 'started') return run.starts === 0 && !hasEnded(run) ? run : undefined;
  if (found.until === 'ended') return hasEnded(run) ? undefined : run;
  return found.until > view.now ? run : undefined;
}
