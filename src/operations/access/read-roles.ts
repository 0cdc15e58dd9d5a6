import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { roles, type StoredRole } from '../../access/role-record.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import { compileFilter } from '../../queries/filters/index.js';
import type { PermissionDenied } from '../authorise.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerList, type ListAnswer } from '../listing/answer-list.js';
import { namedSource } from '../listing/keyed-source.js';
import type { ListRequest } from '../listing/list-request.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import type { Answer } from '../waiting/parked-queries.js';
import { rowsNamed } from '../waiting/watched-rows.js';

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
  return answerList(context, input, list, input.waiting);
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
