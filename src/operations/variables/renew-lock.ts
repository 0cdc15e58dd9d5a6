import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsVariable } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import type { StorageError } from '../../ports/storage.js';
import { decideRenewal } from '../../variables/decide-variable.js';
import type { InvalidVariable } from '../../variables/errors.js';
import { variables } from '../../variables/variable.js';
import { variableDocument, variableStub } from '../../variables/variable-document.js';
import type { PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { conflictAnswer, type VariableWritten } from './conflict-answer.js';

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
  return commit(context, caller, (tx): Result<VariableWritten, InvalidVariable> => {
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
  }).map(({ value }) => value);
}
