import { err, ok, type Result } from 'neverthrow';
import { globMatches } from '../shared/values.js';
import { type Capability, capabilityFromName, expandCapabilities } from './capability.js';
import {
  type Area,
  type AreaLevel,
  areas,
  type HostVolumeCapability,
  type NamedPolicy,
  type NamespacePolicy,
  type NodePoolCapability,
  type Policy,
  type VariableCapability,
} from './policy/parse-policy.js';
import type { NamespaceRule, NodeIdentity, Principal, WorkspaceRight } from './principal.js';

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

/** Whether the caller has the right on the workspace; `admin` includes all others. */
export function allowsWorkspace(principal: Principal, workspaceId: string, right: WorkspaceRight | 'any'): boolean {
  return principal.management || includes(ruleFor(rightsOf(principal).workspaces, workspaceId), right);
}

/** Whether any of the caller's rules grants the right on a workspace. */
export function allowsSomeWorkspace(principal: Principal, right: WorkspaceRight | 'any'): boolean {
  return principal.management || Object.values(principal.workspaces).some((granted) => includes(granted, right));
}

function includes(granted: WorkspaceRight | undefined, right: WorkspaceRight | 'any'): boolean {
  return granted === 'admin' || (granted !== undefined && (granted === right || right === 'any'));
}

