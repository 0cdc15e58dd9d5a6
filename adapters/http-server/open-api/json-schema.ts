import { type JsonSchema, orNull } from '../../../src/api/json-codecs.js';
import type { ScalarType, StructType, ValueType } from '../../../src/scheduler/index.js';

export { type JsonSchema, orNull } from '../../../src/api/json-codecs.js';

/** An object with any members. Client generators treat an object schema without `additionalProperties` as an empty object. */
export const anyObject: JsonSchema = { type: 'object', additionalProperties: true };

/** A schema for each member of the type T, and any others. */
type Properties<T> = Readonly<Record<string, JsonSchema>> & { readonly [K in keyof T]-?: JsonSchema };

/** An object schema; properties are optional unless named as required. The compiler reports missing members of T. */
export function objectSchema<T = object>(
  properties: Properties<NoInfer<T>>,
  required: readonly string[] = [],
): JsonSchema {
  return required.length === 0 ? { type: 'object', properties } : { type: 'object', properties, required };
}

/** An object schema whose properties are all required. */
export function wholeObject<T = object>(properties: Properties<NoInfer<T>>): JsonSchema {
  return objectSchema<T>(properties, Object.keys(properties));
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
export const unixNanoseconds: JsonSchema = { type: 'integer', description: 'Nanoseconds since 1970.' };
export const time: JsonSchema = { type: 'string', format: 'date-time' };
export const strings = listOf(text);
export const textMap = mapOf(text);
export const countMap = mapOf(count);

/** What reads carry in headers and register-shaped answers in the body. */
export const metadata = { Index: count, LastContact: integer, KnownLeader: flag, NextToken: text };

/** The indexes of a record's creation and last change. */
export const placed = { CreateIndex: count, ModifyIndex: count };

/** The schema of a described value; a reference if it is a struct with a name. */
function schemaOf(type: ValueType): JsonSchema {
  const schema = type.kind === 'struct' && type.name !== undefined ? named(type.name) : definitionOf(type);
  return type.orNull ? orNull(schema) : schema;
}

/** The schemas of the structs with names among these types and their members, by name. */
export function componentsOf(types: readonly ValueType[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(types.flatMap(componentsIn));
}

function componentsIn(type: ValueType): readonly (readonly [string, JsonSchema])[] {
  if (type.kind === 'list' || type.kind === 'map') return componentsIn(type.of);
  if (type.kind !== 'struct' || type.opaque) return [];
  const parts = shownMembers(type).flatMap(([, member]) => componentsIn(member));
  return type.name === undefined ? parts : [...parts, [type.name, definitionOf(type)]];
}

function definitionOf(type: ValueType): JsonSchema {
  if (type.kind === 'list') return listOf(schemaOf(type.of));
  if (type.kind === 'map') return mapOf(schemaOf(type.of));
  if (type.kind === 'struct') return type.opaque ? anyObject : structOf(type);
  return scalarOf(type);
}

function structOf(type: StructType): JsonSchema {
  const members = shownMembers(type);
  const { required = members.flatMap(([name, { optional }]) => (optional ? [] : [name])) } = type;
  return objectSchema(Object.fromEntries(members.map(([name, member]) => [name, schemaOf(member)])), required);
}

function shownMembers({ members }: StructType): readonly (readonly [string, ValueType])[] {
  return Object.entries(typeof members === 'function' ? members() : members).flatMap(([name, member]) => {
    if (!('storedAs' in member)) return member.only === 'filters' ? [] : [[name, member]];
    const { type, storedAs } = member;
    if (typeof storedAs === 'string') return [[storedAs, type]];
    return type.kind === 'struct' ? shownMembers(type) : [];
  });
}

function scalarOf({ kind, values, minimum, description }: ScalarType): JsonSchema {
  return {
    ...(values === undefined ? scalars[kind] : values.length === 1 ? { const: values[0] } : { enum: values }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(description === undefined ? {} : { description }),
  };
}

const scalars: Readonly<Record<ScalarType['kind'], JsonSchema>> = {
  text,
  boolean: flag,
  integer,
  unsigned: count,
  float: number,
  time,
  bytes: text,
  any: {},
};
