import type { ZodType } from 'zod';
import { remembered } from '../../shared/remembered.js';
import type { FieldFault } from '../errors.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** What is wrong with a JSON Schema, as the end of a sentence; null when events can be checked by it. */
export function schemaProblem(schema: JsonSchema, longest: number): string | null {
  if (typeof schema !== 'object' || Array.isArray(schema)) return 'must be a JSON Schema, an object';
  const source = jsonOf(schema);
  if (source === null) return 'must be a JSON Schema, and not nested too deep';
  if (source.length > longest) return `must have at most ${longest} characters as JSON`;
  const compiled = compile(source);
  return typeof compiled === 'string' ? `cannot be used: ${compiled}` : null;
}

/** The JSON text of a value of a caller; null when it has none: it contains itself, a bigint, or is nested too deep. */
export function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

/** Where data does not fit a schema, with pointers that begin at `root`. A schema of null takes everything. */
export function dataFaults(schema: JsonSchema | null, data: unknown, root: string): readonly FieldFault[] {
  if (schema === null) return [];
  const compiled = compile(JSON.stringify(schema));
  if (typeof compiled === 'string') return [{ pointer: root, message: `the schema cannot be used: ${compiled}` }];
  const parsed = parse(compiled, data);
  if (parsed === null)
    return [{ pointer: root, message: 'data: is nested too deep, or its schema is for ever within itself' }];
  if (parsed.success) return [];
  return parsed.error.issues.slice(0, 20).map(({ path, message }) => ({
    pointer: [root, ...path.map((part) => shown(part).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/'),
    message: `${path.length === 0 ? 'data' : path.map(shown).join('.')}: ${message}`,
  }));
}

/** Null when the stack does not suffice: for data nested thousands of levels deep, or a schema that refers to itself at the same level. */
function parse(schema: ZodType, data: unknown): ReturnType<ZodType['safeParse']> | null {
  try {
    return schema.safeParse(withoutPrototypes(data, 0));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** What `__proto__` is called while data are checked: as a name of a property, it would set a prototype. */
const protoAlias = '\uE000__proto__';

function safeName(name: string): string {
  return name === '__proto__' ? protoAlias : name;
}

function shown(part: PropertyKey): string {
  return part === protoAlias ? '__proto__' : String(part);
}

/** Deeper data are checked as they are: no schema of the permitted length says much about them. */
const deepestCopy = 200;

/** The same data in objects without inherited members such as `constructor`. */
function withoutPrototypes(data: unknown, depth: number): unknown {
  if (typeof data !== 'object' || data === null || depth > deepestCopy) return data;
  if (Array.isArray(data)) return data.map((each) => withoutPrototypes(each, depth + 1));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(data)) copy[safeName(name)] = withoutPrototypes(value, depth + 1);
  return copy;
}

/** Members that hold schemas by name, and those that hold one or several. */
const namedSchemas = ['properties', 'patternProperties', '$defs', 'definitions'];
const nestedSchemas = ['items', 'prefixItems', 'additionalProperties', 'allOf', 'anyOf', 'oneOf', 'not'];

/**
 * The same schema with every required property among `properties`, since others are not looked for. `data` is known to be an
 * object.
 */
function withRequiredProperties(schema: unknown, level: 'data' | 'inside'): JsonSchema {
  if (!isObject(schema)) return schema as never;
  const full: Record<string, unknown> = { ...schema, ...nestedIn(schema) };
  const { properties } = full;
  if (Array.isArray(full['required'])) {
    const required = full['required'].map((name) => (typeof name === 'string' ? safeName(name) : name));
    full['required'] = required;
    full['properties'] = withMissing(isObject(properties) ? properties : {}, required);
  }
  // Without a type the properties of an object are not looked at.
  if (level === 'data' && isObject(full['properties'])) full['type'] ??= 'object';
  return full;
}

/** The members that hold schemas, completed. */
function nestedIn(schema: JsonSchema): JsonSchema {
  const named = namedSchemas.filter((name) => isObject(schema[name]));
  const nested = nestedSchemas.filter((name) => schema[name] !== undefined);
  return Object.fromEntries([
    ...named.map((name) => [name, mapSchemas(schema[name] as JsonSchema)]),
    ...nested.map((name) => [name, Array.isArray(schema[name]) ? schema[name].map(inside) : inside(schema[name])]),
  ]);
}

function inside(schema: unknown): JsonSchema {
  return withRequiredProperties(schema, 'inside');
}

function mapSchemas(schemas: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [safeName(name), inside(schema)]));
}

function withMissing(properties: JsonSchema, required: readonly unknown[]): JsonSchema {
  const missing = required.filter((name) => typeof name === 'string' && !Object.hasOwn(properties, name));
  return { ...properties, ...Object.fromEntries(missing.map((name) => [name, {}])) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema, ready; why not, when it has what is not supported. */
const compile = remembered(
  (source): ZodType | string => {
    try {
      return zod().fromJSONSchema(withRequiredProperties(JSON.parse(source), 'data'));
    } catch (error) {
      if (error instanceof RangeError) return 'it is nested too deep';
      return error instanceof Error ? error.message : 'it cannot be read';
    }
  },
  64,
  65_536,
);

/** Loaded by the first schema: most services have none. */
function zod(): typeof import('zod') {
  loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('zod') as typeof import('zod');
  return loaded;
}

let loaded: typeof import('zod') | undefined;
