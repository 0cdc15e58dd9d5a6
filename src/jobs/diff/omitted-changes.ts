import { compareBytes, isRecord } from '../../shared/values.js';
import { equalValues } from '../document/document-values.js';
import { compareFields, objectDiff, typeOfFields, typeOfPresence } from './diff-fields.js';
import type { Item } from './flatten.js';
import type { FieldDiff, ObjectDiff } from './job-diff.js';

/** The differences in one block. */
export interface Changes {
  readonly fields: readonly FieldDiff[];
  readonly objects: readonly ObjectDiff[];
}

interface Draft {
  readonly fields: FieldDiff[];
  readonly objects: ObjectDiff[];
}

/**
 * The changes of the fields that no rule shows, by the shape of their values: scalars are fields, blocks and lists are objects. Of a
 * block that only one side has, empty values are not listed.
 */
export function omittedChanges(
  old: Item | null,
  next: Item | null,
  isShown: (name: string) => boolean,
  contextual: boolean,
): Changes {
  const isOmitted = (name: string): boolean => {
    const [before, after] = [old?.[name], next?.[name]];
    if ((old === null || next === null) && isEmpty(before ?? after)) return false;
    return !equalValues(before, after) && !isShown(name);
  };
  const changes: Draft = { fields: [], objects: [] };
  // Sorted afterwards: of most blocks no field is left.
  for (const name of keysOf(old, next).filter(isOmitted).sort(compareBytes)) {
    addChange(changes, name, [old?.[name], next?.[name]], contextual);
  }
  return changes;
}

type Sides = readonly [before: unknown, after: unknown];

function addChange(changes: Draft, name: string, [before, after]: Sides, contextual: boolean): void {
  const given = [before, after].filter((side) => side !== null && side !== undefined);
  if (given.length > 0 && given.every(isList)) {
    addList(changes, name, [(before ?? []) as readonly unknown[], (after ?? []) as readonly unknown[]], contextual);
  } else if (given.length > 0 && given.every(isRecord)) {
    changes.objects.push(
      blockChange(name, [(before ?? null) as Item | null, (after ?? null) as Item | null], contextual),
    );
  } else changes.fields.push(fieldChange(name, before, after));
}

type Lists = readonly [before: readonly unknown[], after: readonly unknown[]];

function addList(changes: Draft, name: string, [before, after]: Lists, contextual: boolean): void {
  if (before.length === 0 && after.length === 0) changes.fields.push(fieldChange(name, null, []));
  else if (![...before, ...after].every(isRecord)) changes.objects.push(elementsChange(name, [before, after]));
  else changes.objects.push(...blockChanges(name, [before as Item[], after as Item[]], contextual));
}

/** Elements at the same position are compared. */
function elementsChange(name: string, [before, after]: Lists): ObjectDiff {
  const fields: FieldDiff[] = [];
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    if (!equalValues(before[at], after[at])) fields.push(fieldChange(`${name}[${at}]`, before[at], after[at]));
  }
  return objectDiff(typeOfFields(fields), name, fields);
}

/** Blocks without an equal one on the other side are compared in their order. If all have one, the order is what changed. */
function blockChanges(
  name: string,
  [before, after]: readonly [readonly Item[], readonly Item[]],
  contextual: boolean,
): ObjectDiff[] {
  const [old, next] = [without(before, after), without(after, before)];
  if (old.length === 0 && next.length === 0) return [orderChange(name, before, after)];
  return Array.from({ length: Math.max(old.length, next.length) }, (_, at) =>
    blockChange(singular(name), [old[at] ?? null, next[at] ?? null], contextual),
  );
}

/** The multiset difference: elements of the first list beyond their number in the second one. */
function without(list: readonly Item[], others: readonly Item[]): Item[] {
  const counts = new Map<string, number>();
  for (const other of others.map(contentOf)) counts.set(other, (counts.get(other) ?? 0) + 1);
  return list.filter((item) => {
    const content = contentOf(item);
    const count = counts.get(content) ?? 0;
    counts.set(content, count - 1);
    return count <= 0;
  });
}

/** The blocks at the positions that changed. */
export function orderChange(name: string, before: readonly object[], after: readonly object[]): ObjectDiff {
  return elementsChange(name, [before.map(labelOf), after.map(labelOf)]);
}

function labelOf(block: { readonly Name?: unknown; readonly Label?: unknown }): string {
  return String(block.Name || block.Label || contentOf(block));
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '');
}

function blockChange(name: string, [old, next]: readonly [Item | null, Item | null], contextual: boolean): ObjectDiff {
  const changes: Draft = { fields: [], objects: [] };
  for (const key of keysOf(old, next).sort(compareBytes)) {
    const [before, after] = [old?.[key], next?.[key]];
    if ((before ?? after ?? null) === null) continue;
    if (!equalValues(before, after)) addChange(changes, key, [before, after], contextual);
    else if (contextual && typeof after !== 'object') changes.fields.push(sameField(key, after));
  }
  return objectDiff(typeOfPresence(old, next), name, changes.fields.sort(compareFields), changes.objects);
}

function sameField(Name: string, value: unknown): FieldDiff {
  return { Type: 'None', Name, Old: String(value), New: String(value), Annotations: null };
}

/** Values with the same string, such as `80` and `"80"`, are written as JSON. */
function fieldChange(Name: string, before: unknown, after: unknown): FieldDiff {
  const [oldText, newText] = [textOf(before), textOf(after)];
  const [Old, New] = oldText === newText ? [jsonOf(before), jsonOf(after)] : [oldText, newText];
  const Type = Old === '' ? 'Added' : New === '' ? 'Deleted' : 'Edited';
  return { Type, Name, Old, New, Annotations: null };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? contentOf(value) : String(value);
}

function jsonOf(value: unknown): string {
  return value === undefined ? '' : contentOf(value);
}

/** The whole content as JSON, whatever the order of the keys. */
export function contentOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(contentOf).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${contentOf((value as Item)[key])}`).join(',')}}`;
}

/** Of both sides, each once. */
function keysOf(old: Item | null, next: Item | null): string[] {
  const names = Object.keys(old ?? {});
  if (next === null) return names;
  for (const name of Object.keys(next)) if (old === null || !Object.hasOwn(old, name)) names.push(name);
  return names;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !value;
  return Object.keys(value).length === 0;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
