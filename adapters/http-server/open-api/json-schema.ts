import type { JsonSchema } from '../../../src/api/json-codecs.js';

export { type JsonSchema, orNull } from '../../../src/api/json-codecs.js';

/** An object with any members. Client generators treat an object schema without `additionalProperties` as an empty object. */
export const anyObject: JsonSchema = { type: 'object', additionalProperties: true };

/** An object schema; properties are optional unless named as required. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return required.length === 0 ? { type: 'object', properties } : { type: 'object', properties, required };
}

/** An object schema whose properties are all required. */
export function wholeObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return objectSchema(properties, Object.keys(properties));
}

/** An object of any names whose values have one schema. */
export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

/** A schema by its name among the document's components. */
export function named(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export const text: JsonSchema = { type: 'string' };
export const flag: JsonSchema = { type: 'boolean' };
export const integer: JsonSchema = { type: 'integer' };
export const number: JsonSchema = { type: 'number' };
export const count: JsonSchema = { type: 'integer', minimum: 0 };
export const nanoseconds: JsonSchema = { type: 'integer', description: 'Nanoseconds.' };
export const unixNanoseconds: JsonSchema = { type: 'integer', description: 'Nanoseconds since 1970.' };
export const time: JsonSchema = { type: 'string', format: 'date-time' };
export const strings: JsonSchema = { type: 'array', items: text };
export const textMap = mapOf(text);
export const countMap = mapOf(count);

/** The indexes of a record's creation and last change; `written` includes the times. */
export const placed = { CreateIndex: count, ModifyIndex: count };
export const written = { ...placed, CreateTime: unixNanoseconds, ModifyTime: unixNanoseconds };
