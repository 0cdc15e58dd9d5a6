import type { Capability } from './capability.js';
import type { Area, HostVolumeCapability, NodePoolCapability, VariableCapability } from './policy/policy.js';
import type { Principal, WorkspaceRight } from './principal.js';
import { rightsOf, ruleFor, rulesIn, variableName } from './rights.js';

/** The namespace name that stands for all namespaces. */
export const everyNamespace = '*';

/**
 * Whether the caller has at least one of the capabilities in the namespace; for the namespace `*`, whether any of the
 * caller's rules grants one. `deny` in the applicable rule overrides everything (job interface, Authentication).
 */
export function allows(principal: Principal, namespace: string, anyOf: readonly Capability[]): boolean {
  if (principal.management) return true;
  const { namespaces } = rightsOf(principal);
  const grants = (rule: ReadonlySet<Capability>): boolean =>
    anyOf.some((capability) => capability !== 'deny' && rule.has(capability));
  if (namespace === everyNamespace) return some(rulesIn(namespaces), grants);
  const rule = ruleFor(namespaces, namespace);
  return rule !== undefined && grants(rule);
}

/** Whether the caller has any capability in the namespace. */
export function allowsNamespace(principal: Principal, namespace: string): boolean {
  return principal.management || grantsAnything(ruleFor(rightsOf(principal).namespaces, namespace));
}

/** Whether the caller may read or write in an area with a single access level. `read` of plugins includes `list`. */
export function allowsArea(principal: Principal, area: Area, right: 'list' | 'read' | 'write'): boolean {
  if (principal.management) return true;
  const level = principal.areas?.[area];
  if (level === 'write') return true;
  return level === 'read' ? right !== 'write' : level === right;
}

/** Whether the caller has the right on the node pool. `deny` in the rule that applies overrides everything. */
export function allowsNodePool(
  principal: Principal,
  pool: string,
  right: Exclude<NodePoolCapability, 'deny'>,
): boolean {
  return principal.management || ruleFor(rightsOf(principal).nodePools, pool)?.has(right) === true;
}

/** Whether any of the caller's rules grants the right on a node pool. */
export function allowsSomeNodePool(principal: Principal, right: Exclude<NodePoolCapability, 'deny'>): boolean {
  return (
    principal.management || some(rulesIn(rightsOf(principal).nodePools), (rule) => rule.has(right) && !rule.has('deny'))
  );
}

/** Whether the caller may mount the host volume in this way. `deny` in the rule that applies overrides everything. */
export function allowsHostVolume(
  principal: Principal,
  volume: string,
  right: Exclude<HostVolumeCapability, 'deny'>,
): boolean {
  return principal.management || ruleFor(rightsOf(principal).hostVolumes, volume)?.has(right) === true;
}

/**
 * Whether the caller has the right on the variable. A rule for exactly this namespace and path applies first, then a task's right to
 * read and list the variables of its job, then the closest glob.
 */
export function allowsVariable(
  principal: Principal,
  { namespace, path }: { readonly namespace: string; readonly path: string },
  right: Exclude<VariableCapability, 'deny'>,
): boolean {
  if (principal.management) return true;
  const { variables } = rightsOf(principal);
  const name = variableName(namespace, path);
  const own = variables.exact.get(name);
  if (own !== undefined) return own.has(right);
  if ((right === 'read' || right === 'list') && isOwnVariable(principal, namespace, path)) return true;
  return ruleFor(variables, name)?.has(right) === true;
}

/** Whether any rule of the caller grants anything on variables. The variables themselves are checked one by one afterwards. */
export function allowsSomeVariable(principal: Principal): boolean {
  return (
    principal.management ||
    principal.workload !== undefined ||
    some(rulesIn(rightsOf(principal).variables), grantsAnything)
  );
}

/** Whether the caller has the right on the workspace; `admin` includes `events`. */
export function allowsWorkspace(principal: Principal, workspaceId: string, right: WorkspaceRight): boolean {
  if (principal.management) return true;
  const granted = ruleFor(rightsOf(principal).workspaces, workspaceId);
  return granted === 'admin' || granted === right;
}

/** Whether any of the caller's rules grants the right on a workspace; `admin` includes `events`. */
export function allowsSomeWorkspace(principal: Principal, right: WorkspaceRight): boolean {
  return (
    principal.management ||
    Object.values(principal.workspaces).some((granted) => granted === 'admin' || granted === right)
  );
}

/** The paths at which a task finds the variables of its job, its group and itself. */
function isOwnVariable({ workload }: Principal, namespace: string, path: string): boolean {
  if (workload === undefined || workload.namespace !== namespace) return false;
  const job = `nomad/jobs/${workload.jobId}`;
  const group = `${job}/${workload.group}`;
  return path === 'nomad/jobs' || path === job || path === group || path === `${group}/${workload.task}`;
}

function grantsAnything(rule: ReadonlySet<string> | undefined): boolean {
  return rule !== undefined && rule.size > 0 && !rule.has('deny');
}

function some<T>(values: Iterable<T>, test: (value: T) => boolean): boolean {
  for (const value of values) if (test(value)) return true;
  return false;
}

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
