import { errAsync, ok, type ResultAsync } from 'neverthrow';
import { policies } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/**
 * Removes a policy; removing a missing one succeeds. Tokens and roles keep its name, which has no effect until a policy with this name
 * exists again. Only management callers may do this. Returns the index of the write.
 */
export function removePolicy(
  context: EngineContext,
  caller: Principal,
  input: { readonly name: string },
): ResultAsync<{ readonly index: number }, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx) => {
    tx.remove(policies, [input.name]);
    return ok<void, never>(undefined);
  }).map(({ index }) => ({ index }));
}
