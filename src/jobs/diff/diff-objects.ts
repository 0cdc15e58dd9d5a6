import { compareBytes, isRecord } from '../../shared/values.js';
import { equalValues } from '../document/document-values.js';
import {
  type Changes,
  compareFields,
  contentOf,
  type Detail,
  diffFields,
  type Flat,
  type Flatten,
  flattenFreeForm,
  type Item,
  nothingFlat,
  objectDiff,
  omittedChanges,
  showsChange,
  typeOfFields,
  typeOfPresence,
} from './diff-fields.js';
import type { DiffType, FieldDiff, ObjectDiff } from './job-diff.js';

/** How one kind of block is compared. */
export interface BlockRule {
  readonly fields: Flatten;
  /** Lists only changed fields, even in a contextual diff. */
  readonly neverContextual?: true;
  /** The substitute for an absent side, if it is not a block without fields. */
  readonly absent?: Item;
  /** Fields that are never compared, because the server sets them. */
  readonly ignored?: readonly string[];
  /** Fields with a default, which are compared only if both sides have the block. */
  readonly filled?: readonly string[];
  readonly parts?: readonly Part[];
}

/** How the diff of one kind of block is built. */
export interface ObjectRule extends BlockRule {
  readonly name: string;
  /**
   * `presence`: added or deleted when one side lacks the block, edited otherwise. `fields`: derived from its fields; no object
   * when none of them changed.
   */
  readonly type: 'presence' | 'fields';
}

export function presenceRule(name: string, fields: Flatten, parts: readonly Part[] = []): ObjectRule {
  return { name, type: 'presence', fields, parts };
}

export function fieldsRule(name: string, fields: Flatten, parts: readonly Part[] = []): ObjectRule {
  return { name, type: 'fields', fields, parts };
}

/** The diffs of the blocks nested in a block; a side that lacks the block is null. */
export type DiffPart = (old: Item | null, next: Item | null, detail: Detail) => readonly ObjectDiff[];

export interface Part {
  /** The fields of the block whose changes this part shows. */
  readonly of: readonly string[];
  readonly diff: DiffPart;
}

export function part(field: string, diff: DiffPart): Part {
  return { of: [field], diff };
}

/** The diff of one block; undefined when both sides are equal. */
export function diffObject(
  rule: ObjectRule,
  old: Item | null,
  next: Item | null,
  detail: Detail,
): ObjectDiff | undefined {
  if (equalValues(old, next)) return undefined;
  const { fields, objects } = changesOf(rule, old, next, detail);
  const ofFields = typeOfFields(fields);
  if (rule.type === 'fields' && ofFields !== 'None') return objectDiff(ofFields, rule.name, fields, objects);
  if (rule.type === 'fields' && !detail.complete) return undefined;
  return objectDiff(typeOfPresence(old, next), rule.name, fields, objects);
}

/** The differences in a block and its nested blocks. */
export function changesOf(rule: BlockRule, old: Item | null, next: Item | null, detail: Detail): Changes {
  const contextual = detail.contextual && rule.neverContextual !== true;
  const [flatOld, flatNext] = [flatOf(rule, old), flatOf(rule, next)];
  const fields = diffFields(flatOld, flatNext, contextual);
  const parts: { readonly of: readonly string[]; readonly objects: readonly ObjectDiff[] }[] = [];
  const objects: ObjectDiff[] = [];
  for (const { of, diff } of rule.parts ?? []) {
    const found = diff(old, next, detail);
    parts.push({ of, objects: found });
    for (const object of found) objects.push(object);
  }
  if (!detail.complete) return { fields, objects };
  const flat = old === null ? flatNext : flatOld;
  const isShown = (name: string): boolean => {
    if (rule.ignored?.includes(name) === true) return true;
    if ((old === null || next === null) && rule.filled?.includes(name) === true) return true;
    const showing = parts.find(({ of }) => of.includes(name));
    return showing === undefined ? showsField(rule, flat, [old, next], name) : showing.objects.some(showsChange);
  };
  const omitted = omittedChanges(old, next, isShown, contextual);
  return {
    fields: omitted.fields.length === 0 ? fields : [...fields, ...omitted.fields].sort(compareFields),
    // An object that shows no change is replaced by one that does.
    objects: [...objects.filter((object) => object.Type === 'None' || showsChange(object)), ...omitted.objects],
  };
}

