import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { WriteView } from '../../ports/storage.js';
import type { Allocation } from '../../scheduler/allocation.js';
import { nodes } from '../../scheduler/node.js';
import { isServing, registrationsOf, type Serving } from '../../services/registrations-of.js';
import { type ServiceRegistration, serviceRegistrations } from '../../services/service-registration.js';
import { readAllocationJob } from './jobs/job-rows.js';

/** Brings the catalogue up to date with what an allocation offers. */
export function registerServices(view: WriteView, allocation: Allocation): void {
  const serving = servingOf(view, allocation);
  if (serving === undefined || !hasServices(serving.group)) return;
  const wanted = registrationsOf(serving);
  const known = new Map(registrationsIn(view, allocation.ID).map((record) => [record.ID, record]));
  for (const registration of wanted) {
    const before = known.get(registration.ID);
    known.delete(registration.ID);
    const CreateIndex = before?.CreateIndex ?? view.index;
    const same = before !== undefined && isSame(before, registration);
    if (!same) view.put(serviceRegistrations, { ...registration, CreateIndex, ModifyIndex: view.index });
  }
  for (const { Namespace, ServiceName, ID } of known.values())
    view.remove(serviceRegistrations, [Namespace, ServiceName, ID]);
}

/** Takes an allocation that is to end, or has ended, out of the catalogue. */
export function withdrawServices(view: WriteView, allocation: Allocation): void {
  if (isServing(allocation)) return;
  for (const { Namespace, ServiceName, ID } of registrationsIn(view, allocation.ID)) {
    view.remove(serviceRegistrations, [Namespace, ServiceName, ID]);
  }
}

function registrationsIn(view: WriteView, allocationId: string): ServiceRegistration[] {
  return view
    .list(serviceRegistrations, { index: 'by_allocation', prefix: [allocationId] })
    .map(({ record }) => record);
}

/** Undefined when the job's version, its group or the node is not kept any more. */
function servingOf(view: WriteView, allocation: Allocation): Serving | undefined {
  const job = readAllocationJob(view, allocation)?.record;
  const group = job?.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
  const node = view.get(nodes, [allocation.NodeID])?.record;
  return job === undefined || group === undefined || node === undefined ? undefined : { allocation, job, group, node };
}

function hasServices(group: TaskGroup): boolean {
  return (group.Services ?? []).length > 0 || group.Tasks.some((task) => (task.Services ?? []).length > 0);
}

function isSame(before: ServiceRegistration, after: Omit<ServiceRegistration, 'CreateIndex' | 'ModifyIndex'>): boolean {
  return (
    before.Address === after.Address &&
    before.Port === after.Port &&
    before.Tags.length === after.Tags.length &&
    before.Tags.every((tag, at) => tag === after.Tags[at])
  );
}
