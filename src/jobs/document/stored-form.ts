import type { Block, Field, FieldSet } from './field-table.js';
import { jobBlock } from './job.js';

type StoredRecord = Record<string, unknown>;

/**
 * The stored form of a block by its table: input-only fields are removed, legacy ones reset, nulls become zero values
 * unless null has a meaning, empty maps and block lists become null, and blocks of the omit-empty kind lose every empty
 * field. Rules about more than one field are in `canonicaliseJob`.
 */
export function storedForm(submitted: object): StoredRecord {
  return storeBlock(compileBlock(jobBlock), submitted as StoredRecord);
}

interface CompiledField {
  readonly from: string;
  readonly to: string;
  readonly kind: Field<unknown, unknown>['kind'];
  readonly isScalar: boolean;
  /** The value in the template. */
  readonly unset: unknown;
  readonly keepsEmpty: boolean;
  readonly block: CompiledBlock | undefined;
}

interface CompiledBlock {
  /** Every key of the stored form with the value for "not given"; empty for blocks that omit such keys. */
  readonly template: StoredRecord;
  readonly copy: ShapeCopier;
  /** The fields that copy a submitted value, by their submitted names. */
  readonly fields: ReadonlyMap<string, CompiledField>;
  /** The fields that get a new empty list, map or block when they are not given. */
  readonly fresh: readonly { readonly to: string; readonly make: () => unknown }[];
  readonly omitEmpty: boolean;
}

const seen = new Map<Block<FieldSet>, CompiledBlock>();

/** Compiled on first use, so that a process that reads no job starts faster. */
function compileBlock(block: Block<FieldSet>): CompiledBlock {
  const known = seen.get(block);
  if (known !== undefined) return known;
  const { omitEmpty } = block;
  const named = Object.entries(block.fields)
    .filter(([, field]) => field.stored !== 'drop')
    .map(([name, field]) => ({ from: name, to: field.storedName ?? name, field }));
  const compiled: CompiledBlock = {
    template: omitEmpty ? {} : fastShape(Object.fromEntries(named.map(({ to, field }) => [to, emptyValue(field)]))),
    copy: shapeCopier(),
    fields: new Map(
      named
        .filter(({ field }) => field.stored !== 'reset' && field.storedOnly !== true)
        .map((each) => [each.from, compileField(each)]),
    ),
    fresh: named.flatMap(({ to, field }) => {
      const make = maker(field);
      return make === undefined ? [] : [{ to, make }];
    }),
    omitEmpty,
  };
  seen.set(block, compiled);
  return compiled;
}

function compileField({
  from,
  to,
  field,
}: {
  from: string;
  to: string;
  field: Field<unknown, unknown>;
}): CompiledField {
  return {
    from,
    to,
    kind: field.kind,
    isScalar: ['string', 'boolean', 'integer', 'duration'].includes(field.kind),
    unset: emptyValue(field),
    keepsEmpty: field.keepsEmpty === true,
    block: field.block === undefined ? undefined : compileBlock(field.block),
  };
}

/** The stored value of a field that is not given; null also where `maker` creates a new value each time. */
function emptyValue(field: Field<unknown, unknown>): unknown {
  if (field.storedUnset !== undefined) return field.storedUnset;
  if (field.stored === 'null' || field.keepsNull === true) return null;
  switch (field.kind) {
    case 'string':
      return '';
    case 'integer':
    case 'duration':
      return 0;
    case 'boolean':
      return false;
    case 'block':
    case 'blocks':
    case 'strings':
    case 'integers':
    case 'base64':
    case 'block_map':
    case 'string_map':
    case 'string_list_map':
    case 'free_form':
      return null;
  }
}

function maker(field: Field<unknown, unknown>): (() => unknown) | undefined {
  if (field.stored === 'null' || field.keepsNull === true) return undefined;
  if (field.kind === 'blocks' || field.kind === 'strings' || field.kind === 'integers') return () => [];
  if (field.kind === 'block_map') return () => ({});
  if (field.kind !== 'block' || field.block === undefined) return undefined;
  const block = compileBlock(field.block);
  return () => storeBlock(block, {});
}

function storeBlock(block: CompiledBlock, submitted: StoredRecord): StoredRecord {
  if (block.omitEmpty) return storeGiven(block, submitted);
  const out: StoredRecord = block.copy(block.template);
  const { fields } = block;
  // Most members are null: a loop over the members reads them several times as fast as a read by name for each field.
  for (const name in submitted) {
    const given = submitted[name];
    if (given === null || given === undefined) continue;
    const field = fields.get(name);
    if (field === undefined) continue;
    const value = field.isScalar ? given : storeField(field, given);
    if (value !== field.unset) out[field.to] = value;
  }
  for (const { to, make } of block.fresh) out[to] ??= make();
  return out;
}

/** Stores a block that omits empty fields, in the order of the table. */
function storeGiven(block: CompiledBlock, submitted: StoredRecord): StoredRecord {
  const out: StoredRecord = {};
  for (const field of block.fields.values()) {
    const given = submitted[field.from];
    if (given === null || given === undefined) continue;
    const value = field.isScalar ? given : storeField(field, given);
    if (!isEmpty(value)) out[field.to] = value;
  }
  for (const { to, make } of block.fresh) out[to] ??= make();
  return out;
}

function storeField(field: CompiledField, value: unknown): unknown {
  switch (field.kind) {
    case 'block':
      return storeBlock(field.block as CompiledBlock, value as StoredRecord);
    case 'blocks':
      return storeBlocks(field, value as readonly StoredRecord[]);
    case 'block_map': {
      const entries = Object.entries(value as Record<string, StoredRecord>);
      if (entries.length === 0) return null;
      return Object.fromEntries(
        entries.map(([key, element]) => [key, storeBlock(field.block as CompiledBlock, element)]),
      );
    }
    case 'string_map':
    case 'free_form':
      return isEmptyObject(value as object) ? null : value;
    case 'string_list_map':
      return storeLists(value as Record<string, readonly string[]>);
    case 'string':
    case 'integer':
    case 'duration':
    case 'boolean':
    case 'base64':
    case 'strings':
    case 'integers':
      return value;
  }
}

/** Empty lists in the map become null, as an empty map does. */
function storeLists(map: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[] | null> | null {
  const entries = Object.entries(map).map(([key, list]) => [key, list.length === 0 ? null : list] as const);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Null for an empty list, unless the field keeps it; a field that is never null gets a new list afterwards. */
function storeBlocks(field: CompiledField, list: readonly StoredRecord[]): StoredRecord[] | null {
  if (list.length === 0) return field.keepsEmpty ? [] : null;
  return list.map((element) => storeBlock(field.block as CompiledBlock, element));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === 0 || value === false;
}

function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** Returns a copy of the object that it was created for. */
export type ShapeCopier = (shape: Record<string, unknown>) => Record<string, unknown>;

/*
 * V8 records for each spread expression in the source which shapes of objects are copied there, and is fast for at most four. The table
 * has some seventy blocks: with a single expression for all of them, reading a document is slower. Hence the many copies of one
 * function.
 */
const copiers: readonly ShapeCopier[] = [
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
];

let given = 0;

/** A copier shared by few others, for an object that is copied often. */
export function shapeCopier(): ShapeCopier {
  const copier = copiers[given % copiers.length] as ShapeCopier;
  given += 1;
  return copier;
}

/**
 * The same object in the form that V8 copies fastest. An object that was built key by key becomes a slow one after a dozen
 * keys, and so does every copy; a parsed one does not. The values must be what JSON can carry.
 */
export function fastShape(shape: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(shape)) as Record<string, unknown>;
}
