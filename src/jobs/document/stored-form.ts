import type { Block, Field, FieldSet } from './field-table.js';
import { jobBlock } from './job-fields.js';
import { fastShape, type ShapeCopier, shapeCopier } from './shape-copies.js';

type StoredRecord = Record<string, unknown>;

/**
 * The stored form of a block as its table says: input-only fields are gone, legacy ones reset, nulls become zero values
 * unless null means something, empty maps and block lists become null, and blocks of the omit-empty kind lose every empty
 * field. The rules that look at more than one field are in `canonicaliseJob`.
 */
export function storedForm(submitted: object): StoredRecord {
  return storeBlock(compiledJob, submitted as StoredRecord);
}

interface CompiledField {
  readonly from: string;
  readonly to: string;
  readonly stored: 'take' | 'reset';
  readonly kind: Field<unknown, unknown>['kind'];
  /** The value for null. */
  readonly zero: () => unknown;
  readonly block: CompiledBlock | undefined;
}

interface CompiledBlock {
  /** Every key of the stored form, so that a copy has its final shape at once; empty for blocks that leave keys out. */
  readonly template: StoredRecord;
  readonly copy: ShapeCopier;
  readonly fields: readonly CompiledField[];
  readonly omitEmpty: boolean;
}

const seen = new Map<Block<FieldSet>, CompiledBlock>();
const compiledJob = compileBlock(jobBlock);

function compileBlock(block: Block<FieldSet>): CompiledBlock {
  const known = seen.get(block);
  if (known !== undefined) return known;
  const fields = Object.entries(block.fields).flatMap(([name, field]) =>
    field.stored === 'drop' ? [] : [compileField(name, field)],
  );
  const template = block.omitEmpty ? {} : fastShape(Object.fromEntries(fields.map(({ to }) => [to, null])));
  const compiled: CompiledBlock = { template, copy: shapeCopier(), fields, omitEmpty: block.omitEmpty };
  seen.set(block, compiled);
  return compiled;
}

function compileField(name: string, field: Field<unknown, unknown>): CompiledField {
  const block = field.block === undefined ? undefined : compileBlock(field.block);
  return {
    from: name,
    to: field.storedName ?? name,
    stored: field.stored === 'reset' ? 'reset' : 'take',
    kind: field.kind,
    zero: zeroOf(field, block),
    block,
  };
}

function zeroOf(field: Field<unknown, unknown>, block: CompiledBlock | undefined): () => unknown {
  const { storedUnset } = field;
  if (storedUnset !== undefined) return () => storedUnset;
  if (field.stored === 'null' || field.keepsNull === true) return () => null;
  switch (field.kind) {
    case 'string':
      return () => '';
    case 'integer':
    case 'duration':
      return () => 0;
    case 'boolean':
      return () => false;
    case 'block':
      return () => (block === undefined ? null : storeBlock(block, {}));
    case 'blocks':
    case 'strings':
    case 'integers':
      return () => [];
    case 'base64':
    case 'block_map':
    case 'string_map':
    case 'string_list_map':
    case 'free_form':
      return () => null;
  }
}

function storeBlock(block: CompiledBlock, submitted: StoredRecord): StoredRecord {
  const out: StoredRecord = block.copy(block.template);
  for (const field of block.fields) {
    const value = storeField(field, submitted[field.from]);
    if (block.omitEmpty && isEmpty(value)) continue;
    out[field.to] = value;
  }
  return out;
}

function storeField(field: CompiledField, value: unknown): unknown {
  if (value === null || value === undefined || field.stored === 'reset') return field.zero();
  switch (field.kind) {
    case 'block':
      return storeBlock(field.block as CompiledBlock, value as StoredRecord);
    case 'blocks': {
      const list = value as StoredRecord[];
      return list.length === 0
        ? field.zero()
        : list.map((element) => storeBlock(field.block as CompiledBlock, element));
    }
    case 'block_map': {
      const entries = Object.entries(value as Record<string, StoredRecord>);
      if (entries.length === 0) return null;
      return Object.fromEntries(
        entries.map(([key, element]) => [key, storeBlock(field.block as CompiledBlock, element)]),
      );
    }
    case 'string_map':
    case 'string_list_map':
    case 'free_form':
      return isEmptyObject(value as object) ? null : value;
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

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === 0 || value === false;
}

function isEmptyObject(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
