import { equalValues } from '../../jobs/document/document-values.js';
import type { Job } from '../../jobs/document/job.js';
import type { NetworkResource, Port } from '../../jobs/document/network.js';
import type { ConsulBlock } from '../../jobs/document/policies.js';
import type { Resources } from '../../jobs/document/resources.js';
import type { Service } from '../../jobs/document/service.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { own } from '../../shared/values.js';

/**
 * Fields that a running task cannot take over: changing one replaces the allocation. The same holds for `Config`, whose options
 * only the driver can interpret: an absent option differs from an empty one.
 */
const taskFields = [
  'Driver',
  'User',
  'Env',
  'Artifacts',
  'Vault',
  'Secrets',
  'Templates',
  'CSIPluginConfig',
  'VolumeMounts',
  'Identity',
  'Identities',
] as const satisfies readonly (keyof Task)[];

const resourceFields = [
  'CPU',
  'Cores',
  'MemoryMB',
  'MemoryMaxMB',
  'SecretsMB',
  'Devices',
  'NUMA',
] as const satisfies readonly (keyof Resources)[];

/**
 * Whether allocations of the group's old version can be updated in place to the new one, as far as their tasks are concerned; whether
 * their node still suits is checked separately.
 */
export function keepsRunning(oldJob: Job, oldGroup: TaskGroup, newJob: Job, newGroup: TaskGroup): boolean {
  if (!sameGroupParts(oldGroup, newGroup)) return false;
  return newGroup.Tasks.every((task) => {
    const before = oldGroup.Tasks.find((candidate) => candidate.Name === task.Name);
    return (
      before !== undefined &&
      sameTask(before, task) &&
      sameValue(combinedMeta(oldJob, oldGroup, before), combinedMeta(newJob, newGroup, task))
    );
  });
}

/** The metadata that a task sees: the job's, overlaid by the group's, overlaid by its own. */
export function combinedMeta(job: Job, group: TaskGroup, task: Task): Readonly<Record<string, string>> {
  return { ...job.Meta, ...group.Meta, ...task.Meta };
}

/** Whether the groups differ only in how long an allocation may run. */
export function onlyDurationDiffers(before: TaskGroup, after: TaskGroup): boolean {
  return (
    before.MaxRunDuration !== after.MaxRunDuration &&
    sameValue({ ...before, MaxRunDuration: null }, { ...after, MaxRunDuration: null })
  );
}

function sameGroupParts(before: TaskGroup, after: TaskGroup): boolean {
  return (
    before.Tasks.length === after.Tasks.length &&
    sameValue(before.EphemeralDisk, after.EphemeralDisk) &&
    sameNetworks(before.Networks, after.Networks) &&
    sameValue(before.Volumes, after.Volumes) &&
    sameConsul(before.Consul, after.Consul) &&
    sameMeshes(before.Services, after.Services) &&
    before.RestartPolicy.RenderTemplates === after.RestartPolicy.RenderTemplates
  );
}

function sameTask(before: Task, after: Task): boolean {
  return (
    taskFields.every((field) => sameValue(before[field], after[field])) &&
    equalValues(before.Config ?? {}, after.Config ?? {}) &&
    resourceFields.every((field) => sameValue(before.Resources[field], after.Resources[field])) &&
    sameNetworks(before.Resources.Networks, after.Resources.Networks) &&
    sameConsul(before.Consul, after.Consul) &&
    before.LogConfig.Disabled === after.LogConfig.Disabled &&
    before.RestartPolicy.RenderTemplates === after.RestartPolicy.RenderTemplates
  );
}

/** In order, with the labels of their ports, and the values of static ones. */
function sameNetworks(before: readonly NetworkResource[] | null, after: readonly NetworkResource[] | null): boolean {
  return sameValue(before?.map(askedNetwork), after?.map(askedNetwork));
}

function askedNetwork({ Mode, Hostname, MBits, DNS, CNI, ReservedPorts, DynamicPorts }: NetworkResource) {
  const [reserved, dynamic] = [ReservedPorts?.map(askedPort), DynamicPorts?.map(askedPort)];
  return { Mode, Hostname, MBits, DNS, CNI, reserved, dynamic: dynamic?.map(({ Value: _value, ...port }) => port) };
}

function askedPort({ Label, Value, To, HostNetwork }: Port) {
  return { Label, Value, To, HostNetwork };
}

function sameConsul(before: ConsulBlock | null, after: ConsulBlock | null): boolean {
  if ((before?.Namespace ?? '') !== (after?.Namespace ?? '')) return false;
  if (before === null || after === null) return true;
  return before.Cluster === after.Cluster && before.Partition === after.Partition;
}

/** Services that are part of a service mesh, by name. */
function sameMeshes(before: readonly Service[] | null, after: readonly Service[] | null): boolean {
  return sameValue(meshesOf(before), meshesOf(after));
}

function meshesOf(services: readonly Service[] | null) {
  return Object.fromEntries(
    (services ?? []).flatMap(({ Name, Connect, PortLabel, Cluster }) => {
      if (Connect === null) return [];
      const { Native, Gateway, SidecarTask, SidecarService } = Connect;
      const sidecar = SidecarService === null ? null : { port: SidecarService.Port };
      return [[Name, { Native, Gateway, SidecarTask, sidecar, PortLabel, Cluster }]];
    }),
  );
}

/** Whether two JSON values are equal; null, an absent member and an empty list or map count as the same. */
function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isEmpty(left) || isEmpty(right)) return isEmpty(left) && isEmpty(right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  const leftFields = left as Record<string, unknown>;
  const rightFields = right as Record<string, unknown>;
  for (const name of names) {
    if (!sameValue(own(leftFields, name), own(rightFields, name))) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
