import { errAsync, ok, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../access/allows.js';
import type { InvalidAccess } from '../../access/errors.js';
import { parsePolicy } from '../../access/policy/parse-policy.js';
import {
  type PolicyDocument,
  type PolicyJob,
  type PolicyStub,
  policies,
  policyFaults,
  policyStub,
  rulesOf,
  type StoredPolicy,
} from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerList, type ListAnswer, type ListRequest, namedSource } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { contentHash } from '../records/content-hash.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsNamed } from '../waiting/parked-queries.js';
import { invalidAccess } from './invalid-access.js';

/** A complete policy. */
interface PutPolicyInput {
  /** 1 to 128 letters, digits and hyphens. */
  readonly name: string;
  /** At most 256 characters, for people. */
  readonly description?: string;
  /** The rules in the policy language (docs/guides/policies.md). */
  readonly rules?: string;
  /** The tasks that have these rights by their workload identity; none when absent. */
  readonly job?: Partial<PolicyJob>;
}

/** Errors of `putPolicy`. */
type PutPolicyError = InvalidAccess | StorageError;

/**
 * Creates or replaces a policy; its tokens have the new rights from the next call on. Only management callers may do
 * this. Returns the index of the write.
 */
export function putPolicy(
  context: EngineContext,
  caller: Principal,
  { name: Name, description: Description = '', rules: Rules = '', job }: PutPolicyInput,
): ResultAsync<{ readonly index: number }, PutPolicyError> {
  const JobACL: StoredPolicy['JobACL'] =
    job === undefined ? null : { Namespace: '', JobID: '', Group: '', Task: '', ...job };
  const faults = policyFaults({ Name, Description, Rules, JobACL });
  if (faults.length > 0) return errAsync(invalidAccess('policy', faults));
  return commit(context, caller, (tx) => {
    const before = tx.get(policies, [Name])?.record;
    tx.put(policies, {
      Name,
      Description,
      Rules,
      JobACL,
      Hash: contentHash(Name, Description, Rules, JobACL),
      CreateIndex: before?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    });
    return ok<void, never>(undefined);
  }).map(({ index }) => ({ index }));
}

/** Selects the policies of `listPolicies`, and whether it waits for a change. */
export interface ListPoliciesInput extends ListRequest, MayWait {}

/** A page of the policies, by name: all for a management caller, the caller's policies for any other. Index: that of the policies. */
export function listPolicies(
  context: EngineContext,
  caller: Principal,
  input: ListPoliciesInput = {},
): ListAnswer<PolicyStub> {
  const own = caller.management ? undefined : new Set(caller.policies);
  const list = {
    key: ['acl_policies', own === undefined ? null : [...own]],
    tables: own === undefined ? [policies] : rowsNamed(policies, [...own]),
    source: (view: ReadView) => namedSource(view, policies, input, ({ Name }) => own?.has(Name) !== false),
    filters: compileFilter.policy,
    filtered: (_: ReadView, { record }: Row<StoredPolicy>) => record,
    show: (_: ReadView, { record }: Row<StoredPolicy>) => policyStub(record),
  };
  return answerList(context, input, list);
}

/** The existing policies of the caller's token, by name. */
export function listOwnPolicies(
  context: EngineContext,
  caller: Principal,
  { waiting }: MayWait = {},
): ResultAsync<Answer<readonly PolicyStub[]>, StorageError> {
  const own = [...new Set(caller.policies)].sort();
  const query = {
    key: JSON.stringify(['acl_own_policies', own]),
    tables: rowsNamed(policies, own),
    run: (view: ReadView) => ({
      index: view.tableIndex(policies),
      value: own.flatMap((name) => {
        const found = view.get(policies, [name])?.record;
        return found === undefined ? [] : [policyStub(found)];
      }),
    }),
  };
  return answerQuery(context, query, waiting);
}

/** What rules grant that this release cannot read. */
const noRules = parsePolicy('')._unsafeUnwrap();

/** One policy; undefined when there is none. A caller without management rights reads only those of its token. */
export function readPolicy(
  context: EngineContext,
  caller: Principal,
  input: MayWait & { readonly name: string },
): ResultAsync<Answer<PolicyDocument | undefined>, PermissionDenied | StorageError> {
  const { name } = input;
  if (!caller.management && caller.policies?.includes(name) !== true) return errAsync({ type: 'permission_denied' });
  const query = {
    key: JSON.stringify(['acl_policy', name]),
    tables: rowsNamed(policies, [name]),
    run: (view: ReadView) => {
      const found = view.get(policies, [name])?.record;
      const value = found && { ...found, RulesJSON: rulesOf(found) ?? noRules };
      return { index: found?.ModifyIndex ?? view.tableIndex(policies), value };
    },
  };
  return answerQuery(context, query, input.waiting);
}

/**
 * Removes a policy; removing a missing one succeeds. Tokens and roles keep its name, which has no effect until such a
 * policy exists again. Only management callers may do this. Returns the index of the write.
 */
export function removePolicy(
  context: EngineContext,
  caller: Principal,
  input: { readonly name: string },
): ResultAsync<{ readonly index: number }, StorageError> {
  return commit(context, caller, (tx) => {
    tx.remove(policies, [input.name]);
    return ok<void, never>(undefined);
  }).map(({ index }) => ({ index }));
}
