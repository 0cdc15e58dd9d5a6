import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type BootstrapDone, type InvalidAccess, unfitAccess } from '../../../access/errors.js';
import { hostPrincipal, type Principal } from '../../../access/principal.js';
import { type StoredToken, type TokenDocument, tokenDocument, tokens } from '../../../access/tokens.js';
import type { StorageError } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/page.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { contentHash } from '../../records/content-hash.js';
import { secretHash } from '../../records/presented-secret.js';
import { type IssuedToken, tokenInfo } from './put-token.js';
import { tokenLookup } from './read-token.js';

/**
 * Creates a management token if the store has none, and returns it, once; undefined if there is one already. Two
 * processes that start together on one store create one token. The secret is random unless given; a given one should be as long.
 */
export function bootstrapManagementToken(
  context: EngineContext,
  input: { readonly secret?: string } = {},
): ResultAsync<IssuedToken | undefined, StorageError> {
  return commitValue(context, hostPrincipal, (tx) => {
    if (tx.list(tokens, { index: 'by_management', limit: 1 }).length > 0) return ok(undefined);
    const secret = input.secret ?? tx.ids.next('token_secret');
    const sealed = context.cipher?.seal(secret);
    const token: StoredToken = {
      accessor: tx.ids.next('token_accessor'),
      secretHash: secretHash(secret),
      ...(sealed === undefined ? {} : { sealedSecret: sealed }),
      name: 'Bootstrap Token',
      management: true,
      namespaces: {},
      workspaces: {},
      global: true,
      createdAt: tx.now,
      hash: contentHash('Bootstrap Token', 'management'),
      madeAt: tx.index,
    };
    tx.put(tokens, token);
    return ok({ token: tokenInfo(token), secret });
  });
}

/**
 * `bootstrapManagementToken` for the HTTP interface: returns the token with its secret. Works only on a store that has never held a token,
 * since the caller is not authenticated: if all management tokens were removed or have expired, the operator must act. The cost does not
 * depend on the number of tokens. A given secret must be a UUID.
 */
export function bootstrapFirstToken(
  context: EngineContext,
  _caller: Principal,
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
