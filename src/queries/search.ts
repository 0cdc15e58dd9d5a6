import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../jobs/document/job.js';
import type { Task } from '../jobs/document/task.js';
import type { TaskGroup } from '../jobs/document/task-group.js';
import { compareBytes } from '../shared/values.js';

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

function refuse(reason: SearchRefused['reason'], message: string): Result<never, SearchRefused> {
  return err({ type: 'search_refused', reason, message });
}

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
function firstWith(
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

/** The kinds of names within a job that a fuzzy search finds. */
export function namesOfJob(job: Pick<Job, 'ID' | 'Name' | 'Namespace' | 'TaskGroups'>): FuzzyName[] {
  const scope = [job.Namespace, job.ID];
  return [{ kind: 'jobs', name: job.Name, scope }, ...job.TaskGroups.flatMap((group) => namesOfGroup(group, scope))];
}

function namesOfGroup(group: TaskGroup, job: readonly string[]): FuzzyName[] {
  const scope = [...job, group.Name];
  return [
    { kind: 'groups', name: group.Name, scope: job },
    ...(group.Services ?? []).map(({ Name }): FuzzyName => ({ kind: 'services', name: Name, scope })),
    ...group.Tasks.flatMap((task) => namesOfTask(task, scope)),
  ];
}

function namesOfTask(task: Task, group: readonly string[]): FuzzyName[] {
  const scope = [...group, task.Name];
  return [
    { kind: 'tasks', name: task.Name, scope: group },
    ...(task.Services ?? []).map(({ Name }): FuzzyName => ({ kind: 'services', name: Name, scope })),
    ...whatRuns(task).map(({ kind, name }): FuzzyName => ({ kind, name, scope })),
  ];
}

/** The member of a driver's configuration that names the command or image it runs. */
const RUNS: Readonly<Record<string, { readonly kind: 'images' | 'commands' | 'classes'; readonly member: string }>> = {
  docker: { kind: 'images', member: 'image' },
  exec: { kind: 'commands', member: 'command' },
  raw_exec: { kind: 'commands', member: 'command' },
  java: { kind: 'classes', member: 'class' },
};

function whatRuns({ Driver, Config }: Task): { kind: 'images' | 'commands' | 'classes'; name: string }[] {
  const runs = Object.hasOwn(RUNS, Driver) ? RUNS[Driver] : undefined;
  if (runs === undefined || Config === null || !Object.hasOwn(Config, runs.member)) return [];
  const name = Config[runs.member];
  return typeof name === 'string' ? [{ kind: runs.kind, name }] : [];
}
