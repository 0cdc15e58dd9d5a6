import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { RoleNotFound } from '../../access/errors.js';
import type { Principal } from '../../access/principal.js';
import { roles } from '../../access/role-record.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/** Removes a role; the tokens that have it lose its policies. Only management callers may do this. Returns the index of the write. */
export function removeRole(
  context: EngineContext,
  caller: Principal,
  input: { readonly id: string },
): ResultAsync<{ readonly index: number }, PermissionDenied | RoleNotFound | StorageError> {
  const { id } = input;
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(
    context,
    caller,
    (tx): Result<void, RoleNotFound> => (tx.remove(roles, [id]) ? ok(undefined) : err({ type: 'role_not_found', id })),
  ).map(({ index }) => ({ index }));
}
