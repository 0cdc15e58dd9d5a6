import { globMatches } from '../shared/glob.js';

/** Rules by name or glob, indexed to find the applicable one. */
export interface RuleBook<T> {
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
