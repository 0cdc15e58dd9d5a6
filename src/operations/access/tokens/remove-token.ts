import { err, ok, type ResultAsync } from 'neverthrow';
import type { TokenNotFound } from '../../../access/errors.js';
import type { Principal } from '../../../access/principal.js';
import { tokens } from '../../../access/tokens.js';
import type { StorageError } from '../../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../../authorise.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';

/**
 * Revokes a token by its accessor. Only management callers may do this. Returns the index of the
 * write.
 */
export function removeToken(
  context: EngineContext,
  caller: Principal,
  { accessor }: { readonly accessor: string },
): ResultAsync<{ readonly index: number }, PermissionDenied | TokenNotFound | StorageError> {
  return authoriseManagement(caller)
    .asyncAndThen(() =>
      commit(context, caller, (tx) =>
        tx.remove(tokens, [accessor]) ? ok(undefined) : err<void, TokenNotFound>({ type: 'token_not_found', accessor }),
      ),
    )
    .map(({ index }) => ({ index }));
}
