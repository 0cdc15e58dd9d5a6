import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { tokens } from '../../access/tokens.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';

export interface TokenNotFound {
  readonly type: 'token_not_found';
  readonly accessor: string;
}

/** Removes a token by its accessor; from then on its secret is unknown. Only management callers may do this. */
export function removeToken(
  context: EngineContext,
  caller: Principal,
  accessor: string,
): ResultAsync<void, PermissionDenied | TokenNotFound | StorageError> {
  return authoriseManagement(caller)
    .asyncAndThen(() =>
      context.storage.write((view) =>
        view.remove(tokens, [accessor])
          ? ok(undefined)
          : err<void, TokenNotFound>({ type: 'token_not_found', accessor }),
      ),
    )
    .map(() => undefined);
}
