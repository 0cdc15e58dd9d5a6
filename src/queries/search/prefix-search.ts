import { canBegin, type SearchContext } from './search-context.js';

/** Maximum number of names of a context in an answer. */
const MAX_MATCHES = 20;

/** In the form of the job interface: a context without results has null. */
export interface PrefixMatches {
  readonly Matches: Readonly<Partial<Record<SearchContext, readonly string[] | null>>>;
  readonly Truncations: Readonly<Partial<Record<SearchContext, boolean>>>;
}

/**
 * The first names of each context with the prefix, and whether there are more. A context whose names cannot have the prefix is
 * omitted. `namesFrom` lists names in order, including at least those with the prefix; no more of them are taken than needed.
 */
export function searchByPrefix(
  prefix: string,
  contexts: readonly SearchContext[],
  namesFrom: (context: SearchContext, prefix: string) => Iterable<string>,
): PrefixMatches {
  const Matches: Partial<Record<SearchContext, readonly string[] | null>> = {};
  const Truncations: Partial<Record<SearchContext, boolean>> = {};
  for (const context of contexts) {
    if (!canBegin(context, prefix)) continue;
    const found = firstWith(prefix, namesFrom(context, prefix), MAX_MATCHES);
    Matches[context] = found.names.length === 0 ? null : found.names;
    Truncations[context] = found.more;
  }
  return { Matches, Truncations };
}

/** The first names with the prefix, at most `count`. */
export function firstWith(
  prefix: string,
  names: Iterable<string>,
  count: number,
): { readonly names: readonly string[]; readonly more: boolean } {
  const found: string[] = [];
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    if (found.length === count) return { names: found, more: true };
    found.push(name);
  }
  return { names: found, more: false };
}
