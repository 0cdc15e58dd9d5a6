import type { Job } from '../../jobs/document/job.js';
import type { Constraint } from '../../jobs/document/placement.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { globMatches } from '../../shared/glob.js';
import type { AllocatedResources } from '../allocated-resources.js';
import { isReadyNode, type Node } from '../node.js';
import { type Capacity, capacityOf } from '../node-usage.js';
import { constraintText, firstUnmetConstraint, isDistinctHosts } from './constraints.js';

/** What one allocation of a group wants from a node. */
export interface PlacementAsk {
  readonly resources: AllocatedResources;
  readonly capacity: Capacity;
  readonly drivers: readonly string[];
  readonly constraints: readonly Constraint[];
  /** `job` and `group`: not on a node that already has an allocation of the job, or of the group. */
  readonly distinctHosts: 'none' | 'group' | 'job';
}

export function placementAsk(job: Job, group: TaskGroup): PlacementAsk {
  const jobConstraints = job.Constraints ?? [];
  const groupConstraints = group.Constraints ?? [];
  const resources = resourcesFor(group);
  return {
    resources,
    capacity: capacityOf(resources),
    drivers: [...new Set(group.Tasks.map((task) => task.Driver))],
    constraints: [...jobConstraints, ...groupConstraints, ...group.Tasks.flatMap((task) => task.Constraints ?? [])],
    distinctHosts: jobConstraints.some(isDistinctHosts)
      ? 'job'
      : groupConstraints.some(isDistinctHosts)
        ? 'group'
        : 'none',
  };
}

/** The nodes that a job may use at all: ready, in its pool and in one of its datacenters. */
export function candidateNodes(job: Job, nodes: readonly Node[]): Node[] {
  return nodes.filter(
    (node) =>
      isReadyNode(node) &&
      (job.NodePool === 'all' || node.NodePool === job.NodePool) &&
      job.Datacenters.some((datacenter) => globMatches(datacenter, node.Datacenter)),
  );
}

/** Why a node can never take the group; undefined when it can. The text is the key of the allocation metric. */
export function infeasibility(ask: PlacementAsk, node: Node): string | undefined {
  if (!ask.drivers.every((driver) => hasDriver(node, driver))) return 'missing drivers';
  const unmet = firstUnmetConstraint(ask.constraints, node);
  return unmet === undefined ? undefined : constraintText(unmet);
}

/** The first dimension that lacks room, in the order in which it is reported; undefined when the ask fits. */
export function lackingDimension(free: Capacity, ask: Capacity): 'cpu' | 'memory' | 'disk' | undefined {
  if (ask.cpu > free.cpu) return 'cpu';
  if (ask.memory > free.memory) return 'memory';
  return ask.disk > free.disk ? 'disk' : undefined;
}

/** What a node offers to allocations. */
export function nodeCapacity(node: Node): Capacity {
  const { NodeResources: all, ReservedResources: reserved } = node;
  return {
    cpu: all.Cpu.CpuShares - reserved.Cpu.CpuShares,
    memory: all.Memory.MemoryMB - reserved.Memory.MemoryMB,
    disk: all.Disk.DiskMB - reserved.Disk.DiskMB,
  };
}

function hasDriver(node: Node, name: string): boolean {
  const driver = Object.hasOwn(node.Drivers, name) ? node.Drivers[name] : undefined;
  return driver?.Detected === true && driver.Healthy;
}

function resourcesFor(group: TaskGroup): AllocatedResources {
  return {
    Tasks: Object.fromEntries(
      group.Tasks.map((task) => [
        task.Name,
        {
          Cpu: { CpuShares: task.Resources.CPU, ReservedCores: null },
          Memory: { MemoryMB: task.Resources.MemoryMB, MemoryMaxMB: 0 },
          Networks: null,
          Devices: null,
        },
      ]),
    ),
    TaskLifecycles: Object.fromEntries(group.Tasks.map((task) => [task.Name, task.Lifecycle])),
    Shared: { Networks: null, DiskMB: group.EphemeralDisk.SizeMB, Ports: null },
  };
}
