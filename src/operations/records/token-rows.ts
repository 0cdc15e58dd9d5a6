import { policies } from '../../access/policy-record.js';
import { roles } from '../../access/role-record.js';
import type { Rulebook } from '../../access/token-principal.js';
import { type StoredToken, tokens } from '../../access/tokens.js';
import type { ReadView, Row } from '../../ports/storage.js';
import { secretHash } from './secret-hash.js';

/** The token with this secret, expired ones included. */
export function tokenRowOf(view: ReadView, secret: string): Row<StoredToken> | undefined {
  return tokenRowByHash(view, secretHash(secret));
}

function tokenRowByHash(view: ReadView, hash: string): Row<StoredToken> | undefined {
  return view.list(tokens, { index: 'by_secret', prefix: [hash], limit: 1 })[0];
}

/** The policies and roles of the store. */
export function rulebookOf(view: ReadView): Rulebook {
  return {
    policy: (name) => view.get(policies, [name])?.record,
    role: (id) => view.get(roles, [id])?.record,
  };
}
