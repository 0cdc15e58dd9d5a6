import { err, ok, type Result } from 'neverthrow';
import { allows, allowsNodePool, type CallAccess, mayCall } from './allows.js';
import type { Capability } from './capability.js';
import { mayActForNode } from './node-claim.js';
import type { Principal } from './principal.js';

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

/**
 * Whether the caller has the right that a call with these inputs requires. True also if the operation is declared to check it, but for
 * agents of nodes, which may make no such calls but their own.
 */
export function mayPerform(
  access: CallAccess,
  caller: Principal,
  { namespace, name, nodeId }: Readonly<Record<string, unknown>>,
): boolean {
  if ('checkedBy' in access) return caller.node === undefined || access.type === 'node';
  if (access.type === 'node') return mayActForNode(caller, String(nodeId));
  if (access.type === 'node_pools')
    return caller.node === undefined && allowsNodePool(caller, String(name), access.right);
  const named = namespace === undefined || namespace === '' ? 'default' : String(namespace);
  return mayCall(access, caller, { namespace: named, workspace: undefined });
}
