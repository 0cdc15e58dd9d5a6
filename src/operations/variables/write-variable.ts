import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsVariable, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import type { StorageError } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { stated } from '../../shared/values.js';
import {
  type DecidedLock,
  decideRenewal,
  decideVariable,
  itemsFault,
  pathFault,
  type VariableWish,
} from '../../variables/decide-variable.js';
import type { InvalidVariable, ItemsMissing } from '../../variables/errors.js';
import { lockState, termsFault } from '../../variables/lock.js';
import { type StoredText, type StoredVariable, variables } from '../../variables/variable.js';
import {
  absentVariable,
  type VariableDocument,
  type VariableItems,
  variableDocument,
  variableStub,
} from '../../variables/variable-document.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { readNamespace } from '../records/declared-rows.js';
import { decryptItems, encryptItems } from '../records/stored-secrets.js';
import type { Transaction } from '../write-transaction.js';

/** A variable with its items, the check-and-set index, and an action on the lock. */
export interface PutVariableInput {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly path: string;
  /** Optional for an action on the lock alone. */
  readonly items?: VariableItems;
  /** Check-and-set: the write succeeds only if the variable still has this index; 0: only if it does not exist. */
  readonly cas?: number;
  /** The action on its lock. */
  readonly lock?: 'acquire' | 'release';
  /** The lock that the caller holds. */
  readonly lockId?: string;
  /** Nanoseconds; 15 seconds when absent. */
  readonly ttl?: number;
  /** Nanoseconds after the loss of the lock in which it cannot be acquired; 15 seconds when absent. */
  readonly lockDelay?: number;
}

/** What a caller wants with a variable and its lock. */
interface WriteVariableInput {
  readonly path: string;
  readonly namespace?: string;
  /** Takes precedence over `namespace`. */
  readonly itsNamespace?: string;
  readonly cas?: number;
  readonly items?: VariableItems;
  readonly acquire?: boolean;
  readonly renew?: boolean;
  readonly release?: boolean;
  /** The lock that the caller holds, or its terms. */
  readonly lock?: { readonly id?: string; readonly ttl?: Milliseconds; readonly delay?: Milliseconds };
}

/** Errors of `putVariable`. A conflict is not an error: the result contains it. */
type PutVariableError = PermissionDenied | InvalidVariable | ItemsMissing | StorageError;

/**
 * Creates a variable or replaces its items, and acquires or releases its lock. Another index or another holder's lock gives a
 * conflict with the current variable; its items are included only if the caller may read them.
 */
export function putVariable(
  context: EngineContext,
  caller: Principal,
  input: PutVariableInput,
): ResultAsync<VariableWritten, PutVariableError> {
  const { namespace = defaultNamespaceName, path } = input;
  if (!allowsVariable(caller, { namespace, path }, 'write')) return errAsync({ type: 'permission_denied' });
  const fault = faultOf({ ...input, namespace });
  if (input.items === undefined && input.lock === undefined) return errAsync(itemsMissing);
  if (fault !== undefined) return errAsync(invalid(fault));
  return commitValue(context, caller, (tx) => storeVariable(context, tx, { ...input, namespace }));
}

/** `putVariable` or `renewLock`, as the input asks. */
export function writeVariable(
  context: EngineContext,
  caller: Principal,
  input: WriteVariableInput,
): ResultAsync<VariableWritten, PutVariableError> {
  const { path, cas, items, lock = {}, acquire, renew, release } = input;
  const named = { path, ...stated({ namespace: input.itsNamespace ?? input.namespace }) };
  if ([acquire, renew, release].filter((given) => given === true).length > 1)
    return errAsync(invalid('a write can acquire, renew or release a lock, only one of them'));
  if (renew === true) return renewLock(context, caller, { ...named, lockId: lock.id ?? '' });
  const doing = acquire === true ? 'acquire' : release === true ? 'release' : undefined;
  return putVariable(context, caller, {
    ...named,
    ...stated({ cas, items, lock: doing, lockId: lock.id || undefined }),
    ttl: nanos(lock.ttl),
    lockDelay: nanos(lock.delay),
  });
}

function nanos(duration: Milliseconds = 0): number {
  return Math.round(duration * 1_000_000);
}

function faultOf(input: PutVariableInput & { readonly namespace: string }): string | undefined {
  const { namespace, path, items, lock, lockId = '', ttl = 0, lockDelay = 0 } = input;
  if (namespace === '*') return 'can not target wildcard ("*")namespace';
  if (lockId.length > 128) return 'the lock ID is longer than 128 characters';
  const wrong =
    items === undefined || (lock !== undefined && Object.keys(items).length === 0) ? undefined : itemsFault(items);
  return wrong ?? termsFault({ ttl, delay: lockDelay }) ?? pathFault(path);
}

function wishOf({ cas, lock, lockId, ttl = 0, lockDelay = 0 }: PutVariableInput): VariableWish {
  return { cas, lock: lock ?? 'none', lockId, terms: { ttl, delay: lockDelay } };
}

