import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import { namespaces } from '../../jobs/namespaces/namespace.js';
import { scalingPoliciesOf } from '../../jobs/scaling/scaling-policies.js';
import type { ReadView, TableName } from '../../ports/storage.js';
import { type FuzzyName, fuzzyLimits } from '../../queries/search/fuzzy-search.js';
import { namesOfJob } from '../../queries/search/job-names.js';
import type { SearchContext } from '../../queries/search/search-context.js';
import { allocations } from '../../scheduler/allocation.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { nodePools } from '../../scheduler/node-pool.js';
import type { Steps } from '../../scheduler/steps.js';
import type { Table } from '../../shared/table.js';
import { type StoredVariable, variables } from '../../variables/variable.js';
import { namespaceNames } from '../records/namespace-rows.js';
import { listNodePools as allNodePools } from '../records/node-pool-rows.js';
import { pagesOf } from '../records/pages.js';

/** Whether a caller sees what is in a namespace, among those that were asked for; of variables and node pools the name counts too. */
export type Sees = (namespace: string, name: string) => boolean;

/** The table that a context is searched in; contexts without one are always empty. */
export const contextTables: Readonly<Partial<Record<SearchContext, TableName>>> = {
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
export function* namesFrom(
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
export function* namesIn(
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
