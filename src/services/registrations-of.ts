import { filledService, serviceLookup, servicePort } from '../agent/environment/task-environment.js';
import type { Job } from '../jobs/document/job.js';
import type { Service } from '../jobs/document/service.js';
import type { Task } from '../jobs/document/task.js';
import type { TaskGroup } from '../jobs/document/task-group.js';
import type { Allocation } from '../scheduler/allocation.js';
import type { Node } from '../scheduler/node.js';
import type { ServiceRegistration } from './service-registration.js';

type ServingNode = Pick<Node, 'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta'>;

/** An allocation that may provide services. */
export interface Serving {
  readonly allocation: Allocation;
  /** The job in the allocation's version. */
  readonly job: Job;
  readonly group: TaskGroup;
  readonly node: ServingNode;
}

/** A registration before it is stored. */
export type NewRegistration = Omit<ServiceRegistration, 'CreateIndex' | 'ModifyIndex'>;

/**
 * The services that an allocation currently provides: those of its group while it runs and is to continue, those of a task while the
 * task runs.
 */
export function registrationsOf(serving: Serving): OfferedServices {
  const { allocation, group } = serving;
  if (!isServing(allocation)) return { ofGroup: [], ofTasks: [] };
  const running = group.Tasks.filter(({ Name }) => allocation.TaskStates?.[Name]?.State === 'running');
  return {
    ofGroup: registrations(serving, null),
    ofTasks: running.flatMap((task) => registrations(serving, task)),
  };
}

interface OfferedServices {
  readonly ofGroup: readonly NewRegistration[];
  readonly ofTasks: readonly NewRegistration[];
}

/** The services of a task; without a task, those of the group. */
function registrations(serving: Serving, task: Task | null): NewRegistration[] {
  const lookup = serviceLookup({ ...serving, task });
  return ((task ?? serving.group).Services ?? []).map((service) =>
    registration(filledService(service, lookup), task?.Name ?? null, serving),
  );
}

/** Whether an allocation's services may be listed. */
export function isServing({ DesiredStatus, ClientStatus }: Allocation): boolean {
  return DesiredStatus === 'run' && ClientStatus === 'running';
}

/** `task` is the service's task; null for a service of the group. */
function registration(service: Service, task: string | null, { allocation, node }: Serving): NewRegistration {
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
