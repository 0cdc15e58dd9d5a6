import type { ResultAsync } from 'neverthrow';
import { policies, roles } from '../../access/policy-record.js';
import type { Principal, Workload } from '../../access/principal.js';
import {
  isExpired,
  nobodysPrincipal,
  type Rulebook,
  type StoredToken,
  tokenPrincipal,
  tokens,
  workloadPrincipal,
} from '../../access/tokens.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../context/engine-context.js';
import { callerWithin, isOfTokenStore, presentedSecret, rememberPresented, secretHash } from './presented-secret.js';

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

/** The principal of a task, by the policies of one view. */
export function readWorkload(view: ReadView, workload: Workload): Principal {
  const { namespace, jobId } = workload;
  const candidates = ['', jobId].flatMap((job) =>
    view.list(policies, { index: 'by_job', prefix: [namespace, job] }).map(({ record }) => record),
  );
  return workloadPrincipal(workload, candidates);
}
