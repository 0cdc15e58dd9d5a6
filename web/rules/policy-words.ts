interface Named {
  readonly Name: string;
  readonly Policy: string;
  readonly Capabilities: readonly string[] | null;
}

interface Area {
  readonly Policy: string;
}

/** The rules of a policy as the server has parsed them. */
interface ParsedRules {
  readonly Namespaces:
    | readonly (Named & {
        readonly Variables: {
          readonly Paths: readonly { readonly PathSpec: string; readonly Capabilities: readonly string[] }[];
        } | null;
      })[]
    | null;
  readonly NodePools: readonly Named[] | null;
  readonly HostVolumes: readonly Named[] | null;
  readonly Agent: Area | null;
  readonly Node: Area | null;
  readonly Operator: Area | null;
  readonly Quota: Area | null;
  readonly Plugin: Area | null;
  readonly Sentinel: Area | null;
}

/** One rule: for what, with a name or pattern where there are several, and what it grants. */
interface RuleLine {
  readonly kind: string;
  readonly name: string;
  /** The word that stands for the capabilities; empty when only capabilities are given. */
  readonly word: string;
  readonly capabilities: readonly string[];
}

const areas = ['Node', 'Agent', 'Operator', 'Plugin', 'Quota', 'Sentinel'] as const;

/** The rules of a policy, one line each. */
export function ruleLines(rules: ParsedRules): readonly RuleLine[] {
  const named = (kind: string, list: readonly Named[] | null): readonly RuleLine[] =>
    (list ?? []).map(({ Name, Policy, Capabilities }) => ({
      kind,
      name: Name,
      word: Policy,
      capabilities: [...new Set(Capabilities ?? [])],
    }));
  return [
    ...(rules.Namespaces ?? []).flatMap((each) => [
      // A rule for variables alone grants nothing in the namespace itself.
      ...(each.Policy === '' && (each.Capabilities ?? []).length === 0 ? [] : named('namespace', [each])),
      ...(each.Variables?.Paths ?? []).map(({ PathSpec, Capabilities }) => ({
        kind: `variables of ${each.Name}`,
        name: PathSpec,
        word: '',
        capabilities: [...new Set(Capabilities)],
      })),
    ]),
    ...named('node pool', rules.NodePools),
    ...named('host volume', rules.HostVolumes),
    ...areas.flatMap((area) => {
      const rule = rules[area];
      return rule === null ? [] : [{ kind: area.toLowerCase(), name: '', word: rule.Policy, capabilities: [] }];
    }),
  ];
}

/** Where a fault of the rules is, as the server says it: line and column from 1. */
export function faultPosition(message: string): { readonly line: number; readonly column: number } | undefined {
  const found = /at line (\d+), column (\d+)/.exec(message);
  return found === null ? undefined : { line: Number(found[1]), column: Number(found[2]) };
}

/** The offset in the text; the end of the text for a place behind it. */
export function offsetOf(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, before + column - 1);
}
