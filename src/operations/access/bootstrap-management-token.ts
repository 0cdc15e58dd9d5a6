import { ok, type ResultAsync } from 'neverthrow';
import { type StoredToken, tokens } from '../../access/tokens.js';
import type { StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../shared/context.js';
import { type IssuedToken, tokenInfo } from './put-token.js';
import { secretHash } from './secret-hash.js';

/**
 * Makes a management token when the store has none, and gives it back, once; undefined when there is one already. Two
 * processes that start together on one store make one token.
 */
export function bootstrapManagementToken(context: EngineContext): ResultAsync<IssuedToken | undefined, StorageError> {
  const secret = context.ids.next('token_secret');
  const token: StoredToken = {
    accessor: context.ids.next('token_accessor'),
    secretHash: secretHash(secret),
    name: 'Bootstrap Token',
    management: true,
    namespaces: {},
    workspaces: {},
    createdAt: context.clock.now(),
  };
  return context.storage
    .write((view) => {
      if (view.list(tokens).some((row) => row.record.management)) return ok(undefined);
      view.put(tokens, token);
      return ok({ token: tokenInfo(token), secret });
    })
    .map(({ value }) => value);
}
