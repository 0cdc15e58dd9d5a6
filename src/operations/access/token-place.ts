import { roles } from '../../access/role-record.js';
import type { TokenPlace } from '../../access/token-document.js';
import type { ReadView } from '../../ports/storage.js';

/** What of the store belongs to the picture of a token: where it stands, and its roles. */
export function tokenPlace(view: ReadView, row: Pick<TokenPlace, 'createIndex' | 'modifyIndex'>): TokenPlace {
  const { createIndex, modifyIndex } = row;
  return { createIndex, modifyIndex, roleById: (id) => view.get(roles, [id])?.record };
}
