/*
 * The differences between two jobs (job interface, structured diff). Lists are null instead of empty, and every value is a
 * string: durations in nanoseconds, `true` and `false`, `nil` for an absent value of an optional field.
 */

/** The change of a part of the job, from the older side to the newer one. */
export type DiffType = 'None' | 'Added' | 'Deleted' | 'Edited';

/** One scalar, or one entry of a map or list: `Priority`, `Meta[team]`, `args[0]`. */
export interface FieldDiff {
  readonly Type: DiffType;
  /** For example `Priority`, `Meta[team]` or `args[0]`. */
  readonly Name: string;
  /** The old value; empty when absent. */
  readonly Old: string;
  /** The new value; empty when absent. */
  readonly New: string;
  /** What the change makes the scheduler do; null before `annotateDiff`. */
  readonly Annotations: readonly string[] | null;
}

/** A nested block: `Constraint`, `Service`, `Resources`. */
export interface ObjectDiff {
  readonly Type: DiffType;
  readonly Name: string;
  readonly Fields: readonly FieldDiff[] | null;
  readonly Objects: readonly ObjectDiff[] | null;
}

/** The differences in one task. */
export interface TaskDiff extends ObjectDiff {
  /** What the change makes the scheduler do; null before `annotateDiff`. */
  readonly Annotations: readonly string[] | null;
}

/** The differences in one group and its tasks. */
export interface TaskGroupDiff extends ObjectDiff {
  /** Every task of either side, in the order of their names. */
  readonly Tasks: readonly TaskDiff[] | null;
  /** How many allocations the change creates, destroys, updates…; null before `annotateDiff`. */
  readonly Updates: Readonly<Record<string, number>> | null;
}

/**
 * The differences between two versions of a job, or between the registered and a planned job. Lists without differences are
 * null.
 */
export interface JobDiff {
  readonly Type: DiffType;
  readonly ID: string;
  readonly Fields: readonly FieldDiff[] | null;
  readonly Objects: readonly ObjectDiff[] | null;
  /** Every group of either side, in the order of their names. */
  readonly TaskGroups: readonly TaskGroupDiff[] | null;
}
