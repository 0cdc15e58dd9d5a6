import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../access/allows.js';
import { type InvalidAccess, type RoleNotFound, unfitAccess } from '../../access/errors.js';
import { policies, type RoleInput, roleFaults, roles, type StoredRole } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import { commit, commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerList, type ListAnswer, type ListRequest, namedSource } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { contentHash } from '../records/content-hash.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsNamed } from '../waiting/parked-queries.js';
import type { Transaction } from '../write-transaction.js';
import { invalidAccess } from './invalid-access.js';

/** A complete role. */
interface PutRoleInput {
  /** The role to replace; a new one is created when absent. */
  readonly id?: string;
  /** Unique among the roles. */
  readonly name: string;
  readonly description?: string;
  /** Existing policies. */
  readonly policies?: readonly { readonly name?: string }[];
}

/** Errors of `putRole`. */
type PutRoleError = InvalidAccess | StorageError;

/**
 * Creates a role, or replaces the one with the given ID. Its name must be unique and its policies must exist. Only management callers may do
 * this.
 */
export function putRole(
  context: EngineContext,
  caller: Principal,
  { id, name, description = '', policies: named = [] }: PutRoleInput,
): ResultAsync<StoredRole, PutRoleError> {
  const content = {
    Name: name,
    Description: description,
    Policies: named.map((policy) => ({ Name: policy.name ?? '' })),
  };
  const faults = roleFaults(content);
  if (faults.length > 0) return errAsync(invalidAccess('role', faults));
  return commitValue(context, caller, (tx) => storeRole(tx, id, content));
}

function storeRole(tx: Transaction, ID: string | undefined, input: RoleInput): Result<StoredRole, InvalidAccess> {
  const { Name, Description } = input;
  const before = ID === undefined ? undefined : tx.get(roles, [ID])?.record;
  if (ID !== undefined && before === undefined) return err(unfitAccess(`cannot find role ${ID.slice(0, 64)}`));
  const namesake = tx.list(roles, { index: 'by_name', prefix: [Name], limit: 1 })[0]?.record;
  if (namesake !== undefined && namesake.ID !== ID) return err(unfitAccess(`role with name ${Name} already exists`));
  const named = [...new Set(input.Policies.map((policy) => policy.Name))];
  const missing = named.find((policy) => tx.get(policies, [policy]) === undefined);
  if (missing !== undefined) return err(unfitAccess(`cannot find policy ${missing.slice(0, 160)}`));
  const role: StoredRole = {
    ID: ID ?? tx.ids.next('uuid'),
    Name,
    Description,
    Policies: named.map((policy) => ({ Name: policy })),
    Hash: contentHash(Name, Description, named),
    CreateIndex: before?.CreateIndex ?? tx.index,
    ModifyIndex: tx.index,
  };
  tx.put(roles, role);
  return ok(role);
}

/** Selects the roles of `listRoles`, and whether it waits for a change. */
export interface ListRolesInput extends ListRequest, MayWait {}

/** A page of the roles, by ID: all for a management caller, the caller's roles for any other. Index: that of the roles. */
export function listRoles(
  context: EngineContext,
  caller: Principal,
  input: ListRolesInput = {},
): ListAnswer<StoredRole> {
  const own = caller.management ? undefined : new Set(caller.roles);
  const list = {
    key: ['acl_roles', own === undefined ? null : [...own]],
    tables: own === undefined ? [roles] : rowsNamed(roles, [...own]),
    source: (view: ReadView) => namedSource(view, roles, input, ({ ID }) => own?.has(ID) !== false),
    filters: compileFilter.role,
    filtered: (_: ReadView, { record }: Row<StoredRole>) => record,
    show: (_: ReadView, { record }: Row<StoredRole>) => record,
  };
  return answerList(context, input, list);
}

/** A role by its ID or its name, and whether the read waits for a change. */
type RoleReference = MayWait & ({ readonly id: string } | { readonly name: string });

/** One role; undefined when there is none. A caller reads only the roles of its token, and cannot find out whether others exist. */
export function readRole(
  context: EngineContext,
  caller: Principal,
  { waiting, ...reference }: RoleReference,
): ResultAsync<Answer<StoredRole | undefined>, PermissionDenied | StorageError> {
  const role = 'id' in reference ? { id: reference.id } : { name: reference.name };
  const query = {
    key: JSON.stringify(['acl_role', role]),
    tables: [roles],
    run: (view: ReadView) => {
      const found = findRole(view, role);
      return { index: found?.ModifyIndex ?? view.tableIndex(roles), value: found };
    },
  };
  const mayRead = (found: StoredRole | undefined): boolean =>
    caller.management || (found !== undefined && caller.roles?.includes(found.ID) === true);
  // A caller that may not read the role now is refused at once and does not wait for a change.
  const first = context.storage.read((view) => mayRead(findRole(view, role)));
  return first.andThen((allowed): ResultAsync<Answer<StoredRole | undefined>, PermissionDenied | StorageError> => {
    if (!allowed) return errAsync({ type: 'permission_denied' });
    return answerQuery(context, query, waiting).andThen(
      (answer): Result<Answer<StoredRole | undefined>, PermissionDenied> =>
        mayRead(answer.value) ? ok(answer) : err({ type: 'permission_denied' }),
    );
  });
}

function findRole(view: ReadView, role: RoleReference): StoredRole | undefined {
  if ('id' in role) return view.get(roles, [role.id])?.record;
  return view.list(roles, { index: 'by_name', prefix: [role.name], limit: 1 })[0]?.record;
}

/** Removes a role; the tokens that have it lose its policies. Only management callers may do this. Returns the index of the write. */
export function removeRole(
  context: EngineContext,
  caller: Principal,
  input: { readonly id: string },
): ResultAsync<{ readonly index: number }, RoleNotFound | StorageError> {
  const { id } = input;
  return commit(
    context,
    caller,
    (tx): Result<void, RoleNotFound> => (tx.remove(roles, [id]) ? ok(undefined) : err({ type: 'role_not_found', id })),
  ).map(({ index }) => ({ index }));
}
