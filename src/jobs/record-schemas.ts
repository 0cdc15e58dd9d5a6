import {
  any,
  bytes,
  flag,
  integer,
  listOf,
  type Members,
  mapOf,
  nullable,
  opaque,
  orNull,
  partial,
  placed,
  pointer,
  type ScalarType,
  type StructType,
  struct,
  text,
  unsigned,
  type ValueType,
} from '../shared/schema.js';
import { type Block, type Field, type FieldKind, type FieldSet, storedFields } from './document/field-table.js';
import { jobBlock } from './document/job.js';
import type { Namespace, NamespaceCapabilities } from './namespaces/namespace.js';

/** A stored job, as the field table describes it. */
export const jobSchema = structOf(jobBlock, { name: 'StoredJob', opaque: true });

function structOf(block: Block<FieldSet>, form?: Parameters<typeof struct>[1]): StructType {
  const members = lazily(() =>
    Object.fromEntries(storedFields(block).map(([name, field]) => [name, types[field.kind](field)])),
  );
  return struct(members, form);
}

const types: Readonly<Record<FieldKind, (field: Field<unknown, unknown>) => ValueType>> = {
  string: (field) => scalar(text, field),
  boolean: (field) => scalar(flag, field),
  integer: (field) => scalar(wholeNumber(field), field),
  duration: (field) => scalar(wholeNumber(field), field),
  base64: () => bytes,
  strings: () => listOf(text),
  integers: (field) => listOf(wholeNumber(field)),
  string_map: () => mapOf(text),
  string_list_map: () => mapOf(listOf(text)),
  free_form: () => mapOf(any),
  block: (field) => (field.stored === 'null' ? pointer(blockOf(field)) : blockOf(field)),
  blocks: (field) => listOf(blockOf(field)),
  block_map: (field) => mapOf(blockOf(field)),
};

function scalar(type: ScalarType, { stored }: Field<unknown, unknown>): ScalarType {
  return stored === 'null' ? pointer(type) : type;
}

function wholeNumber({ bounds }: Field<unknown, unknown>): ScalarType {
  return bounds !== undefined && bounds.min >= 0 ? unsigned : integer;
}

function blockOf({ block }: Field<unknown, unknown>): StructType {
  return block === undefined ? struct({}) : structOf(block);
}

const names = orNull(listOf(text));
const choice = nullable(opaque({ Default: text, Allowed: listOf(text), Denied: listOf(text) }));

/** The members of a namespace as data: their types, and what filters may name. */
export const namespaceSchema = struct<Namespace>(
  {
    Name: text,
    Description: text,
    Quota: text,
    Capabilities: nullable(
      partial<NamespaceCapabilities>({
        EnabledTaskDrivers: names,
        DisabledTaskDrivers: names,
        EnabledNetworkModes: names,
        DisabledNetworkModes: names,
      }),
    ),
    NodePoolConfiguration: choice,
    VaultConfiguration: choice,
    ConsulConfiguration: choice,
    Meta: orNull(mapOf(text)),
    Hash: bytes,
    RequiredExtraClaims: orNull(mapOf(text)),
    OptionalExtraClaims: orNull(mapOf(text)),
    ...placed,
  },
  { name: 'Namespace', required: ['Name', 'Description'] },
);

/** Built when a filter first reads it: most filters read few members of the job. */
function lazily(make: () => Members): () => Members {
  let made: Members | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
