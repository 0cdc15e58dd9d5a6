import { compareBytes, isRecord } from '../../shared/values.js';
import { equalValues } from '../document/document-values.js';
import { type Block, type Field, type FieldKind, type FieldSet, storedFields } from '../document/field-table.js';
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
  const [old, next] = [before ?? null, after ?? null];
  const [oldList, nextList] = [old ?? [], next ?? []];
  const isGiven = old !== null || next !== null;
  if (isGiven && isList(oldList) && isList(nextList)) addChangesOfList(changes, name, [oldList, nextList], contextual);
  else if (isGiven && isItemOrNull(old) && isItemOrNull(next)) {
    changes.objects.push(blockChange(name, [old, next], contextual));
  } else changes.fields.push(fieldChange(name, before, after));
}

type Lists = readonly [before: readonly unknown[], after: readonly unknown[]];

function addChangesOfList(changes: Draft, name: string, [before, after]: Lists, contextual: boolean): void {
  if (before.length === 0 && after.length === 0) changes.fields.push(fieldChange(name, null, []));
  else if (before.every(isRecord) && after.every(isRecord)) {
    changes.objects.push(...blockChanges(name, [before, after], contextual));
  } else changes.objects.push(elementsChange(name, [before, after]));
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
  if (isList(value)) return `[${value.map(contentOf).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? '';
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${contentOf(value[key])}`).join(',')}}`;
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

function isItemOrNull(value: unknown): value is Item | null {
  return value === null || isRecord(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** A block in its stored form. */
export type Item = Readonly<Record<string, unknown>>;

export type Flatten = (item: Item) => Flat;

interface FlattenOptions {
  /** Fields that are not compared. */
  readonly without?: readonly string[];
  /** If given, only these are compared. */
  readonly only?: readonly string[];
}

const scalarKinds: ReadonlySet<FieldKind> = new Set<FieldKind>(['string', 'boolean', 'integer', 'duration']);
const mapKinds: ReadonlySet<FieldKind> = new Set<FieldKind>(['string_map', 'free_form']);

/**
 * Reads the scalars of a block, and its maps of strings as `Meta[key]`. Lists and nested blocks have separate diffs, and a
 * scalar that may be absent is not compared in this way.
 */
export function scalarsOf(block: Block<FieldSet>, options: FlattenOptions = {}): Flatten {
  const fields = fieldsOf(block, options).filter(({ field }) => !isNullable(field));
  const scalars = fields.filter(({ field }) => scalarKinds.has(field.kind));
  const maps = fields.filter(({ field }) => field.kind === 'string_map').map(({ name }) => name);
  const reads = scalars.map(({ name, field }) => ({ name, zero: zeroText(field) }));
  return (item) => {
    const flat = new Map<string, string>();
    for (const { name, zero } of reads) {
      const value = item[name];
      // Blocks that omit empty fields have undefined here.
      flat.set(name, value === undefined ? zero : String(value));
    }
    for (const name of maps) addMap(flat, name, item[name]);
    return flat;
  };
}

/** Also reads these fields unless they are null. */
export function withGiven(flatten: Flatten, names: readonly string[]): Flatten {
  return (item) => {
    const flat = new Map(flatten(item));
    for (const name of names) if (item[name] !== null) flat.set(name, String(item[name]));
    return flat;
  };
}

/** Reads every scalar and every map of a block; an absent value of an optional field is `nil`. */
export function everythingOf(block: Block<FieldSet>): Flatten {
  const fields = fieldsOf(block, {}).filter(({ field }) => scalarKinds.has(field.kind) || mapKinds.has(field.kind));
  return (item) => {
    const flat = new Map<string, string>();
    for (const { name, field } of fields) {
      const value = item[name];
      if (mapKinds.has(field.kind)) addMap(flat, name, value);
      else flat.set(name, value === null || value === undefined ? 'nil' : String(value));
    }
    return flat;
  };
}

/** Reads a free-form value: `image`, `args[0]`, `labels[team]`, `mount[0][type]`. */
export function flattenFreeForm(value: Item | null): Flat {
  const flat = new Map<string, string>();
  for (const key of Object.keys(value ?? {})) addValue(flat, key, value?.[key]);
  return flat;
}

interface NamedField {
  /** In the stored form. */
  readonly name: string;
  readonly field: Field<unknown, unknown>;
}

function fieldsOf(block: Block<FieldSet>, { without = [], only }: FlattenOptions): NamedField[] {
  return storedFields(block)
    .map(([name, field]) => ({ name, field }))
    .filter(({ name }) => !without.includes(name) && (only === undefined || only.includes(name)));
}

function isNullable(field: Field<unknown, unknown>): boolean {
  return scalarKinds.has(field.kind) && (field.stored === 'null' || field.keepsNull === true);
}

function zeroText(field: Field<unknown, unknown>): string {
  if (field.kind === 'string') return '';
  return field.kind === 'boolean' ? 'false' : '0';
}

function addMap(flat: Map<string, string>, name: string, map: unknown): void {
  for (const [key, value] of Object.entries((map ?? {}) as Item)) addValue(flat, `${name}[${key}]`, value);
}

function addValue(flat: Map<string, string>, name: string, value: unknown): void {
  if (value === null || value === undefined) flat.set(name, 'nil');
  else if (Array.isArray(value)) addList(flat, name, value);
  else if (typeof value === 'object') addMap(flat, name, value);
  else flat.set(name, typeof value === 'number' ? floatText(value) : String(value));
}

function addList(flat: Map<string, string>, name: string, list: readonly unknown[]): void {
  for (const [index, element] of list.entries()) addValue(flat, `${name}[${index}]`, element);
}

/**
 * A number of a free-form value, which has no declared type and is printed as a floating-point one: the shortest digits
 * that read back as the same number, with an exponent below 1e-04 and from 1e+06 on.
 */
export function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  const digits = Math.abs(exponent).toString().padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}
