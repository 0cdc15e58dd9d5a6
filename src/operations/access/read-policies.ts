import { errAsync, type ResultAsync } from 'neverthrow';
import { type PolicyStub, policies, policyStub, type StoredPolicy } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import { compileFilter } from '../../queries/filters/index.js';
import type { PermissionDenied } from '../authorise.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerList, type ListAnswer } from '../listing/answer-list.js';
import { namedSource } from '../listing/keyed-source.js';
import type { ListRequest } from '../listing/list-request.js';
import { answerQuery, type Waiting } from '../waiting/blocking-query.js';
import type { Answer } from '../waiting/parked-queries.js';
import { rowsNamed } from '../waiting/watched-rows.js';

/** Selects the policies of `listPolicies`, and whether it waits for a change. */
export interface ListPoliciesInput extends ListRequest {
  /** Waits for a change after an index; answers at once when absent. */
  readonly waiting?: Waiting;
}

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
  return answerList(context, input, list, input.waiting);
}

/** The existing policies of the caller's token, by name. */
export function listOwnPolicies(
  context: EngineContext,
  caller: Principal,
  waiting?: Waiting,
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

/** One policy; undefined when there is none. A caller without management rights reads only those of its token. */
export function readPolicy(
  context: EngineContext,
  caller: Principal,
  input: { readonly name: string; readonly waiting?: Waiting },
): ResultAsync<Answer<StoredPolicy | undefined>, PermissionDenied | StorageError> {
  const { name } = input;
  if (!caller.management && caller.policies?.includes(name) !== true) return errAsync({ type: 'permission_denied' });
  const query = {
    key: JSON.stringify(['acl_policy', name]),
    tables: rowsNamed(policies, [name]),
    run: (view: ReadView) => {
      const found = view.get(policies, [name])?.record;
      return { index: found?.ModifyIndex ?? view.tableIndex(policies), value: found };
    },
  };
  return answerQuery(context, query, input.waiting);
}
