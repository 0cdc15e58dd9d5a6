import type { AllocationMetric } from '../../../src/index.js';

type Failures = Readonly<Record<string, AllocationMetric>>;

/** The part of a job that the reasons of its failures are named with. */
export interface PlacedJob {
  readonly TaskGroups?:
    | readonly {
        readonly Name?: string | null;
        readonly Tasks?: readonly { readonly Driver?: string | null }[] | null;
      }[]
    | null;
}

/** Placement failures in lines: filtered nodes with the constraint or driver, exhausted resources, missing nodes. */
export function placementFailures(failed: Failures, job?: PlacedJob): string {
  return Object.entries(failed)
    .flatMap(([group, metric]) => [
      `Group "${group}": ${unplacedIn(metric)} unplaced`,
      ...reasonsOf(metric, driversOf(job, group)).map((reason) => `  * ${reason}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

/** The same in one line: `group "web" (2 unplaced): missing driver "docker" on 1 node`. */
export function placementFailuresInLine(failed: Failures, job?: PlacedJob): string {
  return Object.entries(failed)
    .map(([group, metric]) => {
      const reasons = reasonsOf(metric, driversOf(job, group)).join(', ');
      return `group "${group}" (${unplacedIn(metric)} unplaced)${reasons === '' ? '' : `: ${reasons}`}`;
    })
    .join('; ');
}

function unplacedIn({ CoalescedFailures }: AllocationMetric): number {
  return 1 + CoalescedFailures;
}

function driversOf(job: PlacedJob | undefined, group: string): readonly string[] {
  const tasks = job?.TaskGroups?.find(({ Name }) => Name === group)?.Tasks ?? [];
  return [...new Set(tasks.flatMap(({ Driver }) => (typeof Driver === 'string' && Driver !== '' ? [Driver] : [])))];
}

/** The key under which the scheduler counts nodes without the drivers of a group. */
const missingDrivers = 'missing drivers';

function reasonsOf(metric: AllocationMetric, drivers: readonly string[]): string[] {
  const reasons = [
    ...counted(metric.ClassFiltered, (name, nodes) => `class "${name}": filtered ${nodes}`),
    ...counted(metric.ConstraintFiltered, (name, nodes) =>
      name === missingDrivers && drivers.length > 0
        ? `${driversText(drivers)}: filtered ${nodes}`
        : `constraint "${name}": filtered ${nodes}`,
    ),
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
        : 'no node was evaluated',
    );
  }
  return reasons;
}

function driversText(drivers: readonly string[]): string {
  const names = drivers.map((name) => `"${name}"`).join(', ');
  return drivers.length === 1 ? `missing driver ${names}` : `missing drivers (the group needs ${names})`;
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
