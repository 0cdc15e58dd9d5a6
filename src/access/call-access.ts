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
 * Who may make a call. There is no default: a call that asks for no credentials says so by name. `namespace` needs one of
 * the capabilities in the namespace of the request, `workspace` the right on the workspace concerned. The operations
 * decide; a server refuses callers that can have no right at all before it reads a body.
 */
export type CallAccess =
  | { readonly type: 'public' }
  /** Whoever calls is looked at, and the operation decides what they get. */
  | { readonly type: 'any' }
  | {
      readonly type: 'namespace';
      readonly anyOf: readonly Capability[];
      /**
       * What names the namespace when the query does not: the body may, or only the record or the document concerned does,
       * whatever the query says. Absent: it is `default`.
       */
      readonly namedBy?: 'body' | 'record';
    }
  | { readonly type: 'workspace'; readonly right: WorkspaceRight }
  /** The right in an area that has one level for the whole of it, such as nodes. */
  | { readonly type: 'area'; readonly area: Area; readonly right: 'list' | 'read' | 'write' }
  /** The right on a node pool; which ones, the request names. */
  | { readonly type: 'node_pools'; readonly right: Exclude<NodePoolCapability, 'deny'> }
  /** The agent of a node, for that node. */
  | { readonly type: 'node' }
  /** Any right on variables. */
  | { readonly type: 'variables' }
  | { readonly type: 'management' };

/** What the path and the query of a request say about what it concerns. */
export interface Concerned {
  readonly namespace: string | undefined;
  /** Undefined where the request does not name one. */
  readonly workspace: string | undefined;
}

/**
 * Whether a caller can have the right that a call asks for, as far as path and query tell. Only the operation decides;
 * this keeps what the body of a caller says that can have no right from being looked at.
 */
export function mayCall(access: CallAccess, caller: Principal, { namespace, workspace }: Concerned): boolean {
  // The agent of a node has its own calls, and none of those that look at whoever comes.
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
