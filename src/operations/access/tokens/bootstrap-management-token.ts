import { ok, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../../access/principal.js';
import { type StoredToken, tokens } from '../../../access/tokens.js';
import type { StorageError } from '../../../ports/storage.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { secretHash } from '../../records/secret-hash.js';
import { contentHash } from '../content-hash.js';
import { type IssuedToken, tokenInfo } from './put-token.js';

/**
 * Creates a management token if the store has none, and returns it, once; undefined if there is one already. Two
 * processes that start together on one store create one token. The secret is random unless given; a given one should be as long.
 */
export function bootstrapManagementToken(
  context: EngineContext,
  input: { readonly secret?: string } = {},
): ResultAsync<IssuedToken | undefined, StorageError> {
  return commit(context, hostPrincipal, (tx) => {
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
  }).map(({ value }) => value);
}
