import { type Block, type Field, type FieldKind, type FieldSet, storedFields } from '../document/field-table.js';
import type { Flat } from './diff-fields.js';

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
