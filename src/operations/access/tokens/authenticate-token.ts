import type { ResultAsync } from 'neverthrow';
import { policies, roles } from '../../../access/policy-record.js';
import type { Principal, Workload } from '../../../access/principal.js';
import { isExpired, nobodysPrincipal, sessions, tokenPrincipal, tokens } from '../../../access/tokens.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { credentialOf, isOver, readWorkload, rulebookOf, tokenRowOf } from '../../records/caller-standing.js';
import { rememberPresented, secretHash } from '../../records/presented-secret.js';

/** The principal of the token with this secret; undefined when it is unknown or expired. */
export function authenticateToken(
  context: EngineContext,
  secret: string,
): ResultAsync<Principal | undefined, StorageError> {
  return context.storage.read((view) => {
    const row = tokenRowOf(view, secret);
    if (row === undefined || isExpired(row.record, context.clock.now())) return undefined;
    const principal = tokenPrincipal(row.record, rulebookOf(view));
    rememberPresented(principal, { secret });
    return principal;
  });
}

/** The most callers that one authenticator caches. */
const remembered = 1000;

interface Remembered {
  readonly expiresAt: Instant | undefined;
  readonly modifyIndex: number;
  /** Index of the tokens and sessions when the row was last looked up. */
  readonly checkedAt: number;
  readonly principal: Principal;
}

/**
 * `authenticateToken` with a cache of principals and their compiled rights. An entry is valid until the token, a policy or a
 * role changes, in this process or in another one on the same store; the next call then reads the store. Without a secret it
 * returns the principal for callers without a token, with the rights of the policy `anonymous`. `of`: what the secrets belong to; a session
 * has the principal of its token.
 */
export function tokenAuthenticator(
  context: EngineContext,
  of: 'tokens' | 'sessions' = 'tokens',
): (secret: string | undefined) => ResultAsync<Principal | undefined, StorageError> {
  /** By secret, to avoid hashing it again; the secret is in memory with its principal anyway. */
  let known = new Map<string, Remembered>();
  let nobody: Principal | undefined;
  let rulesAt = '';
  const forgetOldRules = (view: ReadView): void => {
    const rules = `${view.tableIndex(policies)} ${view.tableIndex(roles)}`;
    if (rules === rulesAt) return;
    known = new Map();
    nobody = undefined;
    rulesAt = rules;
  };
  const rememberedFor = (view: ReadView, secret: string): Remembered | undefined => {
    const before = known.get(secret);
    const tokensAt = view.tableIndex(tokens);
    const checkedAt = of === 'tokens' ? tokensAt : Math.max(tokensAt, view.tableIndex(sessions));
    if (before?.checkedAt === checkedAt) return before;
    const presented = of === 'tokens' ? { secret } : { session: secretHash(secret) };
    const credential = credentialOf(view, presented);
    known.delete(secret);
    if (credential === undefined) return undefined;
    const { row, expiresAt } = credential;
    const principal =
      before?.modifyIndex === row.modifyIndex ? before.principal : tokenPrincipal(row.record, rulebookOf(view));
    rememberPresented(principal, presented);
    const found = { expiresAt, modifyIndex: row.modifyIndex, checkedAt, principal };
    if (known.size >= remembered) known.delete(known.keys().next().value ?? '');
    known.set(secret, found);
    return found;
  };
  return (secret) =>
    context.storage.read((view) => {
      forgetOldRules(view);
      if (secret === undefined) {
        if (nobody === undefined) {
          nobody = nobodysPrincipal(rulebookOf(view));
          rememberPresented(nobody, {});
        }
        return nobody;
      }
      const found = rememberedFor(view, secret);
      return found === undefined || isOver(found.expiresAt, context) ? undefined : found.principal;
    });
}

/**
 * The principal of a task: it may read the variables of its job, group and task, and has the rights that the policies for
 * its job grant. Verify the task's identity before calling this.
 */
export function workloadCaller(context: EngineContext, workload: Workload): ResultAsync<Principal, StorageError> {
  return context.storage.read((view) => readWorkload(view, workload));
}
