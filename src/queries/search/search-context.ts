import { err, ok, type Result } from 'neverthrow';

/** The searchable contexts, in the order in which error messages list them. */
export const searchContexts = [
  'allocs',
  'jobs',
  'nodes',
  'node_pools',
  'evals',
  'deployment',
  'plugins',
  'volumes',
  'scaling_policy',
  'vars',
  'namespaces',
  'host_volumes',
] as const;

export type SearchContext = (typeof searchContexts)[number];

/** Refused: the context is unknown or not allowed, or the query is too short. */
export interface SearchRefused {
  readonly type: 'search_refused';
  /** `not_allowed`: the caller may not search that context. `too_short`: the query of a fuzzy search. */
  readonly reason: 'unknown_context' | 'not_allowed' | 'too_short';
  readonly message: string;
}

/**
 * The contexts that a search reads. `all` omits those that the caller may not search; one that is named explicitly
 * is refused. `isAllowed` receives whether the context was named: some rights suffice only for `all`.
 */
export function contextsToSearch(
  asked: string,
  isAllowed: (context: SearchContext, byName: boolean) => boolean,
): Result<readonly SearchContext[], SearchRefused> {
  if (asked === 'all') return ok(searchContexts.filter((context) => isAllowed(context, false)));
  const context = searchContexts.find((each) => each === asked);
  if (context === undefined) {
    const known = searchContexts.join(' ');
    return refuse(
      'unknown_context',
      `context must be one of [${known}] or 'all' for all contexts; got ${JSON.stringify(asked)}`,
    );
  }
  return isAllowed(context, true) ? ok([context]) : refuse('not_allowed', 'Permission denied');
}

/** Contexts whose objects are named by UUID: a prefix that cannot be part of one is not looked up there. */
const uuidContexts: ReadonlySet<SearchContext> = new Set(['allocs', 'nodes', 'evals', 'deployment', 'scaling_policy']);

/** Whether a name in this context can have the prefix at all. */
export function canBegin(context: SearchContext, prefix: string): boolean {
  if (!uuidContexts.has(context)) return true;
  const digits = prefix.replaceAll('-', '');
  // An odd last character is omitted from the lookup, and compared afterwards.
  const searched = digits.length % 2 === 0 ? prefix : prefix.slice(0, -1);
  const hyphens = searched.length - searched.replaceAll('-', '').length;
  return searched.length <= 36 && hyphens <= 4 && /^(?:[0-9a-fA-F]{2})*$/.test(searched.replaceAll('-', ''));
}

export function refuse(reason: SearchRefused['reason'], message: string): Result<never, SearchRefused> {
  return err({ type: 'search_refused', reason, message });
}
