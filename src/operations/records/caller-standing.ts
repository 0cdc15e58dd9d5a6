import type { ResultAsync } from 'neverthrow';
import { policies, roles } from '../../access/policy-record.js';
import type { Principal, Workload } from '../../access/principal.js';
import {
  nobodysPrincipal,
  type Rulebook,
  type StoredToken,
  sessions,
  tokenPrincipal,
  tokens,
  workloadPrincipal,
} from '../../access/tokens.js';
import type { ReadView, Row, StorageError, TableName } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import {
  callerWithin,
  isOfTokenStore,
  type Presented,
  presentedBy,
  rememberPresented,
  secretHash,
} from './presented-secret.js';

/** The tables that rights come from. */
export const rightsTables: readonly TableName[] = [tokens, sessions, policies, roles];

/** Index of the newest write to them. */
export function rightsIndex(view: ReadView): number {
  return Math.max(...rightsTables.map((table) => view.tableIndex(table)));
}

interface CallerNow {
  readonly principal: Principal;
  /** When the token or the session expires; absent for callers without one. */
  readonly expiresAt?: Instant | undefined;
}

/** A caller with its rights in this view; undefined when its token or session was removed. Callers from outside the token store are unchanged. */
function callerIn(view: ReadView, caller: Principal): CallerNow | undefined {
  const presented = presentedBy(caller);
  if (presented === undefined) return { principal: caller };
  const isKnown = presented.secret !== undefined || presented.session !== undefined;
  const credential = isKnown ? credentialOf(view, presented) : undefined;
  if (isKnown && credential === undefined) return undefined;
  const rulebook = rulebookOf(view);
  const found = credential === undefined ? nobodysPrincipal(rulebook) : tokenPrincipal(credential.row.record, rulebook);
  rememberPresented(found, presented);
  const { traceparent } = caller;
  const principal = traceparent === undefined ? found : callerWithin(found, traceparent);
  return { principal, expiresAt: credential?.expiresAt };
}

/** A token, and when it or the session for it expires. */
interface Credential {
  readonly row: Row<StoredToken>;
  readonly expiresAt: Instant | undefined;
}

/** The token that was presented, or that of the session; expired ones included. */
export function credentialOf(view: ReadView, { secret, session }: Presented): Credential | undefined {
  const found = session === undefined ? undefined : view.get(sessions, [session])?.record;
  const hash = secret === undefined ? found?.tokenHash : secretHash(secret);
  const row = hash === undefined ? undefined : tokenRowByHash(view, hash);
  return row === undefined ? undefined : { row, expiresAt: (found ?? row.record).expiresAt };
}

export function isOver(expiresAt: Instant | undefined, { clock }: EngineContext): boolean {
  return expiresAt !== undefined && expiresAt <= clock.now();
}

/** The caller with its rights in this view; undefined when its token or session was removed or has expired. */
export function callerNow(context: EngineContext, view: ReadView, caller: Principal): CallerNow | undefined {
  const found = callerIn(view, caller);
  return isOver(found?.expiresAt, context) ? undefined : found;
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
  let expiresAt: Instant | undefined;
  return (view) => {
    const at = rightsIndex(view);
    if (at !== checkedAt) {
      const found = callerIn(view, caller);
      stands = found !== undefined && JSON.stringify(found.principal) === JSON.stringify(caller);
      expiresAt = found?.expiresAt;
      checkedAt = at;
    }
    return stands && !isOver(expiresAt, context);
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
