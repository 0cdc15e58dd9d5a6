import {
  any,
  bytes,
  flag,
  integer,
  listOf,
  type Members,
  mapOf,
  pointer,
  type ScalarType,
  type StructType,
  struct,
  text,
  unsigned,
  type ValueType,
} from '../../shared/schema.js';
import { type Block, type Field, type FieldSet, storedFields } from './field-table.js';
import { jobBlock } from './job.js';

/** A stored job, as the field table describes it. */
export const jobSchema = structOf(jobBlock, { name: 'StoredJob', opaque: true });

function structOf(block: Block<FieldSet>, form?: Parameters<typeof struct>[1]): StructType {
  const members = lazily(() => Object.fromEntries(storedFields(block).map(([name, field]) => [name, typeOf(field)])));
  return struct(members, form);
}

function typeOf(field: Field<unknown, unknown>): ValueType {
  switch (field.kind) {
    case 'string':
      return scalar(text, field);
    case 'boolean':
      return scalar(flag, field);
    case 'integer':
    case 'duration':
      return scalar(wholeNumber(field), field);
    case 'base64':
      return bytes;
    case 'strings':
      return listOf(text);
    case 'integers':
      return listOf(wholeNumber(field));
    case 'string_map':
      return mapOf(text);
    case 'string_list_map':
      return mapOf(listOf(text));
    case 'free_form':
      return mapOf(any);
    case 'block':
      return field.stored === 'null' ? pointer(blockOf(field)) : blockOf(field);
    case 'blocks':
      return listOf(blockOf(field));
    case 'block_map':
      return mapOf(blockOf(field));
  }
}

function scalar(type: ScalarType, { stored }: Field<unknown, unknown>): ScalarType {
  return stored === 'null' ? pointer(type) : type;
}

function wholeNumber({ bounds }: Field<unknown, unknown>): ScalarType {
  return bounds !== undefined && bounds.min >= 0 ? unsigned : integer;
}

function blockOf({ block }: Field<unknown, unknown>): StructType {
  return block === undefined ? struct({}) : structOf(block);
}

/** Built when a filter first reads it: most filters read few members of the job. */
function lazily(make: () => Members): () => Members {
  let made: Members | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
