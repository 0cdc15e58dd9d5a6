import type { Job } from '../../jobs/document/job.js';
import type { NetworkResource } from '../../jobs/document/network.js';
import type { Affinity, Constraint, Spread } from '../../jobs/document/placement.js';
import type { RequestedDevice, Resources } from '../../jobs/document/resources.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup, VolumeRequest } from '../../jobs/document/task-group.js';
import { type TaskNeed, taskNeeds } from '../../jobs/task-needs.js';
import { parseBoolean } from '../../shared/values.js';
import type { AllocatedResources, AllocatedTaskResources } from '../allocated-resources.js';
import { type Capacity, capacityOf } from '../cluster/capacity.js';

/** Whose allocations a rule counts: those of the whole job, or of the group that has the rule. */
type RuleScope = 'job' | 'group';

/** At most `limit` allocations on nodes that share a value of the attribute. */
export interface DistinctProperty {
  readonly scope: RuleScope;
  readonly attribute: string;
  /** Undefined when the job's value is not a number: no node is then feasible. */
  readonly limit: number | undefined;
  readonly limitText: string;
}

/** A request of one task, with the task's name. */
export interface TaskRequest<R> {
  readonly task: string;
  readonly request: R;
}

/** What one allocation of a group requires of a node. */
export interface GroupRequirements {
  readonly job: Job;
  readonly group: TaskGroup;
  /** Resources that are the same on every node: without ports, devices and reserved cores. */
  readonly resources: AllocatedResources;
  readonly capacity: Capacity;
  readonly drivers: readonly string[];
  /** Features that its tasks need besides drivers and resources. */
  readonly needs: readonly TaskNeed[];
  readonly jobConstraints: readonly Constraint[];
  /** Of the group, then of its tasks. */
  readonly groupConstraints: readonly Constraint[];
  /** The group's network; only the first counts. */
  readonly network: NetworkResource | undefined;
  readonly taskNetworks: readonly TaskRequest<NetworkResource>[];
  readonly volumes: readonly VolumeRequest[];
  readonly devices: readonly TaskRequest<RequestedDevice>[];
  /** Tasks that request whole cores, with the number of cores. */
  readonly cores: readonly TaskRequest<number>[];
  readonly distinctHosts: RuleScope | undefined;
  readonly distinctProperties: readonly DistinctProperty[];
  /** Of the job, the group and its tasks. */
  readonly affinities: readonly Affinity[];
  /** Of the group, then of the job. */
  readonly spreads: readonly Spread[];
}

/** Collects the requirements of the job, the group and its tasks. `oversubscription`: tasks may use memory up to their maximum. */
export function requirementsOf(job: Job, group: TaskGroup, oversubscription: boolean): GroupRequirements {
  const resources = resourcesOf(group, oversubscription);
  const constraints = job.Constraints ?? [];
  const groupConstraints = [...(group.Constraints ?? []), ...group.Tasks.flatMap((task) => task.Constraints ?? [])];
  return {
    job,
    group,
    resources,
    capacity: capacityOf(resources),
    drivers: [...new Set(group.Tasks.map((task) => task.Driver))],
    needs: [...new Set(group.Tasks.flatMap((task) => taskNeeds(task, group.Volumes)))],
    jobConstraints: constraints.filter(isAboutNode),
    groupConstraints: groupConstraints.filter(isAboutNode),
    network: group.Networks?.[0],
    taskNetworks: requestsOf(group, ({ Networks }) => (Networks ?? []).slice(0, 1)),
    volumes: Object.values(group.Volumes ?? {}),
    devices: requestsOf(group, ({ Devices }) => Devices ?? []),
    cores: requestsOf(group, ({ Cores }) => (Cores > 0 ? [Cores] : [])),
    distinctHosts: distinctHostsOf(constraints, groupConstraints),
    distinctProperties: [...distinctProperties(constraints, 'job'), ...distinctProperties(groupConstraints, 'group')],
    affinities: [
      ...(job.Affinities ?? []),
      ...(group.Affinities ?? []),
      ...group.Tasks.flatMap((task) => task.Affinities ?? []),
    ],
    spreads: [...(group.Spreads ?? []), ...(job.Spreads ?? [])],
  };
}

/** Whether the constraint checks a node alone, without the job's other allocations. */
function isAboutNode({ Operand }: Constraint): boolean {
  return Operand !== 'distinct_hosts' && Operand !== 'distinct_property';
}

function distinctHostsOf(job: readonly Constraint[], group: readonly Constraint[]): RuleScope | undefined {
  if (job.some(isDistinctHosts)) return 'job';
  return group.some(isDistinctHosts) ? 'group' : undefined;
}

/** True unless the value is a form of `false`. */
function isDistinctHosts({ Operand, RTarget }: Constraint): boolean {
  return Operand === 'distinct_hosts' && parseBoolean(RTarget) !== false;
}

function distinctProperties(constraints: readonly Constraint[], scope: RuleScope): DistinctProperty[] {
  return constraints
    .filter(({ Operand }) => Operand === 'distinct_property')
    .map(({ LTarget, RTarget }) => ({
      scope,
      attribute: LTarget,
      limit: RTarget === '' ? 1 : /^[0-9]+$/.test(RTarget) ? Number(RTarget) : undefined,
      limitText: RTarget,
    }));
}

function requestsOf<R>(group: TaskGroup, read: (resources: Resources) => readonly R[]): TaskRequest<R>[] {
  return group.Tasks.flatMap((task) => read(task.Resources).map((request) => ({ task: task.Name, request })));
}

function resourcesOf(group: TaskGroup, oversubscription: boolean): AllocatedResources {
  return {
    Tasks: Object.fromEntries(group.Tasks.map((task) => [task.Name, taskResources(task, oversubscription)])),
    TaskLifecycles: Object.fromEntries(group.Tasks.map((task) => [task.Name, task.Lifecycle])),
    Shared: { Networks: null, DiskMB: group.EphemeralDisk.SizeMB, Ports: null },
  };
}

function taskResources({ Resources: asked }: Task, oversubscription: boolean): AllocatedTaskResources {
  return {
    Cpu: { CpuShares: asked.Cores > 0 ? 0 : asked.CPU, ReservedCores: null },
    Memory: {
      MemoryMB: asked.MemoryMB + asked.SecretsMB,
      MemoryMaxMB: oversubscription ? asked.MemoryMaxMB : 0,
    },
    Networks: null,
    Devices: null,
  };
}
