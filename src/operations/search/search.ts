import { errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import {
  allows,
  allowsArea,
  allowsNodePool,
  allowsSomeNodePool,
  allowsSomeVariable,
  allowsVariable,
  everyNamespace,
} from '../../access/allows.js';
import { namespaceCapabilities } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import type { searchCalls } from '../../api/calls/search-calls.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { byIdentifier, type FuzzyMatches, type FuzzyName, searchFuzzily } from '../../queries/search/fuzzy-search.js';
import { type PrefixMatches, searchByPrefix } from '../../queries/search/prefix-search.js';
import {
  canBegin,
  contextsToSearch,
  type SearchContext,
  type SearchRefused,
} from '../../queries/search/search-context.js';
import type { Steps } from '../../scheduler/steps.js';
import type { PermissionDenied } from '../authorise.js';
import type { Bindings } from '../binding.js';
import type { EngineContext } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';
import { contextTables, namesFrom, namesIn, type Sees } from './searched-names.js';

interface SearchInput {
  /** `default` when absent; `*` for all that the caller may read. */
  readonly namespace?: string;
  /** One of the contexts, or `all`. */
  readonly context: string;
}

/** The matches, and the highest index of the searched tables. */
type Found<T> = T & { readonly index: number };

type SearchError = SearchRefused | PermissionDenied | StorageError;

/** The names that begin with a prefix, 20 of each context at most (job interface, search). */
export function search(
  context: EngineContext,
  caller: Principal,
  input: SearchInput & { readonly prefix: string },
): ResultAsync<Found<PrefixMatches>, SearchError> {
  const steps: SearchSteps<PrefixMatches> = function* (current, contexts, sees) {
    const names = new Map<SearchContext, readonly string[]>();
    for (const each of contexts) {
      if (canBegin(each, input.prefix)) names.set(each, yield* namesFrom(current, each, input.prefix, sees(each)));
    }
    return ok(searchByPrefix(input.prefix, contexts, (each) => names.get(each) ?? []));
  };
  return searched(context, caller, input, { may: prefixRight, steps });
}

/** The names that contain a string, including those of groups, tasks and services inside jobs (job interface, search). */
export function fuzzySearch(
  context: EngineContext,
  caller: Principal,
  input: SearchInput & { readonly text: string },
): ResultAsync<Found<FuzzyMatches>, SearchError> {
  const steps: SearchSteps<FuzzyMatches> = function* (current, contexts, sees) {
    const searched = contexts.filter(
      (each) => !byIdentifier.has(each) || prefixRight(each, caller, namespaceOf(input)),
    );
    const objects = new Map<SearchContext, readonly (readonly FuzzyName[])[]>();
    const identifiers = new Map<SearchContext, readonly string[]>();
    for (const each of searched) {
      if (!byIdentifier.has(each)) objects.set(each, yield* namesIn(current, each, sees(each)));
      else if (canBegin(each, input.text))
        identifiers.set(each, yield* namesFrom(current, each, input.text, sees(each)));
    }
    return searchFuzzily(input.text, searched, {
      namesIn: (each) => objects.get(each) ?? [],
      identifiersIn: (each) => identifiers.get(each) ?? [],
    });
  };
  return searched(context, caller, input, { may: fuzzyRight, steps });
}

/** Searches in steps, each in the then current view. */
type SearchSteps<T> = (
  current: () => ReadView,
  contexts: readonly SearchContext[],
  sees: (context: SearchContext) => Sees,
) => Steps<Result<T, SearchRefused>>;

function searched<T extends object>(
  context: EngineContext,
  caller: Principal,
  input: SearchInput,
  { may, steps }: { readonly may: Right; readonly steps: SearchSteps<T> },
): ResultAsync<Found<T>, SearchError> {
  const namespace = namespaceOf(input);
  const contexts = contextsToSearch(input.context, (each) => may(each, caller, namespace));
  if (contexts.isErr()) {
    return errAsync(contexts.error.reason === 'not_allowed' ? { type: 'permission_denied' } : contexts.error);
  }
  const sees = (each: SearchContext): Sees => seesIn(caller, namespace, each);
  return readInTurns(context, function* (current): Steps<Result<Found<T>, SearchRefused>> {
    const view = current();
    const index = contexts.value.length === 0 ? 0 : Math.max(1, ...contexts.value.map((each) => indexOf(view, each)));
    return (yield* steps(current, contexts.value, sees)).map((found) => ({ ...found, index }));
  }).andThen((found): Result<Found<T>, SearchError> => found);
}

function namespaceOf({ namespace = '' }: SearchInput): string {
  return namespace === '' ? 'default' : namespace;
}

const anything = namespaceCapabilities.filter((capability) => capability !== 'deny');

/** Decides who may search a context. */
type Right = (context: SearchContext, caller: Principal, namespace: string) => boolean;

type RightInContext = (caller: Principal, namespace: string) => boolean;

const volumeReaders = ['csi-list-volume', 'csi-read-volume', 'list-jobs', 'read-job'] as const;

const readsJobs: RightInContext = (caller, namespace) => allows(caller, namespace, ['read-job']);

/** Whether the caller may search a context; over all namespaces: in at least one of them. */
const maySearch: Readonly<Record<SearchContext, RightInContext>> = {
  jobs: readsJobs,
  allocs: readsJobs,
  evals: readsJobs,
  deployment: readsJobs,
  scaling_policy: seesPolicies,
  volumes: (caller, namespace) => allows(caller, namespace, volumeReaders),
  host_volumes: (caller, namespace) => allows(caller, namespace, ['host-volume-read']),
  vars: allowsSomeVariable,
  nodes: (caller) => allowsArea(caller, 'node', 'read'),
  node_pools: (caller) => allowsSomeNodePool(caller, 'read'),
  plugins: (caller) => allowsArea(caller, 'plugin', 'list'),
  namespaces: (caller, namespace) => allows(caller, namespace, anything),
};

const prefixRight: Right = (each, caller, namespace) => maySearch[each](caller, namespace);

/** Every caller may search all namespaces; the results contain only visible objects. */
const fuzzyRight: Right = (each, caller, namespace) =>
  namespace === everyNamespace || prefixRight(each, caller, namespace);

/** Whether the caller sees an object of a context. */
function seesIn(caller: Principal, asked: string, context: SearchContext): Sees {
  if (context === 'namespaces') return (name) => allows(caller, name, anything);
  if (context === 'nodes') return () => maySearch.nodes(caller, asked);
  if (context === 'node_pools') return (_, pool) => allowsNodePool(caller, pool, 'read');
  const isAsked = (namespace: string): boolean => asked === everyNamespace || namespace === asked;
  if (context === 'vars') {
    return (namespace, path) => isAsked(namespace) && allowsVariable(caller, { namespace, path }, 'list');
  }
  return (namespace) => isAsked(namespace) && maySearch[context](caller, namespace);
}

function seesPolicies(caller: Principal, namespace: string): boolean {
  return allows(caller, namespace, ['read-job', 'list-scaling-policies']);
}

function indexOf(view: ReadView, context: SearchContext): number {
  const table = contextTables[context];
  return table === undefined ? 0 : view.tableIndex(table);
}

/** The operations of the calls that search. */
export const searchBindings: Bindings<typeof searchCalls> = {
  prefix: search,
  fuzzy: fuzzySearch,
};
