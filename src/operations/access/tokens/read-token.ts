import { errAsync, okAsync, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../../access/allows.js';
import type { MalformedAccessor } from '../../../access/errors.js';
import { roles } from '../../../access/policy-record.js';
import { anonymousPrincipal, type Principal } from '../../../access/principal.js';
import {
  anonymousDocument,
  type StoredToken,
  type TokenDocument,
  type TokenLookup,
  tokenDocument,
  tokens,
} from '../../../access/tokens.js';
import type { ReadView, Row, StorageError } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/page.js';
import type { EngineContext } from '../../context/engine-context.js';
import { presentedBy } from '../../records/presented-secret.js';
import { answerQuery, type MayWait, type Waiting } from '../../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../../waiting/parked-queries.js';

/** One token; undefined when there is none. Management callers read every token, others their own. */
export function readToken(
  context: EngineContext,
  caller: Principal,
  input: MayWait & { readonly accessor: string },
): ResultAsync<Answer<TokenDocument | undefined>, PermissionDenied | MalformedAccessor | StorageError> {
  const { accessor, waiting } = input;
  if (!caller.management && caller.accessor !== accessor) return errAsync({ type: 'permission_denied' });
  if (caller.management && !isUuid(accessor)) return errAsync(malformedAccessor('an accessor'));
  return answerToken(context, caller, accessor, waiting);
}

export function malformedAccessor(what: string): MalformedAccessor {
  return { type: 'malformed_accessor', message: `token lookup failed: ${what} must be that of a UUID` };
}

function answerToken(
  context: EngineContext,
  caller: Principal,
  accessor: string,
  waiting: Waiting | undefined,
): ResultAsync<Answer<TokenDocument | undefined>, StorageError> {
  const { secret, session } = presentedBy(caller) ?? {};
  const isOwn = secret !== undefined && caller.accessor === accessor;
  const query = {
    key: JSON.stringify(['acl_token', accessor, isOwn, session !== undefined]),
    tables: [rowsUnder(tokens, [accessor]), roles],
    run: (view: ReadView) => {
      const row = view.get(tokens, [accessor]);
      const value = row === undefined ? undefined : documentOf(context, view, row, caller);
      return { index: value?.ModifyIndex ?? view.tableIndex(tokens), value };
    },
  };
  return answerQuery(context, query, waiting);
}

/**
 * The caller's token: the anonymous token for a caller without one, undefined for a caller that was authenticated in another way, such
 * as the host.
 */
export function readOwnToken(
  context: EngineContext,
  caller: Principal,
  { waiting }: MayWait = {},
): ResultAsync<Answer<TokenDocument | undefined>, PermissionDenied | StorageError> {
  const { accessor } = caller;
  if (accessor === anonymousPrincipal.accessor) return okAsync({ index: 0, value: anonymousDocument });
  return answerToken(context, caller, accessor, waiting);
}

function documentOf(context: EngineContext, view: ReadView, row: Row<StoredToken>, caller: Principal): TokenDocument {
  return tokenDocument(row.record, shownSecret(context, row.record, caller), tokenLookup(view, row));
}

/**
 * The secret of a token, for its holder or a management caller: the presented one, or the stored one,
 * decrypted. Empty when the store has none or its key is missing, and for sessions: a script in a page must not get what outlives it.
 */
export function shownSecret(context: EngineContext, token: StoredToken, caller: Principal): string {
  const { secret, session } = presentedBy(caller) ?? {};
  if (session !== undefined) return '';
  if (secret !== undefined && caller.accessor === token.accessor) return secret;
  const { sealedSecret } = token;
  if (sealedSecret === undefined || context.cipher === undefined) return '';
  return context.cipher.open(sealedSecret).unwrapOr('');
}

/** Data of the store in addition to a token's record: the indexes of its row, and roles by ID. */
export function tokenLookup(view: ReadView, row: Pick<TokenLookup, 'createIndex' | 'modifyIndex'>): TokenLookup {
  const { createIndex, modifyIndex } = row;
  return { createIndex, modifyIndex, roleById: (id) => view.get(roles, [id])?.record };
}
