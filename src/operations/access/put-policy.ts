import { errAsync, ok, type ResultAsync } from 'neverthrow';
import type { InvalidAccess } from '../../access/errors.js';
import { type PolicyInput, policies, policyFaults } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { contentHash } from './content-hash.js';
import { invalidAccess } from './invalid-access.js';

/** Errors of `putPolicy`. */
export type PutPolicyError = PermissionDenied | InvalidAccess | StorageError;

/**
 * Creates or replaces a policy; the new rights of its tokens apply from the next call on. Only management callers may do
 * this. Returns the index of the write.
 */
export function putPolicy(
  context: EngineContext,
  caller: Principal,
  input: PolicyInput,
): ResultAsync<{ readonly index: number }, PutPolicyError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  const faults = policyFaults(input);
  if (faults.length > 0) return errAsync(invalidAccess('policy', faults));
  const { Name, Description, Rules, JobACL } = input;
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
