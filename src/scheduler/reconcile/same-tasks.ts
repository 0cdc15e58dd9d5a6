import type { Job } from '../../jobs/document/job.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';

/** Task fields that a running task cannot take over: a change of one replaces the allocation. */
const destructiveTaskFields = [
  'Driver',
  'User',
  'Config',
  'Env',
  'Artifacts',
  'Vault',
  'Secrets',
  'Consul',
  'Templates',
  'CSIPluginConfig',
  'VolumeMounts',
  'Identity',
  'Identities',
] as const satisfies readonly (keyof Task)[];

/** Whether allocations of the old version of a group can go on under the new version. */
export function keepsRunning(oldJob: Job, oldGroup: TaskGroup, newJob: Job, newGroup: TaskGroup): boolean {
  if (oldGroup.Tasks.length !== newGroup.Tasks.length) return false;
  if (!sameValue(oldGroup.EphemeralDisk, newGroup.EphemeralDisk)) return false;
  if (!sameValue(oldGroup.Networks, newGroup.Networks) || !sameValue(oldGroup.Volumes, newGroup.Volumes)) return false;
  return newGroup.Tasks.every((task) => {
    const before = oldGroup.Tasks.find((candidate) => candidate.Name === task.Name);
    return (
      before !== undefined &&
      destructiveTaskFields.every((field) => sameValue(before[field], task[field])) &&
      sameValue(before.Resources, task.Resources) &&
      before.LogConfig.Disabled === task.LogConfig.Disabled &&
      sameValue(combinedMeta(oldJob, oldGroup, before), combinedMeta(newJob, newGroup, task))
    );
  });
}

/** The meta that a task sees: the job's, overlaid by the group's, overlaid by its own. */
export function combinedMeta(job: Job, group: TaskGroup, task: Task): Readonly<Record<string, string>> {
  return { ...job.Meta, ...group.Meta, ...task.Meta };
}

/** Equal JSON values; null, an absent member and an empty list or map mean the same here. */
function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isEmpty(left) || isEmpty(right)) return isEmpty(left) && isEmpty(right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  const leftFields = left as Record<string, unknown>;
  const rightFields = right as Record<string, unknown>;
  for (const name of names) {
    if (!sameValue(leftFields[name], rightFields[name])) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