/** Whether destinations of this kind exist for a caller with the right `portal` on the workspace; for an `admin` all do. */
export function allowsKind(principal: Principal, workspaceId: string, kind: string): boolean {
  return allowsWorkspace(principal, workspaceId, 'admin') || principal.portal?.kinds.includes(kind) === true;
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
 * The access that a call requires. There is no default: a call without credentials is declared explicitly. The right is checked once, where
 * the call is performed (`mayPerform`). With `checkedBy`, stored records or a document decide it, and the operation that reads them checks it.
 */
export type CallAccess =
  | { readonly type: 'public' }
  /** The caller is authenticated, and the operation decides what it may see. */
  | { readonly type: 'any'; readonly checkedBy: 'operation' }
  | {
      readonly type: 'namespace';
      /** The caller needs one of them in the namespace. */
      readonly anyOf: readonly Capability[];
      /** Source of the namespace if the query has none. Absent: the namespace is `default`. */
      readonly namedBy?: 'body';
      readonly checkedBy?: 'operation';
    }
  | {
      readonly type: 'namespace';
      readonly anyOf: readonly Capability[];
      /** The namespace is that of the record concerned, regardless of the query. */
      readonly namedBy: 'record';
      readonly checkedBy: 'operation';
    }
  /** The right on the workspace concerned. For callers without it, the workspace does not exist. */
  | { readonly type: 'workspace'; readonly right: WorkspaceRight | 'any'; readonly checkedBy: 'operation' }
  /** The right in an area with a single access level, such as nodes. */
  | { readonly type: 'area'; readonly area: Area; readonly right: 'list' | 'read' | 'write' }
  /** The right on a node pool, which the request names. */
  | { readonly type: 'node_pools'; readonly right: Exclude<NodePoolCapability, 'deny'> }
  /** The agent of a node, for that node. */
  | { readonly type: 'node'; readonly checkedBy?: 'operation' }
  /** Any right on variables. */
  | { readonly type: 'variables'; readonly checkedBy: 'operation' }
  | { readonly type: 'management' };

/** The objects that the path and the query of a request name. */
export interface Concerned {
  /** Undefined if the request names none. */
  readonly namespace: string | undefined;
  /** Undefined if the request names none. */
  readonly workspace: string | undefined;
}

/**
 * Whether a caller can have the right that a call requires, checked by path and query alone. It spares the server from reading bodies of
 * callers that cannot have the right.
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

/** The part of a principal that its policies determine. */
type Granted = Pick<Principal, 'namespaces' | 'nodePools' | 'hostVolumes' | 'areas'>;

/**
 * Merges several policies and the token's own rules: for one name or glob the capabilities are united, and a `deny` in any
 * of them removes all others (job interface, matching). The order of the policies does not matter.
 */
export function mergePolicies(policies: readonly Policy[], own: Principal['namespaces'] = {}): Granted {
  const namespaces = new Map<string, NamespaceGrant>();
  for (const [name, rule] of Object.entries(own)) grantRule(grantOf(namespaces, name), rule);
  const nodePools = new Map<string, Set<string>>();
  const hostVolumes = new Map<string, Set<string>>();
  for (const policy of policies) {
    for (const rule of policy.Namespaces ?? []) grantPolicy(grantOf(namespaces, rule.Name), rule);
    for (const rule of policy.NodePools ?? []) add(nodePools, rule);
    for (const rule of policy.HostVolumes ?? []) add(hostVolumes, rule);
  }
  return {
    namespaces: Object.fromEntries([...namespaces].map(([name, grant]) => [name, ruleOf(grant)])),
    nodePools: recordOf(nodePools) as Readonly<Record<string, NodePoolCapability[]>>,
    hostVolumes: recordOf(hostVolumes) as Readonly<Record<string, HostVolumeCapability[]>>,
    areas: mergedAreas(policies),
  };
}

interface NamespaceGrant {
  readonly capabilities: Set<Capability>;
  readonly variables: Map<string, Set<VariableCapability>>;
}

function grantOf(grants: Map<string, NamespaceGrant>, name: string): NamespaceGrant {
  let grant = grants.get(name);
  if (grant === undefined) {
    grant = { capabilities: new Set(), variables: new Map() };
    grants.set(name, grant);
  }
  return grant;
}

function grantPolicy(grant: NamespaceGrant, { Capabilities, Variables }: NamespacePolicy): void {
  for (const name of Capabilities ?? []) {
    const capability = capabilityFromName(name);
    if (capability !== undefined) grant.capabilities.add(capability);
  }
  for (const { PathSpec, Capabilities: granted } of Variables?.Paths ?? []) {
    for (const capability of granted) setOf(grant.variables, PathSpec).add(capability);
  }
}

function grantRule(grant: NamespaceGrant, { policy, capabilities, variables = {} }: NamespaceRule): void {
  for (const capability of expandCapabilities(policy, capabilities)) grant.capabilities.add(capability);
  for (const [path, granted] of Object.entries(variables)) {
    for (const capability of granted) setOf(grant.variables, path).add(capability);
  }
}

function ruleOf({ capabilities, variables }: NamespaceGrant): NamespaceRule {
  return variables.size === 0
    ? { capabilities: [...capabilities] }
    : { capabilities: [...capabilities], variables: recordOf(variables) };
}

function add(rules: Map<string, Set<string>>, { Name, Capabilities }: NamedPolicy): void {
  for (const capability of Capabilities ?? []) setOf(rules, Name).add(capability);
}

function setOf<C>(rules: Map<string, Set<C>>, name: string): Set<C> {
  let granted = rules.get(name);
  if (granted === undefined) {
    granted = new Set();
    rules.set(name, granted);
  }
  return granted;
}

/** Own members only, so that names such as `__proto__` are safe. */
function recordOf<C>(rules: ReadonlyMap<string, ReadonlySet<C>>): Readonly<Record<string, C[]>> {
  return Object.fromEntries([...rules].map(([name, granted]) => [name, [...granted]]));
}

/** In descending precedence: `deny` overrides all others. */
const strength: readonly AreaLevel[] = ['deny', 'write', 'read', 'list', 'scale'];

const members = {
  agent: 'Agent',
  node: 'Node',
  operator: 'Operator',
  quota: 'Quota',
  plugin: 'Plugin',
  sentinel: 'Sentinel',
} as const satisfies Readonly<Record<Area, keyof Policy>>;

function mergedAreas(policies: readonly Policy[]): Readonly<Partial<Record<Area, AreaLevel>>> {
  const merged: Partial<Record<Area, AreaLevel>> = {};
  for (const area of areas) {
    const given = new Set(policies.map((policy) => policy[members[area]]?.Policy));
    const level = strength.find((candidate) => given.has(candidate));
    if (level !== undefined) merged[area] = level;
  }
  return merged;
}

/** The compiled rights of a caller: each check is one look-up or one pass over its globs. A set with `deny` has no other members. */
interface Rights {
  readonly namespaces: RuleBook<ReadonlySet<Capability>>;
  /** Keyed by `variableName(namespace, path)`. */
  readonly variables: RuleBook<ReadonlySet<VariableCapability>>;
  readonly nodePools: RuleBook<ReadonlySet<NodePoolCapability>>;
  readonly hostVolumes: RuleBook<ReadonlySet<HostVolumeCapability>>;
  readonly workspaces: RuleBook<WorkspaceRight>;
}

const known = new WeakMap<Principal, Rights>();

/** The compiled rights of a caller; computed once per principal. */
function rightsOf(principal: Principal): Rights {
  let rights = known.get(principal);
  if (rights === undefined) {
    rights = compiled(principal);
    known.set(principal, rights);
  }
  return rights;
}

/** Namespace and path of a variable as one name. Neither can contain a NUL, so a `*` in one part never matches across both. */
export function variableName(namespace: string, path: string): string {
  return `${namespace}\0${path}`;
}

function compiled({ namespaces, nodePools = {}, hostVolumes = {}, workspaces }: Principal): Rights {
  const rules = Object.entries(namespaces);
  return {
    namespaces: ruleBookFrom(
      rules.map(([glob, { policy, capabilities }]) => [glob, denyAlone(expandCapabilities(policy, capabilities))]),
    ),
    variables: ruleBookFrom(
      rules.flatMap(([glob, { variables = {} }]) =>
        Object.entries(variables).map(
          ([path, granted]) => [variableName(glob, path), denyAlone(withList(granted))] as const,
        ),
      ),
    ),
    nodePools: ruleBookFrom(sets(nodePools)),
    hostVolumes: ruleBookFrom(sets(hostVolumes)),
    workspaces: ruleBookFrom(Object.entries(workspaces)),
  };
}

function sets<C extends string>(
  rules: Readonly<Record<string, readonly C[]>>,
): readonly (readonly [string, ReadonlySet<C | 'deny'>])[] {
  return Object.entries(rules).map(([glob, granted]) => [glob, denyAlone(new Set(granted))]);
}

/** `read` implies `list`. */
function withList(granted: readonly VariableCapability[]): ReadonlySet<VariableCapability> {
  return new Set(granted.includes('read') ? [...granted, 'list'] : granted);
}

function denyAlone<C extends string>(granted: ReadonlySet<C | 'deny'>): ReadonlySet<C | 'deny'> {
  return granted.has('deny') ? new Set(['deny']) : granted;
}

/** Rules by name or glob, indexed to find the applicable one. */
interface RuleBook<T> {
  readonly exact: ReadonlyMap<string, T>;
  /** In matching order: most literal characters first, then by a string. */
  readonly globs: readonly (readonly [pattern: string, rule: T])[];
}

export function ruleBookFrom<T>(rules: Iterable<readonly [pattern: string, rule: T]>): RuleBook<T> {
  const exact = new Map<string, T>();
  const globs: { readonly literal: number; readonly entry: readonly [string, T] }[] = [];
  for (const entry of rules) {
    const [pattern, rule] = entry;
    if (pattern.includes('*')) globs.push({ literal: pattern.replaceAll('*', '').length, entry });
    else exact.set(pattern, rule);
  }
  globs.sort((a, b) => b.literal - a.literal || (a.entry[0] < b.entry[0] ? -1 : 1));
  return { exact, globs: globs.map(({ entry }) => entry) };
}

/**
 * The rule that applies to a name: an exact one before every glob, then the glob whose stars match the fewest characters (job
 * interface, matching); ties are resolved by string order.
 */
export function ruleFor<T>(book: RuleBook<T>, name: string): T | undefined {
  return book.exact.get(name) ?? book.globs.find(([pattern]) => globMatches(pattern, name))?.[1];
}

/** All rules, each once. */
function* rulesIn<T>({ exact, globs }: RuleBook<T>): Generator<T> {
  yield* exact.values();
  for (const [, rule] of globs) yield rule;
}

/** A node that requests registration. */
interface ClaimedNode {
  readonly id: string;
  readonly pool: string;
  /** Whether the node already exists, or another token is bound to it. */
  readonly isTaken: boolean;
}

/** The agent may not register this node; `message` may be shown to it. */
export interface ClaimRefused {
  readonly type: 'claim_refused';
  readonly message: string;
}

/** Whether the caller may act as the node's agent: with its token, or with management rights. */
export function mayActForNode({ management, node }: Principal, nodeId: string): boolean {
  if (node !== undefined) return node.id !== undefined && node.id === nodeId;
  return management;
}

/**
 * Whether the agent with this identity may register the node. Returns the identity that the token is bound to from then on. A token
 * that is not bound yet can only register a new node, so that it cannot take over an existing one.
 */
export function decideNodeClaim(identity: NodeIdentity, claimed: ClaimedNode): Result<NodeIdentity, ClaimRefused> {
  if (claimed.pool !== identity.pool) {
    return refused(`the token is for nodes of the pool "${identity.pool}", and this one is in "${claimed.pool}"`);
  }
  if (identity.id === claimed.id) return ok(identity);
  if (identity.id !== undefined) return refused('the token belongs to another node');
  if (claimed.isTaken) {
    return refused('there is a node with this ID, and the token does not belong to it: make one for this node ID');
  }
  return ok({ ...identity, id: claimed.id });
}

function refused(message: string): Result<NodeIdentity, ClaimRefused> {
  return err({ type: 'claim_refused', message });
}

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
