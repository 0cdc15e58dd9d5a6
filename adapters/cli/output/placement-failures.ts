import type { AllocationMetric } from '../../../src/scheduler/index.js';
import { inOneLine } from './tables.js';

type Failures = Readonly<Record<string, AllocationMetric>>;

type Optional<T> = { readonly [K in keyof T]?: T[K] | null };

/** The members of a stored or submitted job that the messages use. */
export interface PlacedJob {
  readonly TaskGroups?: readonly PlacedGroup[] | null;
}

type PlacedGroup = Optional<{
  readonly Name: string;
  readonly Tasks: readonly Optional<{
    readonly Driver: string;
    readonly Resources: Optional<{ readonly Devices: readonly Optional<{ readonly Name: string }>[] }>;
  }>[];
  readonly Volumes: Readonly<Record<string, Optional<{ readonly Source: string }>>>;
  readonly Networks: readonly Optional<{ readonly Mode: string }>[];
}>;

/** Placement failures in lines: filtered nodes with the constraint or driver, exhausted resources, missing nodes. */
export function placementFailures(failed: Failures, job?: PlacedJob): string {
  return Object.entries(failed)
    .flatMap(([group, metric]) => [
      `Group "${group}": ${unplacedIn(metric)} unplaced`,
      ...reasonsOf(metric, groupOf(job, group)).map((reason) => `  * ${reason}`),
    ])
    .map((line) => `${inOneLine(line)}\n`)
    .join('');
}

/** The same in one line: `group "web" (2 unplaced): missing driver "docker" on 1 node`. */
export function placementFailuresInLine(failed: Failures, job?: PlacedJob): string {
  return Object.entries(failed)
    .map(([group, metric]) => {
      const reasons = reasonsOf(metric, groupOf(job, group)).join(', ');
      return `group "${group}" (${unplacedIn(metric)} unplaced)${reasons === '' ? '' : `: ${reasons}`}`;
    })
    .join('; ');
}

function unplacedIn({ CoalescedFailures }: AllocationMetric): number {
  return 1 + CoalescedFailures;
}

/** Constraint names for missing node features, with the values that a group requires. */
const lacks: Readonly<Record<string, readonly [what: string, wanted: (group: PlacedGroup) => readonly unknown[]]>> = {
  'missing drivers': ['driver', ({ Tasks }) => (Tasks ?? []).map(({ Driver }) => Driver)],
  'missing devices': [
    'device',
    ({ Tasks }) => (Tasks ?? []).flatMap(({ Resources }) => (Resources?.Devices ?? []).map(({ Name }) => Name)),
  ],
  'missing compatible host volumes': [
    'host volume',
    ({ Volumes }) => Object.values(Volumes ?? {}).map(({ Source }) => Source),
  ],
  'missing network': ['network mode', ({ Networks }) => (Networks ?? []).map(({ Mode }) => Mode)],
};

/** `missing driver "docker"`; if several are required, `missing drivers (the group requires "docker", "java")`. */
function lackText(name: string, group: PlacedGroup | undefined): string | undefined {
  const [what, wanted] = (Object.hasOwn(lacks, name) ? lacks[name] : undefined) ?? [];
  if (what === undefined || wanted === undefined || group === undefined) return undefined;
  const names = [...new Set(wanted(group))].filter((each) => typeof each === 'string' && each !== '');
  if (names.length === 0) return undefined;
  const list = names.map((each) => `"${each}"`).join(', ');
  return names.length === 1 ? `missing ${what} ${list}` : `missing ${what}s (the group requires ${list})`;
}

function groupOf(job: PlacedJob | undefined, name: string): PlacedGroup | undefined {
  return job?.TaskGroups?.find(({ Name }) => Name === name);
}

function reasonsOf(metric: AllocationMetric, group: PlacedGroup | undefined): string[] {
  const reasons = [
    ...counted(metric.ClassFiltered, (name, nodes) => `class "${name}": filtered ${nodes}`),
    ...counted(
      metric.ConstraintFiltered,
      (name, nodes) => `${lackText(name, group) ?? `constraint "${name}"`}: filtered ${nodes}`,
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

function counted(
  counters: Readonly<Record<string, number>> | null,
  text: (name: string, nodes: string) => string,
): string[] {
  return Object.entries(counters ?? {}).map(([name, count]) => text(name, nodesText(count)));
}

function nodesText(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}
