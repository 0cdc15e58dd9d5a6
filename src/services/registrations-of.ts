import { servicePort } from '../agent/environment/service-port.js';
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
  const ofGroup = (group.Services ?? []).map((service) => registration(service, null, allocation, node));
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

/** `task` is the service's; null for one of the group. */
function registration(
  service: Service,
  task: string | null,
  allocation: Allocation,
  node: ServingNode,
): NewRegistration {
  const owner = task ?? `group-${allocation.TaskGroup}`;
  const ownAddress = node.Attributes['unique.network.ip-address'] ?? '127.0.0.1';
  const { address = ownAddress, port } = servicePort(allocation.AllocatedResources, task, service.PortLabel) ?? {
    port: 0,
  };
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
