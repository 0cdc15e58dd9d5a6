import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import { examinedPerStep, type Steps } from '../steps.js';
import type { GroupRequest } from './group-request.js';
import { keepsRunning, onlyDurationDiffers } from './same-tasks.js';
import { isCurrent } from './situation.js';

export type UpdateKind = 'ignore' | 'inPlace' | 'replace';

export interface SplitUpdates {
  readonly inPlace: readonly Allocation[];
  /** Allocations that cannot take over the change. */
  readonly replace: readonly Allocation[];
}

/** Divides allocations by how they reach the job's current version; those that run it already are ignored. Yields now and then. */
export function* splitUpdates(request: GroupRequest, allocations: readonly Allocation[]): Steps<SplitUpdates> {
  const { intents, group } = request;
  const desired = intents.desired(group.Name);
  const inPlace: Allocation[] = [];
  const replace: Allocation[] = [];
  const classify = updateClassifier(request);
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    const kind = classify(allocation);
    if (kind === 'ignore') desired.Ignore += 1;
    else if (kind === 'inPlace') inPlace.push(allocation);
    else replace.push(allocation);
  }
  for (const allocation of inPlace) intents.inPlace.push({ allocation, group });
  desired.InPlaceUpdate += inPlace.length;
  return { inPlace, replace };
}

/** Returns a function that decides how an allocation reaches the job's current version. Each version is compared once. */
export function updateClassifier({
  job,
  group,
  situation,
  canStay,
}: Pick<GroupRequest, 'job' | 'group' | 'situation' | 'canStay'>): (allocation: Allocation) => UpdateKind {
  const compared = new Map<Job, Comparison>();
  return (allocation) => {
    if (isCurrent(allocation, job)) return 'ignore';
    const before = situation.jobOf(allocation);
    if (before === undefined) return 'replace';
    let comparison = compared.get(before);
    if (comparison === undefined) {
      comparison = compare(before, job, group);
      compared.set(before, comparison);
    }
    if (comparison === 'replace') return 'replace';
    if (isTerminalAllocation(allocation)) return 'ignore';
    return comparison === 'inPlace' || canStay(allocation, group) ? 'inPlace' : 'replace';
  };
}

/** `ifSuitable`: depends on whether the node still suits. */
type Comparison = 'replace' | 'inPlace' | 'ifSuitable';

function compare(before: Job, job: Job, group: TaskGroup): Comparison {
  const oldGroup = before.TaskGroups.find(({ Name }) => Name === group.Name);
  if (oldGroup === undefined || !keepsRunning(before, oldGroup, job, group)) return 'replace';
  return job.Type === 'batch' && onlyDurationDiffers(oldGroup, group) ? 'inPlace' : 'ifSuitable';
}
