import type { StoredToken } from '../../../access/tokens.js';
import type { EngineContext } from '../../context/engine-context.js';

/**
 * The secret of a token as its own holder or a management caller may see it: the one that was just presented, or the one that the store
 * keeps sealed. Empty when the store keeps none or its key is gone.
 */
export function shownSecret(context: EngineContext, token: StoredToken, presented: string | undefined): string {
  if (presented !== undefined) return presented;
  const { sealedSecret } = token;
  if (sealedSecret === undefined || context.cipher === undefined) return '';
  return context.cipher.open(sealedSecret).unwrapOr('');
}
