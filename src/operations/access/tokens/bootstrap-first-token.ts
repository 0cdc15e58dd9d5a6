import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type BootstrapDone, type InvalidAccess, unfitAccess } from '../../../access/errors.js';
import { type TokenDocument, tokenDocument } from '../../../access/token-document.js';
import { tokens } from '../../../access/tokens.js';
import type { StorageError } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/list-tokens.js';
import type { EngineContext } from '../../context/engine-context.js';
import { bootstrapManagementToken } from './bootstrap-management-token.js';
import { tokenLookup } from './token-lookup.js';

/**
 * `bootstrapManagementToken` for the HTTP interface: returns the token with its secret. Works only on a store that has never held a token,
 * since the caller is not authenticated: if all management tokens were removed or have expired, the operator must act. The cost does not
 * depend on the number of tokens. A given secret must be a UUID.
 */
export function bootstrapFirstToken(
  context: EngineContext,
  input: { readonly secret?: string } = {},
): ResultAsync<TokenDocument, BootstrapDone | InvalidAccess | StorageError> {
  const { secret } = input;
  return context.storage
    .read((view): Result<void, BootstrapDone | InvalidAccess> => {
      const changed = view.tableIndex(tokens);
      if (changed > indexOfEmptyStore) return err(done(changed));
      return secret === undefined || isUuid(secret)
        ? ok(undefined)
        : err(unfitAccess('the bootstrap secret must be a UUID'));
    })
    .andThen((result): Result<void, BootstrapDone | InvalidAccess> => result)
    .andThen(() => bootstrapManagementToken(context, input))
    .andThen((issued) =>
      context.storage
        .read((view): Result<TokenDocument, BootstrapDone> => {
          const row = issued === undefined ? undefined : view.get(tokens, [issued.token.accessor]);
          if (issued === undefined || row === undefined) return err(done(view.tableIndex(tokens)));
          return ok(tokenDocument(row.record, issued.secret, tokenLookup(view, row)));
        })
        .andThen((result): Result<TokenDocument, BootstrapDone> => result),
    );
}

/** The index of an unwritten table. */
const indexOfEmptyStore = 1;

function done(index: number): BootstrapDone {
  return { type: 'bootstrap_done', message: `ACL bootstrap already done (reset index: ${index})` };
}
