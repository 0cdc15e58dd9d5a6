import { type Block, type Field, type FieldSet, submittedFields } from './field-table.js';
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
  const nested = (): JsonSchema => (field.block === undefined ? {} : reference(field.block, prefix, definitions));
  switch (field.kind) {
    case 'string':
      return { type: 'string' };
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return integerSchema(field);
    case 'duration':
      return { ...integerSchema(field), description: 'Nanoseconds.' };
    case 'base64':
      return { type: 'string', contentEncoding: 'base64' };
    case 'strings':
      return { type: 'array', items: orNull({ type: 'string' }) };
    case 'integers':
      return { type: 'array', items: integerSchema(field) };
    case 'string_map':
      return { type: 'object', additionalProperties: orNull({ type: 'string' }) };
    case 'string_list_map':
      return { type: 'object', additionalProperties: { type: 'array', items: orNull({ type: 'string' }) } };
    case 'free_form':
      return { type: 'object', additionalProperties: true };
    case 'block':
      return nested();
    case 'blocks':
      return { type: 'array', items: orNull(nested()) };
    case 'block_map':
      return { type: 'object', additionalProperties: orNull(nested()) };
  }
}

function integerSchema(field: Field<unknown, unknown>): JsonSchema {
  const { bounds } = field;
  // Bounds of 64 bits are of no use to a reader.
  if (bounds === undefined || bounds.max > 2 ** 32) return { type: 'integer' };
  return { type: 'integer', minimum: bounds.min, maximum: bounds.max };
}
