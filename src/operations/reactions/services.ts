import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { nodes } from '../../scheduler/node.js';
import { isServing, type NewRegistration, registrationsOf, type Serving } from '../../services/registrations-of.js';
import { type ServiceRegistration, serviceRegistrations } from '../../services/service-registration.js';
import { readAllocationJob } from '../records/jobs/job-rows.js';
import type { Reaction } from './reaction.js';

/** Removes ending, ended and removed allocations from the catalogue. */
export const endedServicesReaction: Reaction = {
  tables: [allocations],
  react: (tx, changes) => {
    for (const { after, row } of changes.of(allocations)) {
      if (after !== undefined && isServing(after)) continue;
      for (const { Namespace, ServiceName, ID } of registrationsIn(tx, row.ID))
        tx.remove(serviceRegistrations, [Namespace, ServiceName, ID]);
    }
  },
};

/** The services of allocations whose nodes have reported a change. */
export const servicesReaction: Reaction = {
  tables: [allocations],
  react: (tx, changes) => {
    const reported = changes.of(allocations).flatMap(({ before, after }) => {
      if (before === undefined || after === undefined) return [];
      return before.AllocModifyIndex === after.AllocModifyIndex ? [after] : [];
    });
    if (reported.length > 0) registerServices(tx, reported);
  },
};

/** The services of groups come first: those of tasks have a separate, later index, as in Nomad. */
function registerServices(view: WriteView, changed: readonly Allocation[]): void {
  const changes = changed.map((allocation) => changesOf(view, allocation));
  for (const { Namespace, ServiceName, ID } of changes.flatMap(({ gone }) => gone))
    view.remove(serviceRegistrations, [Namespace, ServiceName, ID]);
  const [ofGroups, ofTasks] = [changes.flatMap(({ ofGroup }) => ofGroup), changes.flatMap(({ ofTasks }) => ofTasks)];
  for (const registration of ofGroups) putRegistration(view, registration);
  if (ofGroups.length > 0 && ofTasks.length > 0) view.nextIndex();
  for (const registration of ofTasks) putRegistration(view, registration);
}

interface Changed {
  readonly registration: NewRegistration;
  readonly before: ServiceRegistration | undefined;
}

interface Changes {
  readonly ofGroup: readonly Changed[];
  readonly ofTasks: readonly Changed[];
  readonly gone: readonly ServiceRegistration[];
}

function changesOf(view: WriteView, allocation: Allocation): Changes {
  const serving = servingOf(view, allocation);
  if (serving === undefined || !hasServices(serving.group)) return { ofGroup: [], ofTasks: [], gone: [] };
  const { ofGroup, ofTasks } = registrationsOf(serving);
  const known = new Map(registrationsIn(view, allocation.ID).map((record) => [record.ID, record]));
  const changed = (registration: NewRegistration): readonly Changed[] => {
    const before = known.get(registration.ID);
    known.delete(registration.ID);
    return before !== undefined && isSame(before, registration) ? [] : [{ registration, before }];
  };
  const offered = { ofGroup: ofGroup.flatMap(changed), ofTasks: ofTasks.flatMap(changed) };
  return { ...offered, gone: [...known.values()] };
}

function putRegistration(view: WriteView, { registration, before }: Changed): void {
  const CreateIndex = before?.CreateIndex ?? view.index;
  view.put(serviceRegistrations, { ...registration, CreateIndex, ModifyIndex: view.index });
}

function registrationsIn(view: WriteView, allocationId: string): ServiceRegistration[] {
  return view
    .list(serviceRegistrations, { index: 'by_allocation', prefix: [allocationId] })
    .map(({ record }) => record);
}

/** Undefined when the job's version, its group or the node is no longer kept. */
function servingOf(view: WriteView, allocation: Allocation): Serving | undefined {
  const job = readAllocationJob(view, allocation)?.record;
  const group = job?.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
  const node = view.get(nodes, [allocation.NodeID])?.record;
  return job === undefined || group === undefined || node === undefined ? undefined : { allocation, job, group, node };
}

function hasServices(group: TaskGroup): boolean {
  return (group.Services ?? []).length > 0 || group.Tasks.some((task) => (task.Services ?? []).length > 0);
}

function isSame(before: ServiceRegistration, after: NewRegistration): boolean {
  return (
    before.Address === after.Address &&
    before.Port === after.Port &&
    before.Tags.length === after.Tags.length &&
    before.Tags.every((tag, at) => tag === after.Tags[at])
  );
}
