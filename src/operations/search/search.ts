import { errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import {
  allows,
  allowsArea,
  allowsNodePool,
  allowsSomeNodePool,
  allowsSomeVariable,
  allowsVariable,
  everyNamespace,
  type PermissionDenied,
} from '../../access/allows.js';
import { namespaceCapabilities } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import { namespaces } from '../../jobs/namespaces/namespace.js';
import { scalingPoliciesOf } from '../../jobs/scaling/scaling-records.js';
import type { ReadView, StorageError, TableName } from '../../ports/storage.js';
import {
  byIdentifier,
  canBegin,
  contextsToSearch,
  type FuzzyMatches,
  type FuzzyName,
  fuzzyLimits,
  namesOfJob,
  type PrefixMatches,
  type SearchContext,
  type SearchRefused,
  searchByPrefix,
  searchFuzzily,
} from '../../queries/search.js';
import { allocations } from '../../scheduler/allocation.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { nodePools } from '../../scheduler/node-pool.js';
import type { Steps } from '../../scheduler/steps.js';
import type { Table } from '../../shared/table.js';
import { type StoredVariable, variables } from '../../variables/variable.js';
import type { EngineContext } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';
import { listNodePools as allNodePools, namespaceNames } from '../records/declared-rows.js';
import { pagesOf } from '../records/pages.js';

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

/** Whether a caller sees what is in a namespace, among those that were asked for; of variables and node pools the name counts too. */
type Sees = (namespace: string, name: string) => boolean;

/** The table that a context is searched in; contexts without one are always empty. */
const contextTables: Readonly<Partial<Record<SearchContext, TableName>>> = {
  jobs,
  allocs: allocations,
  evals: evaluations,
  deployment: deployments,
  nodes,
  node_pools: nodePools,
  namespaces,
  scaling_policy: jobs,
  vars: variables,
};

/** The first names of a context with a prefix, in order: one more than a search shows. */
function* namesFrom(
  current: () => ReadView,
  context: SearchContext,
  prefix: string,
  sees: Sees,
): Steps<readonly string[]> {
  switch (context) {
    case 'jobs':
      return (yield* jobsSeen(current, prefix, sees)).map(({ ID }) => ID);
    case 'allocs':
      return yield* idsOf(current, allocations, prefix, sees);
    case 'evals':
      return yield* idsOf(current, evaluations, prefix, sees);
    case 'deployment':
      return yield* idsOf(current, deployments, prefix, sees);
    case 'nodes':
      return yield* idsOf(current, nodes, prefix, () => true);
    case 'node_pools':
      return poolsSeen(current(), prefix, sees);
    case 'namespaces':
      return namespaceNames(current()).filter((name) => name.startsWith(prefix) && sees(name, name));
    case 'scaling_policy':
      return policiesSeen(current(), sees).filter((id) => id.startsWith(prefix.toLowerCase()));
    case 'vars':
      return (yield* variablesSeen(current, prefix, sees)).map(({ Path }) => Path);
    case 'volumes':
    case 'host_volumes':
    case 'plugins':
      return [];
  }
}

/** The names of the first objects of a context, for a substring search. */
function* namesIn(
  current: () => ReadView,
  context: SearchContext,
  sees: Sees,
): Steps<readonly (readonly FuzzyName[])[]> {
  switch (context) {
    case 'jobs':
      return (yield* jobsSeen(current, '', sees)).map(namesOfJob);
    case 'allocs': {
      const seen = yield* firstOf(pagesOf(current, allocations, byId), ({ Namespace, Name }) => sees(Namespace, Name));
      return seen.map(({ ID, Name, Namespace }) => [{ kind: 'allocs', name: Name, scope: [Namespace, ID] }]);
    }
    case 'nodes': {
      const seen = yield* firstOf(pagesOf(current, nodes, byId), ({ ID }) => sees('', ID));
      return seen.map(({ ID, Name }) => [{ kind: 'nodes', name: Name, scope: [ID] }]);
    }
    case 'node_pools':
      return poolsSeen(current(), '', sees).map((name) => [{ kind: 'node_pools', name, scope: [name] }]);
    case 'namespaces':
      return namespaceNames(current())
        .filter((name) => sees(name, name))
        .map((name) => [{ kind: 'namespaces', name, scope: [] }]);
    case 'vars':
      return (yield* variablesSeen(current, '', sees)).map(({ Namespace, Path }) => [
        { kind: 'vars', name: Path, scope: [Namespace, Path] },
      ]);
    case 'evals':
    case 'deployment':
    case 'scaling_policy':
    case 'volumes':
    case 'host_volumes':
    case 'plugins':
      return [];
  }
}

/** The maximum number of examined objects of one kind, plus one that shows that there are more. */
const enough = fuzzyLimits.objects + 1;
const readInStep = 32;
const byId = { size: readInStep, keyOf: ({ ID }: { readonly ID: string }) => [ID] as const };

/** The first visible records of pages. */
function* firstOf<T>(pages: Iterable<readonly T[]>, isSeen: (record: T) => boolean, before = 0): Steps<readonly T[]> {
  const seen: T[] = [];
  for (const page of pages) {
    seen.push(...page.filter(isSeen));
    if (before + seen.length >= enough) return seen.slice(0, enough - before);
    yield;
  }
  return seen;
}

function* jobsSeen(current: () => ReadView, prefix: string, sees: Sees): Steps<readonly Job[]> {
  const found: Job[] = [];
  for (const namespace of namespaceNames(current())) {
    if (!sees(namespace, '')) continue;
    const limit = enough - found.length;
    const rows = current().list(jobs, { prefix: [namespace], textPrefix: prefix, limit });
    found.push(...rows.map(({ record }) => record));
    if (found.length >= enough) return found;
    yield;
  }
  return found;
}

/** Index prefixes have whole bytes, so an odd last character is only compared. */
function* idsOf<R extends { readonly ID: string; readonly Namespace?: string }>(
  current: () => ReadView,
  table: Table<R>,
  prefix: string,
  sees: Sees,
): Steps<readonly string[]> {
  const pages = pagesOf(current, table, { ...byId, textPrefix: prefix.toLowerCase() });
  const isSeen = ({ Namespace = '', ID }: R): boolean => ID.startsWith(prefix) && sees(Namespace, ID);
  return (yield* firstOf(pages, isSeen)).map(({ ID }) => ID);
}

function poolsSeen(view: ReadView, prefix: string, sees: Sees): readonly string[] {
  return allNodePools(view, prefix)
    .map(({ Name }) => Name)
    .filter((name) => sees('', name));
}

function policiesSeen(view: ReadView, sees: Sees): readonly string[] {
  return view
    .list(jobs, { index: 'scaled' })
    .filter(({ record }) => sees(record.Namespace, record.ID))
    .flatMap(({ record }) => scalingPoliciesOf(record).map(({ ID }) => ID))
    .sort();
}

function* variablesSeen(current: () => ReadView, prefix: string, sees: Sees): Steps<readonly StoredVariable[]> {
  const found: StoredVariable[] = [];
  for (const namespace of namespaceNames(current())) {
    const keyOf = ({ Namespace, Path }: StoredVariable) => [Namespace, Path] as const;
    const pages = pagesOf(current, variables, { prefix: [namespace], textPrefix: prefix, size: readInStep, keyOf });
    found.push(...(yield* firstOf(pages, ({ Namespace, Path }) => sees(Namespace, Path), found.length)));
    if (found.length >= enough) return found;
  }
  return found;
}