function storeVariable(
  context: EngineContext,
  tx: Transaction,
  input: PutVariableInput & { readonly namespace: string },
): Result<VariableWritten, InvalidVariable> {
  const { namespace, path } = input;
  if (readNamespace(tx, namespace) === undefined)
    return err(invalid(`nonexistent namespace "${namespace.slice(0, 140)}"`));
  const before = tx.get(variables, [namespace, path])?.record;
  const { now, monotonic, timeline, sightings } = tx;
  const moment = { now, monotonic, timeline, sightings, freshId: () => tx.ids.next('uuid') };
  const wish = wishOf(input);
  const decided = decideVariable(before, wish, moment);
  if (decided.isErr()) {
    const { error } = decided;
    return error.type === 'invalid_variable' ? err(error) : ok(conflictAnswer(context, tx, { namespace, path }));
  }
  // An action on the lock alone keeps the encrypted items.
  const items =
    input.items === undefined && before !== undefined ? before.items : encryptItems(context, input.items ?? {});
  const next = written(tx, { before, namespace, path, items }, decided.value);
  tx.put(variables, next);
  const stub = variableStub(next, moment, next.lock?.ID);
  const isShown = input.lock !== 'release' && allowsVariable(tx.caller, { namespace, path }, 'read');
  const shown = input.items ?? (isShown ? decryptItems(context, next).unwrapOr(null) : null);
  return ok({ index: tx.index, conflict: false, value: variableDocument(stub, shown) });
}

interface Change {
  readonly before: StoredVariable | undefined;
  readonly namespace: string;
  readonly path: string;
  readonly items: StoredText;
}

function written(tx: Transaction, { before, namespace, path, items }: Change, lock: DecidedLock): StoredVariable {
  const now = unixNanosFromInstant(tx.now);
  const kept = lock === undefined && before?.delayedUntil !== undefined ? { delayedUntil: before.delayedUntil } : {};
  return {
    Namespace: namespace,
    Path: path,
    items,
    lock: lock === undefined ? (before?.lock ?? null) : lock,
    ...kept,
    CreateIndex: before?.CreateIndex ?? tx.index,
    ModifyIndex: tx.index,
    CreateTime: before?.CreateTime ?? now,
    ModifyTime: now,
  };
}

const itemsMissing: ItemsMissing = { type: 'items_missing', message: 'variable missing required Items object' };

function invalid(message: string): InvalidVariable {
  return { type: 'invalid_variable', message };
}

/** The lock to renew. */
interface RenewLockInput {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly path: string;
  /** The lock ID from its acquisition. */
  readonly lockId: string;
}

/** Restarts the time to live of the caller's lock. The variable and its index are unchanged. */
export function renewLock(
  context: EngineContext,
  caller: Principal,
  input: RenewLockInput,
): ResultAsync<VariableWritten, PermissionDenied | InvalidVariable | StorageError> {
  const { namespace = defaultNamespaceName, path, lockId } = input;
  if (!allowsVariable(caller, { namespace, path }, 'write')) return errAsync({ type: 'permission_denied' });
  return commitValue(context, caller, (tx): Result<VariableWritten, InvalidVariable> => {
    const before = tx.get(variables, [namespace, path])?.record;
    if (before === undefined) return err({ type: 'invalid_variable', message: "variable doesn't exist" });
    const decided = decideRenewal(before, lockId, tx);
    if (decided.isErr()) {
      const { error } = decided;
      return error.type === 'invalid_variable' ? err(error) : ok(conflictAnswer(context, tx, { namespace, path }));
    }
    const next = { ...before, lock: decided.value };
    tx.put(variables, next);
    return ok({ index: tx.index, conflict: false, value: variableDocument(variableStub(next, tx, lockId), null) });
  });
}

/** The variable to remove, with its check-and-set index. */
interface RemoveVariableInput {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly path: string;
  /** Check-and-set: the removal succeeds only if the variable still has this index. */
  readonly cas?: number;
}

/** Removes a variable; idempotent. A locked one, or another index, gives a conflict. */
export function removeVariable(
  context: EngineContext,
  caller: Principal,
  input: RemoveVariableInput,
): ResultAsync<VariableWritten, PermissionDenied | StorageError> {
  const { namespace = defaultNamespaceName, path, cas } = input;
  if (!allowsVariable(caller, { namespace, path }, 'destroy')) return errAsync({ type: 'permission_denied' });
  return commitValue(context, caller, (tx): Result<VariableWritten, never> => {
    const before = tx.get(variables, [namespace, path])?.record;
    const wrongIndex = cas !== undefined && cas !== (before?.ModifyIndex ?? 0);
    if (wrongIndex || (before !== undefined && lockState(before, tx).type === 'held')) {
      return ok(conflictAnswer(context, tx, { namespace, path }));
    }
    if (before !== undefined) tx.remove(variables, [namespace, path]);
    return ok({ index: tx.index, conflict: false, value: absentVariable(namespace, path) });
  });
}

/** The result of a write of a variable. */
export interface VariableWritten {
  /** The index of the write; for a conflict that of the variable. */
  readonly index: number;
  /** Nothing was written: `value` is the conflicting variable. */
  readonly conflict: boolean;
  /** The variable after the write; for a conflict, the current one. */
  readonly value: VariableDocument;
}

/** The conflicting variable, with its items only for a caller that may read them. */
function conflictAnswer(
  context: EngineContext,
  tx: Transaction,
  variable: { readonly namespace: string; readonly path: string },
): VariableWritten {
  const { namespace, path } = variable;
  const found = tx.get(variables, [namespace, path])?.record;
  if (found === undefined) return { index: 0, conflict: true, value: absentVariable(namespace, path) };
  const stub = variableStub(found, tx);
  const items = allowsVariable(tx.caller, variable, 'read') ? decryptItems(context, found).unwrapOr(null) : null;
  return { index: found.ModifyIndex, conflict: true, value: variableDocument(stub, items) };
}
