import { roles } from '../../../access/role-record.js';
import type { TokenLookup } from '../../../access/token-document.js';
import type { ReadView } from '../../../ports/storage.js';

/** Data of the store in addition to a token's record: the indexes of its row, and roles by ID. */
export function tokenLookup(view: ReadView, row: Pick<TokenLookup, 'createIndex' | 'modifyIndex'>): TokenLookup {
  const { createIndex, modifyIndex } = row;
  return { createIndex, modifyIndex, roleById: (id) => view.get(roles, [id])?.record };
}
