import { annotateDiff } from '../../../src/jobs/diff/annotate-diff.js';
import { diffJobs } from '../../../src/jobs/diff/diff-jobs.js';
import type { JobDiff, TaskGroupDiff } from '../../../src/jobs/diff/job-diff.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Decision } from './world.js';

/** What a plan says beside its decision: the annotated difference of the jobs, and how many allocations it would preempt. */
export function toldDiff(before: Job | undefined, planned: Job, { result }: Decision): Record<string, unknown> {
  const annotations = result.evaluation.PlanAnnotations ?? null;
  const diff = diffJobs(before ?? null, planned, { contextual: true })._unsafeUnwrap();
  const preempted = annotations?.PreemptedAllocs?.length ?? 0;
  return {
    diff: told(annotateDiff(diff, annotations)),
    ...(preempted === 0 ? {} : { annotationPreempted: preempted }),
  };
}

function told({ Type, TaskGroups }: JobDiff): Record<string, unknown> {
  return { type: Type, groups: Object.fromEntries((TaskGroups ?? []).map((group) => [group.Name, toldGroup(group)])) };
}

function toldGroup({ Type, Fields, Tasks, Updates }: TaskGroupDiff): Record<string, unknown> {
  const annotated = (Fields ?? []).filter(({ Annotations }) => Annotations !== null);
  const tasks = (Tasks ?? []).filter(({ Type: type }) => type !== 'None');
  return {
    type: Type,
    ...Object.fromEntries(annotated.map(({ Name, Annotations }) => [`field ${Name}`, Annotations])),
    tasks: Object.fromEntries(tasks.map((task) => [task.Name, { type: task.Type, annotations: task.Annotations }])),
    updates: Updates ?? {},
  };
}
