import type { JsonSchema } from '../../../src/api/json-schema.js';

export type { JsonSchema } from '../../../src/api/json-schema.js';
export { orNull } from '../../../src/api/json-schema.js';

/** Members of any name. Generators of clients take an object schema without this for one that has none. */
export const anyObject: JsonSchema = { type: 'object', additionalProperties: true };

/** An object schema; every property is described and none is required unless named. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return required.length === 0 ? { type: 'object', properties } : { type: 'object', properties, required };
}

/** An object schema all of whose properties are always there. */
export function wholeObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return objectSchema(properties, Object.keys(properties));
}

/** An object of any names whose values have one schema. */
export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}
