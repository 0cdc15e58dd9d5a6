import { ok, type Result } from 'neverthrow';
import { compareBytes } from '../../shared/values.js';
import { firstWith } from './prefix-search.js';
import { canBegin, refuse, type SearchContext, type SearchRefused } from './search-context.js';

/** The kinds of results of a fuzzy search: contexts, and names within jobs. */
type FuzzyKind = SearchContext | 'groups' | 'services' | 'tasks' | 'images' | 'commands' | 'classes';

/** A name that is searched for the query. */
export interface FuzzyName {
  readonly kind: FuzzyKind;
  readonly name: string;
  /** From the namespace down to the parent; empty without a parent. */
  readonly scope: readonly string[];
}

/** In the form of the job interface: the scope is omitted where there is none. */
interface FuzzyMatch {
  readonly ID: string;
  readonly Scope?: readonly string[];
}

export interface FuzzyMatches {
  readonly Matches: Readonly<Partial<Record<FuzzyKind, readonly FuzzyMatch[]>>>;
  readonly Truncations: Readonly<Partial<Record<FuzzyKind, boolean>>>;
}

interface FuzzyLimits {
  /** Minimum length of the query in bytes. */
  readonly minimumLength: number;
  /** Maximum number of searched objects of each context. */
  readonly objects: number;
  /** Maximum number of names of each kind in an answer. */
  readonly results: number;
}

export const fuzzyLimits: FuzzyLimits = { minimumLength: 2, objects: 20, results: 100 };

/** The data to search. */
export interface FuzzySources {
  /** The names of each object of a context, object by object, in the order of the table. */
  readonly namesIn: (context: SearchContext) => Iterable<readonly FuzzyName[]>;
  /** The identifiers of a context, in their order. */
  readonly identifiersIn: (context: SearchContext, prefix: string) => Iterable<string>;
}

/** Contexts whose objects have IDs but no names, so that the query must be the beginning of an ID. */
export const byIdentifier: ReadonlySet<SearchContext> = new Set([
  'evals',
  'deployment',
  'scaling_policy',
  'volumes',
  'host_volumes',
]);

/**
 * Finds names that contain the query, ignoring case. Best first: earliest match, then
 * shorter names, then alphabetically. Each context is limited in objects and results. `Truncations` has every context that
 * was searched, and of the kinds within jobs those that were cut.
 */
export function searchFuzzily(
  text: string,
  contexts: readonly SearchContext[],
  sources: FuzzySources,
  limits: FuzzyLimits = fuzzyLimits,
): Result<FuzzyMatches, SearchRefused> {
  const length = new TextEncoder().encode(text).length;
  if (length < limits.minimumLength) {
    return refuse('too_short', `fuzzy search query must be at least ${limits.minimumLength} characters, got ${length}`);
  }
  const Matches: Partial<Record<FuzzyKind, readonly FuzzyMatch[]>> = {};
  const Truncations: Partial<Record<FuzzyKind, boolean>> = {};
  for (const context of contexts) {
    Truncations[context] = false;
    const found = byIdentifier.has(context)
      ? identified(text, context, sources, limits)
      : named(text.toLowerCase(), sources.namesIn(context), limits);
    for (const [kind, { matches, isCut }] of found) {
      Matches[kind] = matches;
      if (isCut) Truncations[kind] = true;
    }
  }
  return ok({ Matches, Truncations });
}

type Found = ReadonlyMap<FuzzyKind, { readonly matches: readonly FuzzyMatch[]; readonly isCut: boolean }>;

function identified(text: string, context: SearchContext, sources: FuzzySources, limits: FuzzyLimits): Found {
  const identifiers = canBegin(context, text) ? sources.identifiersIn(context, text) : [];
  const { names, more } = firstWith(text, identifiers, limits.objects);
  return new Map([[context, { matches: names.map((ID) => ({ ID })), isCut: more }]]);
}

interface Scored extends FuzzyName {
  /** Position of the query in the name. */
  readonly at: number;
}

/**
 * Kinds without results are absent. When there are more objects than the limit, the kinds that were found in the
 * last of these count as truncated.
 */
function named(text: string, objects: Iterable<readonly FuzzyName[]>, limits: FuzzyLimits): Found {
  const byKind = new Map<FuzzyKind, Scored[]>();
  let last: readonly Scored[] = [];
  let cut: ReadonlySet<FuzzyKind> = new Set();
  let searched = 0;
  for (const names of objects) {
    if (searched === limits.objects) {
      cut = new Set(last.map(({ kind }) => kind));
      break;
    }
    searched += 1;
    last = names.map((each) => ({ ...each, at: each.name.toLowerCase().indexOf(text) })).filter(({ at }) => at >= 0);
    for (const each of last) {
      const found = byKind.get(each.kind) ?? [];
      if (found.length === 0) byKind.set(each.kind, found);
      found.push(each);
    }
  }
  return new Map(
    [...byKind].map(([kind, found]) => {
      const best = found.sort(betterFirst).slice(0, limits.results);
      return [kind, { matches: best.map(matchOf), isCut: cut.has(kind) || found.length > limits.results }];
    }),
  );
}

function betterFirst(left: Scored, right: Scored): number {
  return left.at - right.at || left.name.length - right.name.length || compareBytes(left.name, right.name);
}

function matchOf({ name, scope }: FuzzyName): FuzzyMatch {
  return scope.length === 0 ? { ID: name } : { ID: name, Scope: scope };
}
