import { err, ok, type Result } from 'neverthrow';
import { compareBytes } from '../../shared/values.js';
import { equalValues } from '../document/document-values.js';
import type { Job } from '../document/job.js';
import { updateBlock } from '../document/policies.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import {
  compareFields,
  type Detail,
  diffFields,
  type Item,
  listOrNull,
  objectDiff,
  orderChange,
  scalarsOf,
  typeOfPresence,
} from './diff-fields.js';
import { type BlockRule, changesOf } from './diff-objects.js';
import type { FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from './job-diff.js';
import { delays, groupRule, inheritingTaskRule, jobRule, taskRule } from './rules.js';

/** The level of detail of a diff. */
export interface DiffOptions {
  /**
   * Whether a nested object lists its unchanged fields beside the changed ones; at the level of the job, its groups and its
   * tasks only changed fields are listed in any case. Plans and version lists are contextual.
   */
  readonly contextual?: boolean;
  /**
   * Whether changes are listed that Nomad's diff omits, such as those of `spread`, `lifecycle` and a task's `restart`, so that only equal
   * jobs have a diff of the type `None`. Plans and version lists are complete.
   */
  readonly complete?: boolean;
}

/** Only versions of one job can be compared. */
export interface DifferentJobs {
  readonly type: 'different_jobs';
  readonly message: string;
}

/**
 * The differences between two jobs in their stored form (job interface, structured diff); null stands for no job. Pure, and
 * linear in the size of both.
 */
export function diffJobs(
  old: Job | null,
  next: Job | null,
  { contextual = false, complete = false }: DiffOptions = {},
): Result<JobDiff, DifferentJobs> {
  if (old !== null && next !== null && old.ID !== next.ID) {
    const ids = `${JSON.stringify(old.ID)} and ${JSON.stringify(next.ID)}`;
    return err({ type: 'different_jobs', message: `jobs with different IDs cannot be compared: ${ids}` });
  }
  return ok(jobDiff(old, next, { contextual, complete }));
}

/** The same for jobs that are certainly versions of one job. */
export function jobDiff(old: Job | null, next: Job | null, detail: Detail): JobDiff {
  const ID = next?.ID ?? old?.ID ?? '';
  const { fields, objects: ofJob } = changesOf(jobRule, itemOf(old), itemOf(next), detail);
  const groups = diffNamed(old?.TaskGroups, next?.TaskGroups, (left, right) => diffGroup(left, right, detail));
  const objects = detail.complete ? [...ofJob, ...changesAcrossGroups(old, next, groups)] : ofJob;
  const isChanged = fields.length > 0 || [...objects, ...groups].some(({ Type }) => Type !== 'None');
  return {
    Type: isChanged ? typeOfPresence(old, next) : 'None',
    ID,
    Fields: listOrNull(fields),
    Objects: listOrNull(objects),
    TaskGroups: listOrNull(groups),
  };
}

/** The order of the groups, and changes of the inherited update policy that no group shows. */
function changesAcrossGroups(old: Job | null, next: Job | null, groups: readonly TaskGroupDiff[]): ObjectDiff[] {
  if (old === null || next === null) return [];
  const order = changedOrder('TaskGroups', old.TaskGroups, next.TaskGroups);
  const shown = groups.flatMap(({ Objects }) => (Objects ?? []).filter(({ Name }) => Name === 'Update'));
  const inGroups = shown.flatMap(({ Fields }) => Fields ?? []);
  // A group shows its complete policy when it is added or removed.
  if (inGroups.some(({ Name, Type }) => Name === 'MaxParallel' && (Type === 'Added' || Type === 'Deleted')))
    return order;
  const changed = diffFields(updateScalars({ ...old.Update }), updateScalars({ ...next.Update }), false);
  const fields = changed.filter((field) => !inGroups.some((other) => isSameChange(field, other)));
  return fields.length === 0 ? order : [objectDiff('Edited', 'Update', fields), ...order];
}

const updateScalars = scalarsOf(updateBlock);

function isSameChange(a: FieldDiff, b: FieldDiff): boolean {
  return a.Name === b.Name && a.Old === b.Old && a.New === b.New;
}

/** The order of groups or tasks, if both sides have the same names. */
function changedOrder(name: string, old: readonly Named[] = [], next: readonly Named[] = []): ObjectDiff[] {
  const names = new Set(old.map(({ Name }) => Name));
  const isSameSet = old.length === next.length && next.every(({ Name }) => names.has(Name));
  if (!isSameSet || next.every(({ Name }, at) => Name === old[at]?.Name)) return [];
  return [orderChange(name, [...old], [...next])];
}

function diffGroup(old: TaskGroup | null, next: TaskGroup | null, detail: Detail): TaskGroupDiff {
  const Name = next?.Name ?? old?.Name ?? '';
  const tasks = diffNamed(old?.Tasks, next?.Tasks, (left, right) => {
    const inherits = inheritsRestarts(left, old) && inheritsRestarts(right, next);
    return diffTask(inherits ? inheritingTaskRule : taskRule, left, right, detail);
  });
  if (equalValues(old, next)) {
    return { Type: 'None', Name, Fields: null, Objects: null, Tasks: listOrNull(tasks), Updates: null };
  }
  const { fields, objects } = changesOf(groupRule, itemOf(old), itemOf(next), detail);
  const order = detail.complete ? changedOrder('Tasks', old?.Tasks, next?.Tasks) : [];
  return {
    Type: typeOfPresence(old, next),
    Name,
    Fields: listOrNull([...fields, ...delayDiffs(old, next, detail)].sort(compareFields)),
    Objects: listOrNull([...objects, ...order]),
    Tasks: listOrNull(tasks),
    Updates: null,
  };
}

/** The diff of the group shows the change. */
function inheritsRestarts(task: Task | null, group: TaskGroup | null): boolean {
  return task === null || equalValues(task.RestartPolicy, group?.RestartPolicy);
}

/** Nomad's diff shows the shutdown delay only in a group that both sides have. */
function delayDiffs(old: TaskGroup | null, next: TaskGroup | null, { complete }: Detail): FieldDiff[] {
  if (!complete && (old === null || next === null)) return [];
  const names = complete ? delays : (['ShutdownDelay'] as const);
  const flat = (group: TaskGroup | null) => new Map(names.map((name) => [name, String(group?.[name] ?? '')]));
  return diffFields(flat(old), flat(next), false);
}

function diffTask(rule: BlockRule, old: Task | null, next: Task | null, detail: Detail): TaskDiff {
  const Name = next?.Name ?? old?.Name ?? '';
  if (equalValues(old, next)) return { Type: 'None', Name, Fields: null, Objects: null, Annotations: null };
  const { fields, objects } = changesOf(rule, itemOf(old), itemOf(next), detail);
  return {
    Type: typeOfPresence(old, next),
    Name,
    Fields: listOrNull(fields),
    Objects: listOrNull(objects),
    Annotations: null,
  };
}

function itemOf(block: object | null): Item | null {
  return block as Item | null;
}

interface Named {
  readonly Name: string;
}

/** One diff for each name of either side, sorted by name. */
function diffNamed<T extends Named, D>(
  old: readonly T[] | undefined,
  next: readonly T[] | undefined,
  diff: (old: T | null, next: T | null) => D,
): D[] {
  const before = new Map((old ?? []).map((item) => [item.Name, item]));
  const after = new Map((next ?? []).map((item) => [item.Name, item]));
  const names = [...new Set([...before.keys(), ...after.keys()])].sort(compareBytes);
  return names.map((name) => diff(before.get(name) ?? null, after.get(name) ?? null));
}

/** How the versions of a job are compared: each with the previous one, or all with one. */
export type VersionBase =
  | { readonly by: 'predecessor' }
  | { readonly by: 'version'; readonly version: number }
  /** The version that has this tag. */
  | { readonly by: 'tag'; readonly tag: string };

/** The version to compare with does not exist or is no longer kept. */
export interface VersionBaseNotFound {
  readonly type: 'version_base_not_found';
  readonly message: string;
}

/**
 * The contextual diffs of a job's versions, which come newest first (job interface, versions). Compared with their
 * previous versions there is one diff fewer than versions; compared with one version there is one for each, that of the base
 * with the type `None`.
 */
export function diffVersions(versions: readonly Job[], base: VersionBase): Result<JobDiff[], VersionBaseNotFound> {
  return baseOf(versions, base).map((from) =>
    from === undefined
      ? versions.slice(0, -1).map((next, at) => versionDiff(versions[at + 1] ?? next, next))
      : versions.map((next) => versionDiff(from, next)),
  );
}

/** Submitter and tag of a version are not part of the job, so they are not compared. */
function versionDiff(from: Job, next: Job): JobDiff {
  const { NomadTokenID, VersionTag } = next;
  return jobDiff({ ...from, NomadTokenID, VersionTag }, next, { contextual: true, complete: true });
}

/** The version that all are compared with; undefined for comparisons with the previous version, and without versions. */
export function baseOf(versions: readonly Job[], base: VersionBase): Result<Job | undefined, VersionBaseNotFound> {
  if (base.by === 'predecessor' || versions.length === 0) return ok(undefined);
  const from = versions.find((job) =>
    base.by === 'tag' ? job.VersionTag?.Name === base.tag : job.Version === base.version,
  );
  return from === undefined ? err(notFound(base)) : ok(from);
}

function notFound(base: Exclude<VersionBase, { by: 'predecessor' }>): VersionBaseNotFound {
  const message = base.by === 'tag' ? `tag ${JSON.stringify(base.tag)} not found` : `version ${base.version} not found`;
  return { type: 'version_base_not_found', message };
}
