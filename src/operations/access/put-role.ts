import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { type InvalidAccess, unfitAccess } from '../../access/errors.js';
import { policies } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import { type RoleInput, roleFaults, roles, type StoredRole } from '../../access/role-record.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Transaction } from '../write-transaction.js';
import { contentHash } from './content-hash.js';
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
type PutRoleError = PermissionDenied | InvalidAccess | StorageError;

/**
 * Creates a role, or replaces the one with the given ID. Its name must be unique and its policies must exist. Only management callers may do
 * this.
 */
export function putRole(
  context: EngineContext,
  caller: Principal,
  { id, name, description = '', policies: named = [] }: PutRoleInput,
): ResultAsync<StoredRole, PutRoleError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  const content = {
    Name: name,
    Description: description,
    Policies: named.map((policy) => ({ Name: policy.name ?? '' })),
  };
  const faults = roleFaults(content);
  if (faults.length > 0) return errAsync(invalidAccess('role', faults));
  return commit(context, caller, (tx) => storeRole(tx, id, content)).map(({ value }) => value);
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
