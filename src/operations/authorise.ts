import { err, ok, type Result } from 'neverthrow';
import { allows, allowsArea, allowsNodePool } from '../access/allows.js';
import type { Capability } from '../access/capability.js';
import { mayActForNode } from '../access/node-claim.js';
import type { Area, NodePoolCapability } from '../access/policy/parse-policy.js';
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

/** Passes for a management caller only. */
export function authoriseManagement(caller: Principal): Result<void, PermissionDenied> {
  return caller.management ? ok(undefined) : err({ type: 'permission_denied' });
}

/** Passes when the caller has the right in an area with a single access level, such as nodes. */
export function authoriseArea(
  caller: Principal,
  area: Area,
  right: 'list' | 'read' | 'write',
): Result<void, PermissionDenied> {
  return allowsArea(caller, area, right) ? ok(undefined) : err({ type: 'permission_denied' });
}

/** Passes for the agent of the node, and for management callers. */
export function authoriseNode(caller: Principal, nodeId: string): Result<void, PermissionDenied> {
  return mayActForNode(caller, nodeId) ? ok(undefined) : err({ type: 'permission_denied' });
}

/** Passes when the caller has the right on the node pool. */
export function authoriseNodePool(
  caller: Principal,
  pool: string,
  right: Exclude<NodePoolCapability, 'deny'>,
): Result<void, PermissionDenied> {
  return allowsNodePool(caller, pool, right) ? ok(undefined) : err({ type: 'permission_denied' });
}
