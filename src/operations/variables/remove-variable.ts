import { errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsVariable } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import type { StorageError } from '../../ports/storage.js';
import { lockState } from '../../variables/lock.js';
import { variables } from '../../variables/variable.js';
import { absentVariable } from '../../variables/variable-document.js';
import type { PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { conflictAnswer, type VariableWritten } from './conflict-answer.js';

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
  return commit(context, caller, (tx): Result<VariableWritten, never> => {
    const before = tx.get(variables, [namespace, path])?.record;
    const wrongIndex = cas !== undefined && cas !== (before?.ModifyIndex ?? 0);
    if (wrongIndex || (before !== undefined && lockState(before, tx).type === 'held')) {
      return ok(conflictAnswer(context, tx, { namespace, path }));
    }
    if (before !== undefined) tx.remove(variables, [namespace, path]);
    return ok({ index: tx.index, conflict: false, value: absentVariable(namespace, path) });
  }).map(({ value }) => value);
}
