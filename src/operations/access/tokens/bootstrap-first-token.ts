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
 * `bootstrapManagementToken` as the interface answers it: the token with its secret, or an error when there is one already. A secret
 * of one's own is a UUID.
 */
export function bootstrapFirstToken(
  context: EngineContext,
  input: { readonly secret?: string } = {},
): ResultAsync<TokenDocument, BootstrapDone | InvalidAccess | StorageError> {
  const { secret } = input;
  if (secret !== undefined && !isUuid(secret)) return refusedSecret(context);
  return bootstrapManagementToken(context, input).andThen((issued) =>
    context.storage
      .read((view): Result<TokenDocument, BootstrapDone> => {
        const row = issued === undefined ? undefined : view.get(tokens, [issued.token.accessor]);
        if (issued === undefined || row === undefined) return err(done(view.tableIndex(tokens)));
        return ok(tokenDocument(row.record, issued.secret, tokenLookup(view, row)));
      })
      .andThen((result): Result<TokenDocument, BootstrapDone> => result),
  );
}

/** An existing token is the first error that is reported. */
function refusedSecret(context: EngineContext): ResultAsync<never, BootstrapDone | InvalidAccess | StorageError> {
  return context.storage
    .read((view): Result<never, BootstrapDone | InvalidAccess> => {
      const exists = view.list(tokens).some(({ record }) => record.management);
      return err(exists ? done(view.tableIndex(tokens)) : unfitAccess('the bootstrap secret must be a UUID'));
    })
    .andThen((result): Result<never, BootstrapDone | InvalidAccess> => result);
}

function done(index: number): BootstrapDone {
  return { type: 'bootstrap_done', message: `ACL bootstrap already done (reset index: ${index})` };
}
