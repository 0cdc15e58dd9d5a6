import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { principalFromToken, tokens } from '../../access/tokens.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../shared/context.js';
import { secretHash } from './secret-hash.js';

/** The principal of the token with this secret; undefined when there is none. */
export function authenticateToken(
  context: EngineContext,
  secret: string,
): ResultAsync<Principal | undefined, StorageError> {
  const hash = secretHash(secret);
  return context.storage.read((view) => principalIn(view, hash));
}

/** Secrets known to be valid that one authenticator remembers. */
const remembered = 1000;

/**
 * `authenticateToken` for many calls: remembers the principals it found until any token changes, in this process or in
 * another one on the same store. A removed token is therefore refused by the very next call.
 */
export function tokenAuthenticator(
  context: EngineContext,
): (secret: string) => ResultAsync<Principal | undefined, StorageError> {
  let known = new Map<string, Principal>();
  let knownAt = 0;
  return (secret) => {
    const hash = secretHash(secret);
    return context.storage.read((view) => {
      const changedAt = view.tableIndex(tokens);
      if (changedAt !== knownAt) {
        known = new Map();
        knownAt = changedAt;
      }
      const before = known.get(hash);
      if (before !== undefined) return before;
      const principal = principalIn(view, hash);
      if (principal !== undefined) {
        if (known.size >= remembered) known.clear();
        known.set(hash, principal);
      }
      return principal;
    });
  };
}

function principalIn(view: ReadView, hash: string): Principal | undefined {
  const row = view.list(tokens, { index: 'by_secret', prefix: [hash], limit: 1 })[0];
  return row === undefined ? undefined : principalFromToken(row.record);
}
