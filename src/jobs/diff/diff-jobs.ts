import { err, ok, type Result } from 'neverthrow';
import { compareBytes } from '../../shared/text-values.js';
import { equalValues } from '../document/equal-values.js';
import type { Job } from '../document/job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { diffFields, nothingFlat } from './diff-fields.js';
import { listOrNull, type Part, typeOfPresence } from './diff-objects.js';
import type { Flatten, Item } from './flatten.js';
import { groupFields, groupParts } from './group-rules.js';
import type { DiffType, FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from './job-diff.js';
import { jobFields, jobParts } from './job-rules.js';
import { taskFields, taskParts } from './task-rules.js';

/** What a diff lists. */
export interface DiffOptions {
  /**
   * Whether a nested object lists its unchanged fields beside the changed ones; at the level of the job, its groups and its
   * tasks only changed fields are listed in any case. Plans and version lists are contextual.
   */
  readonly contextual?: boolean;
}

/** Only versions of one job can be compared. */
export interface DifferentJobs {
  readonly type: 'different_jobs';
  readonly message: string;
}

/**
 * What differs between two jobs in their stored form (job interface, structured diff); null stands for no job. Pure, and
 * linear in the size of both.
 */
export function diffJobs(
  old: Job | null,
  next: Job | null,
  { contextual = false }: DiffOptions = {},
): Result<JobDiff, DifferentJobs> {
  if (old !== null && next !== null && old.ID !== next.ID) {
    const ids = `${JSON.stringify(old.ID)} and ${JSON.stringify(next.ID)}`;
    return err({ type: 'different_jobs', message: `jobs with different IDs cannot be compared: ${ids}` });
  }
  return ok(jobDiff(old, next, contextual));
}

/** The same for jobs that are known to be versions of one. */
export function jobDiff(old: Job | null, next: Job | null, contextual: boolean): JobDiff {
  const ID = next?.ID ?? old?.ID ?? '';
  const fields = diffSides(jobFields, old, next);
  const objects = partsOf(jobParts, old, next, contextual);
  const groups = diffNamed(old?.TaskGroups, next?.TaskGroups, (left, right) => diffGroup(left, right, contextual));
  const isChanged = fields.length > 0 || [...objects, ...groups].some(({ Type }) => Type !== 'None');
  return {
    Type: old === null || next === null ? typeOfJob(old, next) : isChanged ? 'Edited' : 'None',
    ID,
    Fields: listOrNull(fields),
    Objects: listOrNull(objects),
    TaskGroups: listOrNull(groups),
  };
}

function typeOfJob(old: Job | null, next: Job | null): DiffType {
  return old === null && next === null ? 'None' : typeOfPresence(old, next);
}

function diffGroup(old: TaskGroup | null, next: TaskGroup | null, contextual: boolean): TaskGroupDiff {
  const Name = next?.Name ?? old?.Name ?? '';
  const isSame = equalValues(old, next);
  const tasks = diffNamed(old?.Tasks, next?.Tasks, (left, right) => diffTask(left, right, contextual));
  if (isSame) return { Type: 'None', Name, Fields: null, Objects: null, Tasks: listOrNull(tasks), Updates: null };
  return {
    Type: typeOfPresence(old, next),
    Name,
    Fields: listOrNull(groupFieldDiffs(old, next)),
    Objects: listOrNull(partsOf(groupParts, old, next, contextual)),
    Tasks: listOrNull(tasks),
    Updates: null,
  };
}

/** The delay before a stop, which may be absent, is compared only in a group that both sides have. */
function groupFieldDiffs(old: TaskGroup | null, next: TaskGroup | null): FieldDiff[] {
  const fields = diffSides(groupFields, old, next);
  if (old === null || next === null) return fields;
  const delay = diffFields(delayOf(old), delayOf(next), false);
  return [...fields, ...delay].sort((a, b) => compareBytes(a.Name, b.Name));
}

function delayOf({ ShutdownDelay }: TaskGroup): ReadonlyMap<string, string> {
  return new Map([['ShutdownDelay', ShutdownDelay === null ? '' : String(ShutdownDelay)]]);
}

function diffTask(old: Task | null, next: Task | null, contextual: boolean): TaskDiff {
  const Name = next?.Name ?? old?.Name ?? '';
  if (equalValues(old, next)) return { Type: 'None', Name, Fields: null, Objects: null, Annotations: null };
  return {
    Type: typeOfPresence(old, next),
    Name,
    Fields: listOrNull(diffSides(taskFields, old, next)),
    Objects: listOrNull(partsOf(taskParts, old, next, contextual)),
    Annotations: null,
  };
}

function diffSides(fields: Flatten, old: object | null, next: object | null): FieldDiff[] {
  return diffFields(
    old === null ? nothingFlat : fields(old as Item),
    next === null ? nothingFlat : fields(next as Item),
    false,
  );
}

function partsOf(parts: readonly Part[], old: object | null, next: object | null, contextual: boolean): ObjectDiff[] {
  return parts.flatMap((part) => part(old as Item | null, next as Item | null, contextual));
}

/** One diff for each name of either side, in the order of the names. */
function diffNamed<T extends { readonly Name: string }, D>(
  old: readonly T[] | undefined,
  next: readonly T[] | undefined,
  diff: (old: T | null, next: T | null) => D,
): D[] {
  const before = new Map((old ?? []).map((item) => [item.Name, item]));
  const after = new Map((next ?? []).map((item) => [item.Name, item]));
  const names = [...new Set([...before.keys(), ...after.keys()])].sort(compareBytes);
  return names.map((name) => diff(before.get(name) ?? null, after.get(name) ?? null));
}
