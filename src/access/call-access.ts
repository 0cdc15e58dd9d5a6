import {
  allows,
  allowsArea,
  allowsSomeNodePool,
  allowsSomeVariable,
  allowsSomeWorkspace,
  allowsWorkspace,
  everyNamespace,
} from './allows.js';
import type { Capability } from './capability.js';
import type { Area, NodePoolCapability } from './policy/policy.js';
import type { Principal, WorkspaceRight } from './principal.js';

/**
 * The access that a call requires. There is no default: a call without credentials is declared explicitly. `namespace` requires
 * one of the capabilities in the namespace of the request, `workspace` the right on the workspace concerned. The operations
 * authorise; a server refuses callers that cannot have the right before it reads a body.
 */
export type CallAccess =
  | { readonly type: 'public' }
  /** The caller is authenticated, and the operation decides what it may see. */
  | { readonly type: 'any' }
  | {
      readonly type: 'namespace';
      readonly anyOf: readonly Capability[];
      /**
       * Source of the namespace if the query has none: the body, or (regardless of the query) the record or document
       * concerned. Absent: the namespace is `default`.
       */
      readonly namedBy?: 'body' | 'record';
    }
  | { readonly type: 'workspace'; readonly right: WorkspaceRight }
  /** The right in an area with a single access level, such as nodes. */
  | { readonly type: 'area'; readonly area: Area; readonly right: 'list' | 'read' | 'write' }
  /** The right on a node pool, which the request names. */
  | { readonly type: 'node_pools'; readonly right: Exclude<NodePoolCapability, 'deny'> }
  /** The agent of a node, for that node. */
  | { readonly type: 'node' }
  /** Any right on variables. */
  | { readonly type: 'variables' }
  | { readonly type: 'management' };

/** The objects that the path and the query of a request name. */
export interface Concerned {
  /** Undefined if the request names none. */
  readonly namespace: string | undefined;
  /** Undefined if the request names none. */
  readonly workspace: string | undefined;
}

/**
 * Whether a caller can have the right that a call requires, checked by path and query alone. The operation makes the final
 * decision; this check spares the server from reading bodies of callers that cannot have the right.
 */
export function mayCall(access: CallAccess, caller: Principal, { namespace, workspace }: Concerned): boolean {
  // The agent of a node may make only its own calls, not those that admit every authenticated caller.
  if (caller.node !== undefined) return access.type === 'node' || access.type === 'public';
  switch (access.type) {
    case 'public':
    case 'any':
      return true;
    case 'management':
    case 'node':
      return caller.management;
    case 'variables':
      return allowsSomeVariable(caller);
    case 'area':
      return allowsArea(caller, access.area, access.right);
    case 'node_pools':
      return allowsSomeNodePool(caller, access.right);
    case 'namespace': {
      const named = access.namedBy !== 'record' && namespace !== undefined && namespace !== '';
      const otherwise = access.namedBy === undefined ? 'default' : everyNamespace;
      return allows(caller, named ? namespace : otherwise, access.anyOf);
    }
    case 'workspace':
      return workspace === undefined
        ? allowsSomeWorkspace(caller, access.right)
        : allowsWorkspace(caller, workspace, access.right);
  }
}
