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
import type { NamespaceRule, Principal } from './principal.js';

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
