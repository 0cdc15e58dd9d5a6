import type { StoredToken } from '../../../access/tokens.js';
import type { EngineContext } from '../../context/engine-context.js';

/**
 * The secret of a token, for its holder or a management caller: the presented one, or the stored one,
 * decrypted. Empty when the store has none or its key is missing.
 */
export function shownSecret(context: EngineContext, token: StoredToken, presented: string | undefined): string {
  if (presented !== undefined) return presented;
  const { sealedSecret } = token;
  if (sealedSecret === undefined || context.cipher === undefined) return '';
  return context.cipher.open(sealedSecret).unwrapOr('');
}
