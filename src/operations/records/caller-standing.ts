import type { ResultAsync } from 'neverthrow';
import { policies } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import { roles } from '../../access/role-record.js';
import { nobodysPrincipal, tokenPrincipal } from '../../access/token-principal.js';
import { isExpired, type StoredToken, tokens } from '../../access/tokens.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../context/engine-context.js';
import { callerWithin, isOfTokenStore, presentedSecret, rememberPresented } from './presented-secret.js';
import { rulebookOf, tokenRowOf } from './token-rows.js';

/** Index of the newest write to the tables that rights come from. */
export function rightsIndex(view: ReadView): number {
  return Math.max(view.tableIndex(tokens), view.tableIndex(policies), view.tableIndex(roles));
}

interface CallerNow {
  readonly principal: Principal;
  /** Absent for callers without one. */
  readonly token?: StoredToken | undefined;
}

/** A caller with its rights in this view; undefined when its token was removed. Callers from outside the token store are unchanged. */
function callerIn(view: ReadView, caller: Principal): CallerNow | undefined {
  if (!isOfTokenStore(caller)) return { principal: caller };
  const secret = presentedSecret(caller);
  const token = secret === undefined ? undefined : tokenRowOf(view, secret)?.record;
  if (secret !== undefined && token === undefined) return undefined;
  const rulebook = rulebookOf(view);
  const found = token === undefined ? nobodysPrincipal(rulebook) : tokenPrincipal(token, rulebook);
  rememberPresented(found, secret);
  const { traceparent } = caller;
  const principal = traceparent === undefined ? found : callerWithin(found, traceparent);
  return { principal, token };
}

function isOver(token: StoredToken | undefined, context: EngineContext): boolean {
  return token !== undefined && isExpired(token, context.clock.now());
}

/** The caller with its rights in this view; undefined when its token was removed or has expired. */
export function callerNow(context: EngineContext, view: ReadView, caller: Principal): CallerNow | undefined {
  const found = callerIn(view, caller);
  return isOver(found?.token, context) ? undefined : found;
}

/** The caller of a call that has waited, with its current rights; undefined when its token is no longer valid. */
export function callerAfterWaiting(
  context: EngineContext,
  caller: Principal,
): ResultAsync<Principal | undefined, StorageError> {
  return context.storage.read((view) => callerNow(context, view, caller)?.principal);
}

/**
 * Returns a function that checks in a view whether the caller still has its initial token and rights. It compares
 * two numbers as long as no token, policy or role changes.
 */
export function standingOf(context: EngineContext, caller: Principal): (view: ReadView) => boolean {
  if (!isOfTokenStore(caller)) return () => true;
  let checkedAt = -1;
  let stands = true;
  let token: StoredToken | undefined;
  return (view) => {
    const at = rightsIndex(view);
    if (at !== checkedAt) {
      const found = callerIn(view, caller);
      stands = found !== undefined && JSON.stringify(found.principal) === JSON.stringify(caller);
      token = found?.token;
      checkedAt = at;
    }
    return stands && !isOver(token, context);
  };
}
