import { compareBytes } from '../../shared/text-values.js';
import { equalValues } from '../document/equal-values.js';
import { compareFields, diffFields, type Flat, nothingFlat, typeOfFields } from './diff-fields.js';
import { type Flatten, flattenFreeForm, type Item } from './flatten.js';
import type { DiffType, FieldDiff, ObjectDiff } from './job-diff.js';

/** How the diff of one kind of block is made. */
export interface ObjectRule {
  readonly name: string;
  readonly fields: Flatten;
  /**
   * `presence`: added or deleted when one side lacks the block, edited otherwise. `fields`: what its fields are, and no object
   * at all when none of them changed.
   */
  readonly type: 'presence' | 'fields';
  /** Only changed fields are listed, also in a contextual diff. */
  readonly neverContextual?: true;
  /** What an absent side is compared as, where that is not a block without any field. */
  readonly absent?: Item;
  readonly parts?: readonly Part[];
}

/** The diffs of what is nested in a block; a side that lacks the block is null. */
export type Part = (old: Item | null, next: Item | null, contextual: boolean) => readonly ObjectDiff[];

/** The diff of one block; undefined when both sides are the same. */
export function diffObject(
  rule: ObjectRule,
  old: Item | null,
  next: Item | null,
  contextual: boolean,
): ObjectDiff | undefined {
  if (equalValues(old, next)) return undefined;
  const isContextual = contextual && rule.neverContextual !== true;
  const fields = diffFields(flatOf(rule, old), flatOf(rule, next), isContextual);
  const Type = rule.type === 'presence' ? typeOfPresence(old, next) : typeOfFields(fields);
  if (rule.type === 'fields' && Type === 'None') return undefined;
  const objects = (rule.parts ?? []).flatMap((part) => part(old, next, contextual));
  return objectDiff(Type, rule.name, fields, objects);
}

function flatOf(rule: ObjectRule, item: Item | null): Flat {
  const side = item ?? rule.absent;
  return side === undefined ? nothingFlat : rule.fields(side);
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

// Parts: which field of the block they read, and how its elements are matched.

/** A nested block. */
export function one(field: string, rule: ObjectRule): Part {
  return (old, next, contextual) => present(diffObject(rule, itemAt(old, field), itemAt(next, field), contextual));
}

/** A list in which elements are the same when their whole content is: an edited one is deleted and added. */
export function byContent(field: string, rule: ObjectRule): Part {
  return keyed(field, rule, contentOf);
}

/** The whole content as a text, whatever the order of the keys. */
export function contentOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(contentOf).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${contentOf((value as Item)[key])}`).join(',')}}`;
}

/** A list in which elements are the same when they have the same value here. */
export function byField(field: string, key: string, rule: ObjectRule): Part {
  return keyed(field, rule, (item) => String(item[key] ?? ''));
}

/** A list in which elements are the same when the function gives the same text; of several such, the last one counts. */
export function keyed(field: string, rule: ObjectRule, keyOf: (item: Item) => string): Part {
  return (old, next, contextual) => diffKeyed(rule, listAt(old, field), listAt(next, field), { keyOf, contextual });
}

function diffKeyed(
  rule: ObjectRule,
  old: readonly Item[],
  next: readonly Item[],
  { keyOf, contextual }: { readonly keyOf: (item: Item) => string; readonly contextual: boolean },
): ObjectDiff[] {
  if (equalValues(old, next)) return [];
  const before = new Map(old.map((item) => [keyOf(item), item]));
  const after = new Map(next.map((item) => [keyOf(item), item]));
  const diffs: ObjectDiff[] = [];
  for (const [key, item] of before) diffs.push(...present(diffObject(rule, item, after.get(key) ?? null, contextual)));
  for (const [key, item] of after) {
    if (!before.has(key)) diffs.push(...present(diffObject(rule, null, item, contextual)));
  }
  return sortedObjects(diffs);
}

/** Blocks by their label. */
export function byLabel(field: string, rule: ObjectRule): Part {
  return (old, next, contextual) => {
    const before = itemAt(old, field) ?? {};
    const after = itemAt(next, field) ?? {};
    const labels = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(compareBytes);
    return labels.flatMap((label) =>
      present(diffObject(rule, itemAt(before, label), itemAt(after, label), contextual)),
    );
  };
}