/** Whether the scalars that a rule reads depend on this field. `flat`: those of the block of the old side, or of the only one. */
function showsField(
  { fields }: BlockRule,
  flat: Flat,
  [old, next]: readonly [Item | null, Item | null],
  name: string,
): boolean {
  const block = old ?? next ?? {};
  const other = old === null || next === null ? null : next[name];
  // Most rules read a field unchanged, under its own name.
  if (flat.get(name) === String(block[name]) && String(block[name]) !== String(other ?? '')) return true;
  const changed = fields({ ...block, [name]: other });
  const differs = (each: string): boolean => (flat.get(each) ?? '') !== (changed.get(each) ?? '');
  return [...flat.keys()].some(differs) || [...changed.keys()].some(differs);
}

function flatOf(rule: BlockRule, item: Item | null): Flat {
  const side = item ?? rule.absent;
  return side === undefined ? nothingFlat : rule.fields(side);
}

// Parts: the field that they read, and how its elements are matched.

/** A nested block. */
export function one(field: string, rule: ObjectRule): Part {
  return part(field, (old, next, detail) => present(diffObject(rule, itemAt(old, field), itemAt(next, field), detail)));
}

/** A list whose elements match only if their whole content is equal: an edited element is deleted and added. */
export function byContent(field: string, rule: ObjectRule): Part {
  return keyed(field, rule, contentOf);
}

/** A list whose elements match by the value of this field. */
export function byField(field: string, key: string, rule: ObjectRule): Part {
  return keyed(field, rule, (item) => String(item[key] ?? ''));
}

/** A list whose elements match by the function's result; of several with the same result, the last one counts. */
export function keyed(field: string, rule: ObjectRule, keyOf: (item: Item) => string): Part {
  return matched(field, rule, (old, next) => {
    const before = new Map(old.map((item) => [keyOf(item), item]));
    const after = new Map(next.map((item) => [keyOf(item), item]));
    const keys = new Set([...before.keys(), ...after.keys()]);
    return [...keys].map((key) => [before.get(key) ?? null, after.get(key) ?? null]);
  });
}

/** Blocks by their label. */
export function byLabel(field: string, rule: ObjectRule): Part {
  return part(field, (old, next, detail) => {
    const before = itemAt(old, field) ?? {};
    const after = itemAt(next, field) ?? {};
    const labels = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(compareBytes);
    return labels.flatMap((label) => present(diffObject(rule, itemAt(before, label), itemAt(after, label), detail)));
  });
}

/** A list whose elements match by position. */
export function byPosition(field: string, rule: ObjectRule): Part {
  return matched(field, rule, (old, next) => {
    const length = Math.max(old.length, next.length);
    return Array.from({ length }, (_, at) => [old[at] ?? null, next[at] ?? null]);
  });
}

/** An element of the old list and its counterpart in the new list; null for none. */
export type Pair = readonly [Item | null, Item | null];

/** A list whose elements are paired by `match`. */
export function matched(
  field: string,
  rule: ObjectRule,
  match: (old: readonly Item[], next: readonly Item[]) => readonly Pair[],
): Part {
  return part(field, (old, next, detail) => {
    const before = listAt(old, field);
    const after = listAt(next, field);
    if (equalValues(before, after)) return [];
    const pairs = match(before, after);
    return sortedObjects(pairs.flatMap(([left, right]) => present(diffObject(rule, left, right, detail))));
  });
}

/** A list of strings as a set: order and duplicates are ignored. `unchanged`: whether an unchanged list is shown. */
export function strings(field: string, unchanged: 'shown' | 'hidden' = 'shown'): Part {
  return part(field, (old, next, { contextual }) => {
    const diff = diffTexts(field, textsAt(old, field), textsAt(next, field), contextual);
    return diff === undefined || (diff.Type === 'None' && unchanged === 'hidden') ? [] : [diff];
  });
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
  return part(field, (old, next, { contextual }) => {
    const before = itemAt(old, field);
    const after = itemAt(next, field);
    if (equalValues(before, after)) return [];
    const fields = diffFields(
      flattenFreeForm(before),
      flattenFreeForm(after),
      contextual && neverContextual === undefined,
    );
    return [objectDiff(typeOfEntries(before, after), field, fields)];
  });
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
  const value = item?.[field];
  return isRecord(value) ? value : null;
}

export function listAt(item: Item | null, field: string): readonly Item[] {
  return (item?.[field] ?? []) as readonly Item[];
}

/** Numbers are compared as strings as well. */
export function textsAt(item: Item | null, field: string): readonly string[] {
  const value = item?.[field];
  return Array.isArray(value) ? value.map(String) : [];
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
    const other = b?.[at];
    const order = other === undefined ? 0 : compare(element, other);
    if (order !== 0) return order;
  }
  return 0;
}
