import type { ResultAsync } from 'neverthrow';
import { policies, roles } from '../../../access/policy-record.js';
import type { Principal, Workload } from '../../../access/principal.js';
import { isExpired, nobodysPrincipal, type StoredToken, tokenPrincipal, tokens } from '../../../access/tokens.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readWorkload, rulebookOf, tokenRowOf } from '../../records/caller-standing.js';
import { rememberPresented } from '../../records/presented-secret.js';

/** The principal of the token with this secret; undefined when it is unknown or expired. */
export function authenticateToken(
  context: EngineContext,
  secret: string,
): ResultAsync<Principal | undefined, StorageError> {
  return context.storage.read((view) => {
    const row = tokenRowOf(view, secret);
    if (row === undefined || isExpired(row.record, context.clock.now())) return undefined;
    const principal = tokenPrincipal(row.record, rulebookOf(view));
    rememberPresented(principal, secret);
    return principal;
  });
}

/** The most callers that one authenticator caches. */
const remembered = 1000;

interface Remembered {
  readonly token: StoredToken;
  readonly modifyIndex: number;
  /** Index of the tokens when the row was last looked up. */
  readonly checkedAt: number;
  readonly principal: Principal;
}

/**
 * `authenticateToken` with a cache of principals and their compiled rights. An entry is valid until the token, a policy or a
 * role changes, in this process or in another one on the same store; the next call then reads the store. Without a secret it
 * returns the principal for callers without a token, with the rights of the policy `anonymous`.
 */
export function tokenAuthenticator(
  context: EngineContext,
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
    if (before?.checkedAt === tokensAt) return before;
    const row = tokenRowOf(view, secret);
    known.delete(secret);
    if (row === undefined) return undefined;
    const principal =
      before?.modifyIndex === row.modifyIndex ? before.principal : tokenPrincipal(row.record, rulebookOf(view));
    rememberPresented(principal, secret);
    const found = { token: row.record, modifyIndex: row.modifyIndex, checkedAt: tokensAt, principal };
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
          rememberPresented(nobody, undefined);
        }
        return nobody;
      }
      const found = rememberedFor(view, secret);
      return found === undefined || isExpired(found.token, context.clock.now()) ? undefined : found.principal;
    });
}

/**
 * The principal of a task: it may read the variables of its job, group and task, and has the rights that the policies for
 * its job grant. Verify the task's identity before calling this.
 */
export function workloadCaller(context: EngineContext, workload: Workload): ResultAsync<Principal, StorageError> {
  return context.storage.read((view) => readWorkload(view, workload));
}