/** A list in which the elements at the same position are the same. */
export function byPosition(field: string, rule: ObjectRule): Part {
  return (old, next, contextual) => {
    const before = listAt(old, field);
    const after = listAt(next, field);
    const length = Math.max(before.length, after.length);
    const diffs = Array.from({ length }, (_, at) =>
      diffObject(rule, before[at] ?? null, after[at] ?? null, contextual),
    );
    return sortedObjects(diffs.flatMap(present));
  };
}

/** A list of texts as a set: neither order nor repetition counts. `unchanged` lists one without a change as well. */
export function texts(field: string, unchanged: 'shown' | 'hidden' = 'shown'): Part {
  return (old, next, contextual) => {
    const diff = diffTexts(field, textsAt(old, field), textsAt(next, field), contextual);
    return diff === undefined || (diff.Type === 'None' && unchanged === 'hidden') ? [] : [diff];
  };
}

/** Equal values are included only in a contextual diff. */
function diffTexts(
  name: string,
  old: readonly string[],
  next: readonly string[],
  contextual: boolean,
): ObjectDiff | undefined {
  if (old.length === 0 && next.length === 0) return undefined;
  const before = new Set(old);
  const after = new Set(next);
  const fields: FieldDiff[] = [];
  for (const Old of before) {
    if (!after.has(Old)) fields.push({ Type: 'Deleted', Name: name, Old, New: '', Annotations: null });
    else if (contextual) fields.push({ Type: 'None', Name: name, Old, New: Old, Annotations: null });
  }
  for (const New of after) {
    if (!before.has(New)) fields.push({ Type: 'Added', Name: name, Old: '', New, Annotations: null });
  }
  if (fields.length === 0) return undefined;
  return objectDiff(typeOfFields(fields), name, fields.sort(compareFields));
}

/** A free-form block: added or deleted when one side has no entries. */
export function freeForm(field: string, neverContextual?: 'neverContextual'): Part {
  return (old, next, contextual) => {
    const before = itemAt(old, field);
    const after = itemAt(next, field);
    if (equalValues(before, after)) return [];
    const fields = diffFields(
      flattenFreeForm(before),
      flattenFreeForm(after),
      contextual && neverContextual === undefined,
    );
    return [objectDiff(typeOfEntries(before, after), field, fields)];
  };
}

/** A free-form block without entries counts as absent. */
export function typeOfEntries(old: Item | null, next: Item | null): DiffType {
  if (Object.keys(old ?? {}).length === 0) return 'Added';
  return Object.keys(next ?? {}).length === 0 ? 'Deleted' : 'Edited';
}

export function present<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

export function itemAt(item: Item | null, field: string): Item | null {
  return (item?.[field] ?? null) as Item | null;
}

export function listAt(item: Item | null, field: string): readonly Item[] {
  return (item?.[field] ?? []) as readonly Item[];
}

/** Numbers are compared as texts as well. */
function textsAt(item: Item | null, field: string): readonly string[] {
  return ((item?.[field] ?? []) as readonly unknown[]).map(String);
}

// The order of the objects of one kind.

export function sortedObjects(objects: ObjectDiff[]): ObjectDiff[] {
  return objects.sort(compareObjects);
}

const typeOrder: Readonly<Record<DiffType, number>> = { Edited: 0, Added: 1, Deleted: 2, None: 3 };

function compareObjects(a: ObjectDiff, b: ObjectDiff): number {
  return (
    compareBytes(a.Name, b.Name) ||
    typeOrder[a.Type] - typeOrder[b.Type] ||
    sizeOf(a.Fields) - sizeOf(b.Fields) ||
    sizeOf(a.Objects) - sizeOf(b.Objects) ||
    comparePairs(a.Fields, b.Fields, compareFields) ||
    comparePairs(a.Objects, b.Objects, compareObjects)
  );
}

function sizeOf(list: readonly unknown[] | null): number {
  return list?.length ?? 0;
}

function comparePairs<T>(a: readonly T[] | null, b: readonly T[] | null, compare: (a: T, b: T) => number): number {
  for (const [at, element] of (a ?? []).entries()) {
    const order = compare(element, b?.[at] as T);
    if (order !== 0) return order;
  }
  return 0;
}
