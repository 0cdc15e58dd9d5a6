import { compareBytes } from '../../shared/values.js';
import type { DiffType, FieldDiff, ObjectDiff } from './job-diff.js';

/** The level of detail of a diff. */
export interface Detail {
  /** Nested objects list their unchanged fields, too. */
  readonly contextual: boolean;
  /** Includes changes that Nomad's diff omits, so that two different jobs never have the diff of two equal ones. */
  readonly complete: boolean;
}

/** The scalars of one side by name. */
export type Flat = ReadonlyMap<string, string>;

export const nothingFlat: Flat = new Map();

/**
 * The fields of both sides, sorted by name. Unchanged ones are listed only when `contextual`. An absent value is the empty
 * string, so zero and false count as values and an empty string does not.
 */
export function diffFields(old: Flat, next: Flat, contextual: boolean): FieldDiff[] {
  const fields: FieldDiff[] = [];
  const add = (Name: string, Old: string, New: string): void => {
    const Type = typeOfChange(Old, New);
    if (Type !== 'None' || contextual) fields.push({ Type, Name, Old, New, Annotations: null });
  };
  for (const [Name, Old] of old) add(Name, Old, next.get(Name) ?? '');
  for (const [Name, New] of next) if (!old.has(Name)) add(Name, '', New);
  return fields.length > 1 ? fields.sort(compareFields) : fields;
}

function typeOfChange(old: string, next: string): DiffType {
  if (old === next) return 'None';
  if (old === '') return 'Added';
  return next === '' ? 'Deleted' : 'Edited';
}

/** By name, then by both values: the fields of a list of strings all have one name. */
export function compareFields(a: FieldDiff, b: FieldDiff): number {
  return compareBytes(a.Name, b.Name) || compareBytes(a.Old, b.Old) || compareBytes(a.New, b.New);
}

/** The type of an object from those of its fields: edited when they differ, `None` when none changed. */
export function typeOfFields(fields: readonly FieldDiff[]): DiffType {
  let added = false;
  let deleted = false;
  for (const { Type } of fields) {
    if (Type === 'Edited') return 'Edited';
    if (Type === 'Added') added = true;
    if (Type === 'Deleted') deleted = true;
  }
  if (added && deleted) return 'Edited';
  if (added) return 'Added';
  return deleted ? 'Deleted' : 'None';
}

export function typeOfPresence(old: unknown, next: unknown): DiffType {
  if (old === null || old === undefined) return 'Added';
  return next === null || next === undefined ? 'Deleted' : 'Edited';
}

export function objectDiff(
  Type: DiffType,
  Name: string,
  fields: readonly FieldDiff[],
  objects: readonly ObjectDiff[] = [],
): ObjectDiff {
  return { Type, Name, Fields: listOrNull(fields), Objects: listOrNull(objects) };
}

export function listOrNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

/** Whether the object was added or removed, or names a value that changed. */
export function showsChange({ Type, Fields, Objects }: ObjectDiff): boolean {
  if (Type === 'Added' || Type === 'Deleted') return true;
  return Fields?.some((field) => field.Type !== 'None') === true || Objects?.some(showsChange) === true;
}
