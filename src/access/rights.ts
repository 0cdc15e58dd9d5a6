import { globMatches } from '../shared/glob.js';
import { type Capability, expandCapabilities } from './capability.js';
import type { HostVolumeCapability, NodePoolCapability, VariableCapability } from './policy/policy.js';
import type { Principal, WorkspaceRight } from './principal.js';

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
