import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { taskNeeds } from '../../jobs/task-needs.js';
import type { Evaluation } from '../evaluation.js';
import { textHash } from '../text-hash.js';

/**
 * The names of an evaluation's requirements, one for each group that could not be placed. Equal names mean that a node which cannot take
 * one cannot take the other either, even for different jobs. A group whose placement depends on the rest of its job,
 * and a system job, which needs particular nodes, get names that no other job shares.
 */
export function requirementNames(job: Job | undefined, evaluation: Evaluation): readonly string[] {
  if (evaluation.Status !== 'blocked') return [];
  const { Namespace, JobID, NodeID = '' } = evaluation;
  const waiting = Object.keys(evaluation.FailedTGAllocs ?? {});
  const groups = (job?.TaskGroups ?? []).filter(({ Name }) => waiting.includes(Name));
  if (job === undefined || groups.length === 0 || job.Type === 'system' || job.Type === 'sysbatch') {
    return [nameOf([Namespace, JobID, NodeID])];
  }
  return [...new Set(groups.map((group) => requirementName(job, group)))];
}

function requirementName(job: Job, group: TaskGroup): string {
  return nameOf([
    dependsOnItsJob(job, group) ? [job.Namespace, job.ID, group.Name] : null,
    // Whether a job may preempt others depends on its type.
    job.Type,
    job.NodePool,
    job.Datacenters,
    job.Constraints,
    group.Constraints,
    group.Networks,
    group.Volumes,
    group.EphemeralDisk.SizeMB,
    group.Tasks.map((task) => [
      task.Driver,
      task.Lifecycle,
      task.Constraints,
      task.Resources,
      taskNeeds(task, group.Volumes),
    ]),
  ]);
}

/** Whether placement depends on the job's other allocations, or on which of its names are free. */
function dependsOnItsJob(job: Job, group: TaskGroup): boolean {
  if (Object.values(group.Volumes ?? {}).some((volume) => volume.PerAlloc)) return true;
  const constraints = [job.Constraints, group.Constraints, ...group.Tasks.map((task) => task.Constraints)].flat();
  return constraints.some((constraint) => constraint?.Operand.startsWith('distinct_'));
}

/** Fixed in length and without the last characters of Unicode, so that it can bound a key range. */
function nameOf(what: unknown): string {
  const text = JSON.stringify(what);
  return `${textHash(0x811c9dc5, text)}${textHash(0x9e3779b9, text)}`;
}
