import type { CallAccess } from '../access/allows.js';
import type { Capability } from '../access/capability.js';
import type { Area, NodePoolCapability } from '../access/policy/parse-policy.js';
import type { WorkspaceRight } from '../access/principal.js';

export type { CallAccess } from '../access/allows.js';

/** A right in a namespace that the request names. */
type NamespaceAccess = CallAccess & { readonly type: 'namespace'; readonly namedBy?: 'body' };

/** Of rights that a stored record or a document decides. */
const checkedBy = 'operation';

export const everybody: CallAccess = { type: 'public' };
/** All callers, with or without a token: the operation decides what they see. */
export const anyCaller: CallAccess = { type: 'any', checkedBy };
export const management: CallAccess = { type: 'management' };

/** One of the capabilities in the namespace of the query. */
export function inNamespace(...anyOf: readonly Capability[]): NamespaceAccess {
  return { type: 'namespace', anyOf };
}

/** One of the capabilities in the namespace of the query or the body. */
export function inNamespaceOfBody(...anyOf: readonly Capability[]): NamespaceAccess {
  return { type: 'namespace', anyOf, namedBy: 'body' };
}

/** One of the capabilities in the namespace of the record concerned. */
export function onRecord(...anyOf: readonly Capability[]): CallAccess {
  return { type: 'namespace', anyOf, namedBy: 'record', checkedBy };
}

/** A right on the workspace concerned. */
export function onWorkspace(right: WorkspaceRight | 'any'): CallAccess {
  return { type: 'workspace', right, checkedBy };
}

/** The agent of a node, for that node. */
export const nodeAgent: CallAccess & { readonly type: 'node' } = { type: 'node' };

/** The same right, which a stored record or a document decides. */
export function byOperation(access: NamespaceAccess | typeof nodeAgent): CallAccess {
  return { ...access, checkedBy };
}

/** Any right on variables; the operation checks each path. */
export const onVariables: CallAccess = { type: 'variables', checkedBy };

/** A right in an area with a single access level, such as nodes. */
export function inArea(area: Area, right: 'list' | 'read' | 'write'): CallAccess {
  return { type: 'area', area, right };
}

/** A right on the node pool that the request names. */
export function onNodePool(right: Exclude<NodePoolCapability, 'deny'>): CallAccess {
  return { type: 'node_pools', right };
}

/** The right that a call needs, as a sentence. */
export function accessText(access: CallAccess): string {
  switch (access.type) {
    case 'public':
      return 'Requires no token.';
    case 'any':
      return 'The answer depends on the rights of the token.';
    case 'namespace': {
      const namespace = access.namedBy === 'record' ? 'namespace of the record' : 'namespace of the request';
      return `Requires one of the capabilities ${access.anyOf.join(', ')} in the ${namespace}.`;
    }
    case 'workspace':
      return `Requires ${access.right === 'any' ? 'any right' : `the right "${access.right}"`} on the workspace.`;
    case 'variables':
      return 'Requires a right on the variable: list, read, write or destroy.';
    case 'area':
      return `Requires the right "${access.right}" in the area "${access.area}".`;
    case 'node_pools':
      return `Requires the capability "${access.right}" on the node pool.`;
    case 'node':
      return 'Requires the token of the node, or a management token.';
    case 'management':
      return 'Requires a management token.';
  }
}
