import { type Block, type Field, type FieldKind, type FieldSet, submittedFields } from './field-table.js';
import { jobBlock } from './job.js';

/** JSON Schema, as far as it is used here. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly contentEncoding?: string;
  readonly anyOf?: readonly JsonSchema[];
}

/** The JSON Schema of a submitted job, in parts that a larger document can hold. */
export interface JobJsonSchema {
  /** Reference to the job's definition. */
  readonly root: JsonSchema;
  /** One schema per block, by name. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

/**
 * The schema of a submitted job, made from the table that `decodeJob` uses. It accepts the same documents, except that keys are
 * case-sensitive. `prefix`: the path of the definitions, by default that of an OpenAPI document.
 */
export function jobJsonSchema(prefix = '#/components/schemas/'): JobJsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const root = reference(jobBlock, prefix, definitions);
  return { root, definitions };
}

function reference(block: Block<FieldSet>, prefix: string, definitions: Record<string, JsonSchema>): JsonSchema {
  if (definitions[block.name] === undefined) {
    // Set before the fields are visited, so that the order is that of first use.
    definitions[block.name] = {};
    const properties = submittedFields(block).map(
      ([name, field]) => [name, orNull(fieldSchema(field, prefix, definitions))] as const,
    );
    definitions[block.name] = { type: 'object', properties: Object.fromEntries(properties) };
  }
  return { $ref: `${prefix}${block.name}` };
}

/** Null means "not given" for every field. */
function orNull(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === 'string') return { ...schema, type: [schema.type, 'null'] };
  return { anyOf: [schema, { type: 'null' }] };
}

function fieldSchema(
  field: Field<unknown, unknown>,
  prefix: string,
  definitions: Record<string, JsonSchema>,
): JsonSchema {
  return schemas[field.kind](field, () =>
    field.block === undefined ? {} : reference(field.block, prefix, definitions),
  );
}

/** `nested`: the schema of the block. */
const schemas: Readonly<Record<FieldKind, (field: Field<unknown, unknown>, nested: () => JsonSchema) => JsonSchema>> = {
  string: () => ({ type: 'string' }),
  boolean: () => ({ type: 'boolean' }),
  integer: (field) => integerSchema(field),
  duration: (field) => ({ ...integerSchema(field), description: 'Nanoseconds.' }),
  base64: () => ({ type: 'string', contentEncoding: 'base64' }),
  strings: () => ({ type: 'array', items: orNull({ type: 'string' }) }),
  integers: (field) => ({ type: 'array', items: integerSchema(field) }),
  string_map: () => ({ type: 'object', additionalProperties: orNull({ type: 'string' }) }),
  string_list_map: () => ({
    type: 'object',
    additionalProperties: { type: 'array', items: orNull({ type: 'string' }) },
  }),
  free_form: () => ({ type: 'object', additionalProperties: true }),
  block: (_, nested) => nested(),
  blocks: (_, nested) => ({ type: 'array', items: orNull(nested()) }),
  block_map: (_, nested) => ({ type: 'object', additionalProperties: orNull(nested()) }),
};

function integerSchema(field: Field<unknown, unknown>): JsonSchema {
  const { bounds } = field;
  // Bounds of 64 bits are of no use to a reader.
  if (bounds === undefined || bounds.max > 2 ** 32) return { type: 'integer' };
  return { type: 'integer', minimum: bounds.min, maximum: bounds.max };
}
