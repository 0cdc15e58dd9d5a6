import type { AllocationMetric } from '../../../src/index.js';

/** Placement failures in lines: filtered nodes, exhausted resources, missing nodes. */
export function placementFailures(failed: Readonly<Record<string, AllocationMetric>>): string {
  return Object.entries(failed)
    .flatMap(([group, metric]) => [
      `Group "${group}": ${1 + metric.CoalescedFailures} unplaced`,
      ...reasonsOf(metric).map((reason) => `  * ${reason}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function reasonsOf(metric: AllocationMetric): string[] {
  const reasons = [
    ...counted(metric.ClassFiltered, (name, nodes) => `class "${name}": filtered ${nodes}`),
    ...counted(metric.ConstraintFiltered, (name, nodes) => `constraint "${name}": filtered ${nodes}`),
    ...(metric.NodesExhausted > 0 ? [`resources exhausted on ${nodesText(metric.NodesExhausted)}`] : []),
    ...counted(metric.ClassExhausted, (name, nodes) => `class "${name}": exhausted on ${nodes}`),
    ...counted(metric.DimensionExhausted, (name, nodes) => `dimension "${name}": exhausted on ${nodes}`),
    ...(metric.QuotaExhausted ?? []).map((name) => `quota "${name}" is used up`),
  ];
  if (metric.NodesEvaluated === 0) {
    const places = Object.keys(metric.NodesAvailable ?? {});
    reasons.unshift(
      places.length === 0
        ? `no ready node in the pool "${metric.NodePool}" and the job's datacenters`
        : 'no node was looked at',
    );
  }
  return reasons;
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
