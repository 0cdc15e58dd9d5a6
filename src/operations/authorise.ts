import { err, ok, type Result } from 'neverthrow';
import { allows } from '../access/allows.js';
import type { Capability } from '../access/capability.js';
import type { Principal } from '../access/principal.js';

/** The caller may not do this in that namespace. Does not reveal whether anything exists there. */
export interface PermissionDenied {
  readonly type: 'permission_denied';
}

/** Passes when the caller has one of the capabilities in the namespace. */
export function authorise(
  caller: Principal,
  namespace: string,
  anyOf: readonly Capability[],
): Result<void, PermissionDenied> {
  return allows(caller, namespace, anyOf) ? ok(undefined) : err({ type: 'permission_denied' });
}
