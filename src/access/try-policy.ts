import {
  allows,
  allowsArea,
  allowsNodePool,
  allowsSomeNodePool,
  allowsSomeVariable,
  allowsVariable,
  type CallAccess,
  everyNamespace,
  mergePolicies,
  ruleBookFrom,
  ruleFor,
  variableName,
} from './allows.js';
import { type Policy, type VariableCapability, variableCapabilities } from './policy/parse-policy.js';
import { anonymousPrincipal, type Principal } from './principal.js';

/** The rule of a policy that applies, and what it grants. */
interface DecidingRule {
  /** `namespace`, `node_pool`, `variables`, or an area such as `node`. */
  readonly block: string;
  /** The name or glob of the block as written, for variables the namespace and the path; empty for areas. */
  readonly name: string;
  /** All that it grants; `deny` alone takes everything away. For areas the level. */
  readonly grants: readonly string[];
}

/** Whether a policy alone lets a caller make a call. */
export interface PolicyTrial {
  readonly allowed: boolean;
  /** Absent when no rule applies, or the right is not one that policies grant. */
  readonly rule?: DecidingRule;
}

/** What a call is about, as far as rules depend on it. */
interface TriedRequest {
  /** `*` for all. */
  readonly namespace: string;
  /** The node pool or the path of the variable; absent for any. */
  readonly name?: string;
}

/** Checks a call with the functions that check it when it is performed, for a caller with this policy and nothing else. */
export function tryPolicy(policy: Policy, access: CallAccess, request: TriedRequest): PolicyTrial {
  const granted = mergePolicies([policy]);
  const caller: Principal = { ...anonymousPrincipal, ...granted };
  const { namespace, name } = request;
  switch (access.type) {
    case 'public':
    case 'any':
      return { allowed: true };
    case 'namespace': {
      const allowed = allows(caller, namespace, access.anyOf);
      return withRule(
        allowed,
        'namespace',
        rulesOf(granted.namespaces, ({ capabilities }) => capabilities),
        namespace,
      );
    }
    case 'area': {
      const level = granted.areas?.[access.area];
      const rule = level === undefined ? {} : { rule: { block: access.area, name: '', grants: [level] } };
      return { allowed: allowsArea(caller, access.area, access.right), ...rule };
    }
    case 'node_pools': {
      const pools = rulesOf(granted.nodePools ?? {}, (capabilities) => capabilities);
      return name === undefined
        ? { allowed: allowsSomeNodePool(caller, access.right) }
        : withRule(allowsNodePool(caller, name, access.right), 'node_pool', pools, name);
    }
    case 'variables':
      return name === undefined
        ? { allowed: allowsSomeVariable(caller) }
        : tryVariable(caller, { namespace, path: name }, Object.entries(granted.namespaces));
    // Policies grant neither.
    case 'workspace':
    case 'management':
    case 'node':
      return { allowed: false };
  }
}

type Rules = readonly (readonly [name: string, grants: readonly string[]])[];

function rulesOf<R>(rules: Readonly<Record<string, R>>, grantsOf: (rule: R) => readonly string[]): Rules {
  return Object.entries(rules).map(([name, rule]) => [name, grantsOf(rule)]);
}

function withRule(allowed: boolean, block: string, rules: Rules, name: string): PolicyTrial {
  // All rules of a kind count for all namespaces together.
  if (name === everyNamespace) return { allowed };
  const rule = ruleFor(ruleBookFrom(rules.map(([pattern, grants]) => [pattern, { pattern, grants }])), name);
  if (rule === undefined) return { allowed };
  const grants = rule.grants.includes('deny') ? ['deny'] : rule.grants;
  return { allowed, rule: { block, name: rule.pattern, grants } };
}

const rights = variableCapabilities.filter((right): right is Exclude<VariableCapability, 'deny'> => right !== 'deny');

/** Which right a call needs on the variable, its operation decides: any right allows it here, and the answer names them all. */
function tryVariable(
  caller: Principal,
  variable: { readonly namespace: string; readonly path: string },
  namespaces: readonly (readonly [string, Principal['namespaces'][string]])[],
): PolicyTrial {
  const held = rights.filter((right) => allowsVariable(caller, variable, right));
  const patterns = namespaces.flatMap(([namespace, { variables = {} }]) =>
    Object.keys(variables).map((path) => [variableName(namespace, path), `${namespace} ${path}`] as const),
  );
  const name = ruleFor(ruleBookFrom(patterns), variableName(variable.namespace, variable.path));
  const allowed = held.length > 0;
  return name === undefined
    ? { allowed }
    : { allowed, rule: { block: 'variables', name, grants: allowed ? held : ['deny'] } };
}
