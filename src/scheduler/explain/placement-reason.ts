import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { AllocationMetric } from '../allocation-metric.js';
import { hasDriver, missingDrivers } from '../feasibility/node-checks.js';
import type { Node } from '../node.js';

/** Groups named in a reason; further ones are only counted. */
const mostGroups = 5;

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
  const reasons = [
    ...counted(metric.ConstraintFiltered, (rule, nodes) => `${named(rule, drivers)} (${nodes})`),
    ...counted(metric.ClassFiltered, (name, nodes) => `class ${JSON.stringify(name)} does not fit (${nodes})`),
    ...counted(metric.DimensionExhausted, (resource, nodes) => `${resource} exhausted on ${nodes}`),
  ];
  if (reasons.length > 0) return reasons.join(', ');
  if (metric.NodesExhausted > 0) return `no room on ${nodesText(metric.NodesExhausted)}`;
  return `no ready node in the pool ${JSON.stringify(metric.NodePool)} and the datacenters of the job`;
}

function named(rule: string, drivers: readonly string[]): string {
  return rule === missingDrivers && drivers.length > 0
    ? `${rule} ${drivers.map((name) => JSON.stringify(name)).join(', ')}`
    : rule;
}

/** The group's drivers that at least one of the nodes lacks. */
export function driversMissing({ Tasks }: Pick<TaskGroup, 'Tasks'>, nodes: readonly Node[]): readonly string[] {
  const drivers = new Set(Tasks.map(({ Driver }) => Driver));
  return [...drivers].filter((driver) => nodes.some((node) => !hasDriver(node, driver)));
}

function counted(
  counters: Readonly<Record<string, number>> | null,
  text: (name: string, nodes: string) => string,
): string[] {
  return Object.entries(counters ?? {}).map(([name, count]) => text(name, nodesText(count)));
}

function nodesText(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}
