import type { AllocationMetric } from '../allocation-metric.js';

/** Groups that a reason names; more are counted. */
const mostGroups = 5;

/** Why allocations found no node, on one line: the missing driver, the constraint, or the exhausted resource, by group. */
export function placementReason(failed: Readonly<Record<string, AllocationMetric>>): string {
  const groups = Object.entries(failed);
  const named = groups
    .slice(0, mostGroups)
    .map(([group, metric]) => `group ${JSON.stringify(group)}: ${reasonOf(metric)}`);
  const rest = groups.length - named.length;
  return [...named, ...(rest > 0 ? [`and ${rest} more groups`] : [])].join('; ');
}

function reasonOf(metric: AllocationMetric): string {
  const reasons = [
    ...counted(metric.ConstraintFiltered, (rule, nodes) => `${rule} (${nodes})`),
    ...counted(metric.ClassFiltered, (name, nodes) => `class ${JSON.stringify(name)} does not fit (${nodes})`),
    ...counted(metric.DimensionExhausted, (resource, nodes) => `${resource} exhausted on ${nodes}`),
  ];
  if (reasons.length > 0) return reasons.join(', ');
  if (metric.NodesExhausted > 0) return `no room on ${nodesText(metric.NodesExhausted)}`;
  return `no ready node in the pool ${JSON.stringify(metric.NodePool)} and the datacenters of the job`;
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
