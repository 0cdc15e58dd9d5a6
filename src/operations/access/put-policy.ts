import { errAsync, ok, type ResultAsync } from 'neverthrow';
import type { InvalidAccess } from '../../access/errors.js';
import { type PolicyJob, policies, policyFaults, type StoredPolicy } from '../../access/policy-record.js';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { contentHash } from './content-hash.js';
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
type PutPolicyError = PermissionDenied | InvalidAccess | StorageError;

/**
 * Creates or replaces a policy; its tokens have the new rights from the next call on. Only management callers may do
 * this. Returns the index of the write.
 */
export function putPolicy(
  context: EngineContext,
  caller: Principal,
  { name: Name, description: Description = '', rules: Rules = '', job }: PutPolicyInput,
): ResultAsync<{ readonly index: number }, PutPolicyError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
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
