/*
 * What differs between two jobs (job interface, structured diff). Lists are null instead of empty, and every value is a
 * text: durations in nanoseconds, `true` and `false`, `nil` for an absent value of an optional field.
 */

/** The change of a part of the job, from the older side to the newer one. */
export type DiffType = 'None' | 'Added' | 'Deleted' | 'Edited';

/** One scalar, or one entry of a map or list: `Priority`, `Meta[team]`, `args[0]`. */
export interface FieldDiff {
  readonly Type: DiffType;
  /** For example `Priority`, `Meta[team]` or `args[0]`. */
  readonly Name: string;
  /** Empty where the old side has no such value. */
  readonly Old: string;
  /** Empty where the new side has no such value. */
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

/** What differs in one task. */
export interface TaskDiff extends ObjectDiff {
  /** What the change makes the scheduler do; null before `annotateDiff`. */
  readonly Annotations: readonly string[] | null;
}

/** What differs in one group, with its tasks. */
export interface TaskGroupDiff extends ObjectDiff {
  /** Every task of either side, in the order of their names. */
  readonly Tasks: readonly TaskDiff[] | null;
  /** How many allocations the change creates, destroys, updates…; null before `annotateDiff`. */
  readonly Updates: Readonly<Record<string, number>> | null;
}

/**
 * What differs between two versions of a job, or between the registered job and one that is planned. Lists are null where nothing
 * differs.
 */
export interface JobDiff {
  readonly Type: DiffType;
  readonly ID: string;
  readonly Fields: readonly FieldDiff[] | null;
  readonly Objects: readonly ObjectDiff[] | null;
  /** Every group of either side, in the order of their names. */
  readonly TaskGroups: readonly TaskGroupDiff[] | null;
}
