/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A document that is described by its name among the schemas of the OpenAPI document. The table names what it exchanges
 * and does not carry its description, which clients do not need.
 */
export function namedSchema(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}
