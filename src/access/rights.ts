import { globMatches } from '../shared/glob.js';
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
} from './policy/policy.js';
import type { NamespaceRule, Principal, WorkspaceRight } from './principal.js';

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
export function rightsOf(principal: Principal): Rights {
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
): readonly (readonly [string, ReadonlySet<C>])[] {
  return Object.entries(rules).map(([glob, granted]) => [glob, denyAlone(new Set(granted))]);
}

/** `read` implies `list`. */
function withList(granted: readonly VariableCapability[]): ReadonlySet<VariableCapability> {
  return new Set(granted.includes('read') ? [...granted, 'list'] : granted);
}

function denyAlone<C extends string>(granted: ReadonlySet<C>): ReadonlySet<C> {
  return (granted as ReadonlySet<string>).has('deny') ? new Set(['deny' as C]) : granted;
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
export function* rulesIn<T>({ exact, globs }: RuleBook<T>): Generator<T> {
  yield* exact.values();
  for (const [, rule] of globs) yield rule;
}
