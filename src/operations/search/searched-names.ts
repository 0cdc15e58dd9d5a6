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
import type { Table } from '../../shared/table.js';
import { type StoredVariable, variables } from '../../variables/variable.js';
import { namespaceNames } from '../books/namespace-rows.js';
import { listNodePools as allNodePools } from '../books/node-pool-rows.js';

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

interface Named {
  readonly ID: string;
  readonly Namespace: string;
}

/** The names of a context that begin with a prefix, in their order. */
export function namesFrom(view: ReadView, context: SearchContext, prefix: string, sees: Sees): Iterable<string> {
  switch (context) {
    case 'jobs':
      return jobsSeen(view, prefix, sees).map(({ ID }) => ID);
    case 'allocs':
      return idsOf(view, allocations, prefix, sees);
    case 'evals':
      return idsOf(view, evaluations, prefix, sees);
    case 'deployment':
      return idsOf(view, deployments, prefix, sees);
    case 'nodes':
      return idsFrom(view, nodes, prefix).map(({ ID }) => ID);
    case 'node_pools':
      return poolsSeen(view, prefix, sees);
    case 'namespaces':
      return namespaceNames(view).filter((name) => name.startsWith(prefix) && sees(name, name));
    case 'scaling_policy':
      return policiesSeen(view, sees).filter((id) => id.startsWith(prefix.toLowerCase()));
    case 'vars':
      return variablesSeen(view, prefix, sees).map(({ Path }) => Path);
    case 'volumes':
    case 'host_volumes':
    case 'plugins':
      return [];
  }
}

/** The names of each object of a context, for a search that looks inside names. */
export function namesIn(view: ReadView, context: SearchContext, sees: Sees): Iterable<readonly FuzzyName[]> {
  switch (context) {
    case 'jobs':
      return jobsSeen(view, '', sees).map(namesOfJob);
    case 'allocs':
      return view
        .list(allocations)
        .filter(({ record }) => sees(record.Namespace, record.Name))
        .map(({ record: { ID, Name, Namespace } }) => [{ kind: 'allocs', name: Name, scope: [Namespace, ID] }]);
    case 'nodes':
      return view
        .list(nodes)
        .filter(({ record: { ID } }) => sees('', ID))
        .map(({ record: { ID, Name } }) => [{ kind: 'nodes', name: Name, scope: [ID] }]);
    case 'node_pools':
      return poolsSeen(view, '', sees).map((name) => [{ kind: 'node_pools', name, scope: [name] }]);
    case 'namespaces':
      return namespaceNames(view)
        .filter((name) => sees(name, name))
        .map((name) => [{ kind: 'namespaces', name, scope: [] }]);
    case 'vars':
      return variablesSeen(view, '', sees).map(({ Namespace, Path }) => [
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

/** Objects of one kind that a search looks at, and one more, which tells that it was cut. */
const enough = fuzzyLimits.objects + 1;

function jobsSeen(view: ReadView, prefix: string, sees: Sees): readonly Job[] {
  return namespaceNames(view)
    .filter((namespace) => sees(namespace, ''))
    .flatMap((namespace) => view.list(jobs, { prefix: [namespace], textPrefix: prefix, limit: enough }))
    .map(({ record }) => record);
}

function idsOf<R extends Named>(view: ReadView, table: Table<R>, prefix: string, sees: Sees): readonly string[] {
  return idsFrom(view, table, prefix)
    .filter(({ Namespace, ID }) => sees(Namespace, ID))
    .map(({ ID }) => ID);
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

function variablesSeen(view: ReadView, prefix: string, sees: Sees): readonly StoredVariable[] {
  return namespaceNames(view)
    .flatMap((namespace) => view.list(variables, { prefix: [namespace], textPrefix: prefix }))
    .map(({ record }) => record)
    .filter(({ Namespace, Path }) => sees(Namespace, Path));
}

/** Looked up by whole bytes, so that an odd last character is left to the comparison. */
function idsFrom<R extends { readonly ID: string }>(view: ReadView, table: Table<R>, prefix: string): readonly R[] {
  return view.list(table, { textPrefix: prefix.toLowerCase() }).map(({ record }) => record);
}
