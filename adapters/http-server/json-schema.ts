/** A JSON Schema (2020-12) as plain data, or a boolean schema's object form. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const anyJson: JsonSchema = {};
export const anyObject: JsonSchema = { type: 'object' };

/** An object schema; every property is described and none is required unless named. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return required.length === 0 ? { type: 'object', properties } : { type: 'object', properties, required };
}

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}
