import { groupPorts } from '../agent/environment/port-variables.js';
import type { Service } from '../jobs/document/service.js';
import type { TaskGroup } from '../jobs/document/task-group.js';
import type { Allocation } from '../scheduler/allocation.js';
import type { Node } from '../scheduler/node.js';
import type { ServiceRegistration } from './service-registration.js';

export type ServingNode = Pick<Node, 'ID' | 'Datacenter' | 'Attributes'>;

/** A registration before it is stored. */
export type NewRegistration = Omit<ServiceRegistration, 'CreateIndex' | 'ModifyIndex'>;

/**
 * What an allocation offers at present: the services of its group while it runs and is to go on, those of a task while that
 * task runs.
 */
export function registrationsOf(
  allocation: Allocation,
  group: TaskGroup,
  node: ServingNode,
): readonly NewRegistration[] {
  if (!isServing(allocation)) return [];
  const ofGroup = (group.Services ?? []).map((service) =>
    registration(service, `group-${group.Name}`, allocation, node),
  );
  const ofTasks = group.Tasks.flatMap((task) =>
    allocation.TaskStates?.[task.Name]?.State === 'running'
      ? (task.Services ?? []).map((service) => registration(service, task.Name, allocation, node))
      : [],
  );
  return [...ofGroup, ...ofTasks];
}

/** Whether an allocation may be offered to anybody. */
export function isServing({ DesiredStatus, ClientStatus }: Allocation): boolean {
  return DesiredStatus === 'run' && ClientStatus === 'running';
}

function registration(service: Service, owner: string, allocation: Allocation, node: ServingNode): NewRegistration {
  const { address, port } = endpointOf(service, allocation, node);
  const isCanary = allocation.DeploymentStatus?.Canary === true && (service.CanaryTags ?? []).length > 0;
  return {
    ID: `_nomad-task-${allocation.ID}-${owner}-${service.Name}-${service.PortLabel}`,
    ServiceName: service.Name,
    Namespace: allocation.Namespace,
    NodeID: node.ID,
    Datacenter: node.Datacenter,
    JobID: allocation.JobID,
    AllocID: allocation.ID,
    Tags: (isCanary ? service.CanaryTags : service.Tags) ?? [],
    Address: service.Address === '' ? address : service.Address,
    Port: port,
  };
}

/** A port may be named by its label or written as a number. */
function endpointOf({ PortLabel }: Service, allocation: Allocation, node: ServingNode) {
  const ownAddress = node.Attributes['unique.network.ip-address'] ?? '127.0.0.1';
  const found = groupPorts(allocation.AllocatedResources.Shared).find(({ Label }) => Label === PortLabel);
  if (found !== undefined) return { address: found.HostIP ?? ownAddress, port: found.Value };
  return { address: ownAddress, port: /^\d{1,5}$/.test(PortLabel) ? Number(PortLabel) : 0 };
}
