import type { FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from './job-diff.js';

/** How many allocations of a group a plan creates, stops, changes and leaves unchanged (job interface, plan). */
export interface DesiredUpdates {
  readonly Ignore: number;
  readonly Place: number;
  readonly Migrate: number;
  readonly Stop: number;
  readonly InPlaceUpdate: number;
  readonly DestructiveUpdate: number;
  readonly Canary: number;
}

/** The scheduler's actions for a change. */
export interface PlanAnnotations {
  /** By name of the group. */
  readonly DesiredTGUpdates: Readonly<Record<string, Partial<DesiredUpdates>>> | null;
}

/**
 * The diff of a plan with the effects of each change (job interface, annotations): the counts of the groups, and
 * annotations such as `forces create` on counts and tasks. Without annotations the groups get no counts.
 */
export function annotateDiff(diff: JobDiff, annotations: PlanAnnotations | null): JobDiff {
  if (diff.TaskGroups === null) return diff;
  const updates = annotations?.DesiredTGUpdates ?? {};
  const ofGroup = (name: string): Partial<DesiredUpdates> | undefined =>
    Object.hasOwn(updates, name) ? updates[name] : undefined;
  return { ...diff, TaskGroups: diff.TaskGroups.map((group) => annotateGroup(group, ofGroup(group.Name))) };
}

function annotateGroup(group: TaskGroupDiff, counts: Partial<DesiredUpdates> | undefined): TaskGroupDiff {
  return {
    ...group,
    Fields: group.Fields?.map(annotateCount) ?? null,
    Tasks: group.Tasks?.map((task) => annotateTask(task, group)) ?? null,
    Updates: counts === undefined ? null : updatesFrom(counts),
  };
}

const labels = {
  Ignore: 'ignore',
  Place: 'create',
  Migrate: 'migrate',
  Stop: 'destroy',
  Canary: 'canary',
  InPlaceUpdate: 'in-place update',
  DestructiveUpdate: 'create/destroy update',
} as const satisfies Readonly<Record<keyof DesiredUpdates, string>>;

/** The non-zero counts, by the names that the diff uses. */
function updatesFrom(counts: Partial<DesiredUpdates>): Record<string, number> {
  const updates: Record<string, number> = {};
  for (const [counter, label] of Object.entries(labels)) {
    const count = counts[counter as keyof DesiredUpdates] ?? 0;
    if (count !== 0) updates[label] = count;
  }
  return updates;
}

function annotateCount(field: FieldDiff): FieldDiff {
  if (field.Name !== 'Count') return field;
  const change = Number(field.New) - Number(field.Old);
  if (change === 0) return field;
  return { ...field, Annotations: [change > 0 ? 'forces create' : 'forces destroy'] };
}

function annotateTask(task: TaskDiff, group: TaskGroupDiff): TaskDiff {
  if (task.Type === 'None') return task;
  const isOfNewGroup = group.Type === 'Added' || group.Type === 'Deleted';
  if (isOfNewGroup) {
    if (task.Type === 'Added') return { ...task, Annotations: ['forces create'] };
    if (task.Type === 'Deleted') return { ...task, Annotations: ['forces destroy'] };
  }
  return {
    ...task,
    Annotations: [isDestructive(task) ? 'forces create/destroy update' : 'forces in-place update'],
  };
}

const fieldsInPlace: ReadonlySet<string> = new Set(['KillTimeout']);
const objectsInPlace: ReadonlySet<string> = new Set([
  ...['Service', 'Constraint', 'Affinity', 'Spread', 'LogConfig'],
  // Nomad's diff omits these.
  ...['RestartPolicy', 'Lifecycle', 'ScalingPolicy'],
]);

/** Whether the running task must be replaced. Changes that the diff does not show replace nothing. */
function isDestructive(task: TaskDiff): boolean {
  if (task.Fields?.some(({ Name }) => !fieldsInPlace.has(Name)) === true) return true;
  return (
    task.Objects?.some(
      (object) => !objectsInPlace.has(object.Name) || togglesLogs(object) || rendersOnRestart(object),
    ) === true
  );
}

/** Log collection cannot be switched while the task runs; a contextual diff lists the field also when it did not change. */
function togglesLogs(object: ObjectDiff): boolean {
  return object.Name === 'LogConfig' && object.Fields?.some(({ Name }) => Name === 'Disabled') === true;
}

/** Rendering of templates at a restart cannot be switched while the task runs either. */
function rendersOnRestart({ Name, Fields }: ObjectDiff): boolean {
  return (
    Name === 'RestartPolicy' &&
    Fields?.some((field) => field.Name === 'RenderTemplates' && field.Type !== 'None') === true
  );
}
