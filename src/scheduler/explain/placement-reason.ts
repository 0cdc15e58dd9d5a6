import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { AllocationMetric } from '../allocation-metric.js';
import { hasDriver, missingDrivers } from '../feasibility/node-checks.js';
import type { Node } from '../node.js';

/** Groups named in a reason; further ones are only counted. */
const mostGroups = 5;

/** One cause of a failed placement. */
export interface PlacementCause {
  /**
   * `no_ready_node`: the pool has no ready node in the job's datacenters. `none_evaluated`: no node was evaluated for another reason.
   * `class` and `constraint`: nodes were filtered. `exhausted`, `class_exhausted` and `dimension`: nodes lack capacity. `quota`: a quota is used
   * up.
   */
  readonly kind:
    | 'no_ready_node'
    | 'none_evaluated'
    | 'class'
    | 'constraint'
    | 'exhausted'
    | 'class_exhausted'
    | 'dimension'
    | 'quota';
  /** The pool, class, constraint, resource or quota; empty for `none_evaluated` and `exhausted`. */
  readonly name: string;
  /** The number of nodes, such as `1 node`; empty for causes that are not about evaluated nodes. */
  readonly nodes: string;
}

/** The causes of a failed placement from its metric, for messages; the first ones decide. */
export function placementCauses(metric: AllocationMetric): readonly PlacementCause[] {
  return [
    ...causeOfNone(metric),
    ...counted('class', metric.ClassFiltered),
    ...counted('constraint', metric.ConstraintFiltered),
    ...(metric.NodesExhausted > 0
      ? [{ kind: 'exhausted', name: '', nodes: nodesText(metric.NodesExhausted) } as const]
      : []),
    ...counted('class_exhausted', metric.ClassExhausted),
    ...counted('dimension', metric.DimensionExhausted),
    ...(metric.QuotaExhausted ?? []).map((name) => ({ kind: 'quota', name, nodes: '' }) as const),
  ];
}

function causeOfNone({ NodesEvaluated, NodesAvailable, NodePool }: AllocationMetric): PlacementCause[] {
  if (NodesEvaluated !== 0) return [];
  return Object.keys(NodesAvailable ?? {}).length === 0
    ? [{ kind: 'no_ready_node', name: NodePool, nodes: '' }]
    : [{ kind: 'none_evaluated', name: '', nodes: '' }];
}

function counted(
  kind: PlacementCause['kind'],
  counters: Readonly<Record<string, number>> | null,
): readonly PlacementCause[] {
  return Object.entries(counters ?? {}).map(([name, count]) => ({ kind, name, nodes: nodesText(count) }));
}

function nodesText(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

/**
 * One line that says why allocations could not be placed: the missing driver, the constraint or the exhausted resource, by group. `missing`:
 * the drivers that a group needs and some node lacks, as metrics do not name them.
 */
export function placementReason(
  failed: Readonly<Record<string, AllocationMetric>>,
  missing: (group: string) => readonly string[] = () => [],
): string {
  const groups = Object.entries(failed);
  const named = groups
    .slice(0, mostGroups)
    .map(([group, metric]) => `group ${JSON.stringify(group)}: ${reasonOf(metric, missing(group))}`);
  const rest = groups.length - named.length;
  return [...named, ...(rest > 0 ? [`and ${rest} more groups`] : [])].join('; ');
}

function reasonOf(metric: AllocationMetric, drivers: readonly string[]): string {
  const causes = placementCauses(metric);
  const reasons = (['constraint', 'class', 'dimension'] as const).flatMap((wanted) =>
    causes.filter(({ kind }) => kind === wanted).map((cause) => phraseOf(cause, drivers)),
  );
  if (reasons.length > 0) return reasons.join(', ');
  const exhausted = causes.find(({ kind }) => kind === 'exhausted');
  if (exhausted !== undefined) return `no room on ${exhausted.nodes}`;
  return `no ready node in the pool ${JSON.stringify(metric.NodePool)} and the datacenters of the job`;
}

function phraseOf({ kind, name, nodes }: PlacementCause, drivers: readonly string[]): string {
  if (kind === 'class') return `class ${JSON.stringify(name)} does not fit (${nodes})`;
  if (kind === 'dimension') return `${name} exhausted on ${nodes}`;
  if (name !== missingDrivers || drivers.length === 0) return `${name} (${nodes})`;
  return `${name} ${drivers.map((driver) => JSON.stringify(driver)).join(', ')} (${nodes})`;
}

/** The group's drivers that at least one of the nodes lacks. */
export function driversMissing({ Tasks }: Pick<TaskGroup, 'Tasks'>, nodes: readonly Node[]): readonly string[] {
  const drivers = new Set(Tasks.map(({ Driver }) => Driver));
  return [...drivers].filter((driver) => nodes.some((node) => !hasDriver(node, driver)));
}
