import { err, ok, type Result } from 'neverthrow';
import { type BadInput, quoted } from './bad-input.js';
import { isJsonObject } from './json-body.js';
import { anyJson, anyObject, type JsonSchema } from './json-schema.js';

/**
 * A key of a request body of the job interface, as the route table declares it. Keys match in any case, unknown ones are
 * ignored, null means unset (job interface, request bodies).
 */
export interface Field<T> {
  readonly schema: () => JsonSchema;
  readonly required?: true;
  /** Gives undefined when the JSON value is of another type. */
  readonly read: (value: unknown) => T | undefined;
  /** What the value must be, for the message. */
  readonly expected: string;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

export type FieldValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? (F[K] extends { required: true } ? T : T | undefined) : never;
};

/** Reads the declared keys of a JSON object. */
export function readFields<F extends Fields>(fields: F, body: unknown): Result<FieldValues<F>, BadInput> {
  if (!isJsonObject(body)) return err(wrongType('', `the request body must be a JSON object, not ${kindOf(body)}`));
  const folded = foldedKeys(fields, body);
  const values: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name] as Field<unknown>;
    const key = Object.hasOwn(body, name) ? name : folded?.get(name.toLowerCase());
    const given = key === undefined ? undefined : body[key];
    if (given === undefined || given === null) {
      if (field.required === true) return err(wrongType(name, `"${name}" must be given`));
      continue;
    }
    const value = field.read(given);
    if (value === undefined) return err(wrongType(name, `"${name}" must be ${field.expected}, not ${kindOf(given)}`));
    values[name] = value;
  }
  return ok(values as FieldValues<F>);
}

/** The JSON Schema of a body with these keys. */
export function schemaOfFields(fields: Fields): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    properties[name] = field.required === true ? field.schema() : { anyOf: [field.schema(), { type: 'null' }] };
    if (field.required === true) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

export function required<T>(field: Field<T>): Field<T> & { readonly required: true } {
  return { ...field, required: true };
}

export const booleanField: Field<boolean> = {
  schema: () => ({ type: 'boolean' }),
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  expected: 'a bool',
};

export const textField: Field<string> = {
  schema: () => ({ type: 'string' }),
  read: (value) => (typeof value === 'string' ? value : undefined),
  expected: 'a string',
};

export const integerField: Field<number> = {
  schema: () => ({ type: 'integer' }),
  read: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
  expected: 'a whole number',
};

export const unsignedField: Field<number> = {
  schema: () => ({ type: 'integer', minimum: 0 }),
  read: (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined),
  expected: 'a whole number that is not negative',
};

/** Bytes in standard base64 with padding. */
export const bytesField: Field<Buffer> = {
  schema: () => ({ type: 'string', contentEncoding: 'base64' }),
  read: (value) => {
    if (typeof value !== 'string') return undefined;
    const text = value.replaceAll(/[\r\n]/g, '');
    return isBase64(text) ? Buffer.from(text, 'base64') : undefined;
  },
  expected: 'a string of standard base64 with padding',
};

export const textMapField: Field<Readonly<Record<string, string>>> = {
  schema: () => ({ type: 'object', additionalProperties: { type: 'string' } }),
  read: (value) =>
    isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string')
      ? (value as Readonly<Record<string, string>>)
      : undefined,
  expected: 'an object whose values are strings',
};

export const textListField: Field<readonly string[]> = {
  schema: () => ({ type: 'array', items: { type: 'string' } }),
  read: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string') ? (value as readonly string[]) : undefined,
  expected: 'a list of strings',
};

/** A key that clients send and this server has no use for: anything but an empty value is refused. */
export const unavailableField: Field<unknown> = {
  schema: () => ({ anyOf: [{ maxLength: 0, maxItems: 0, maxProperties: 0, type: ['string', 'array', 'object'] }] }),
  read: (value) => (value === '' || isEmptyObject(value) ? value : undefined),
  expected: 'empty: this server has no such feature',
};

export const objectField: Field<Readonly<Record<string, unknown>>> = {
  schema: () => anyObject,
  read: (value) => (isJsonObject(value) ? value : undefined),
  expected: 'an object',
};

/** Any JSON; whoever gets it judges it. */
export const jsonField: Field<unknown> = {
  schema: () => anyJson,
  read: (value) => value,
  expected: 'a value',
};

/** The same field with another schema in the documentation. */
export function described<T>(field: Field<T>, schema: () => JsonSchema): Field<T> {
  return { ...field, schema };
}

/** Keys of the body that are not spelled as declared, by their lower-case form; the last of several counts. */
function foldedKeys(fields: Fields, body: Readonly<Record<string, unknown>>): Map<string, string> | undefined {
  let folded: Map<string, string> | undefined;
  for (const key in body) {
    if (Object.hasOwn(fields, key)) continue;
    folded ??= new Map();
    folded.set(key.toLowerCase(), key);
  }
  return folded;
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function wrongType(name: string, message: string): BadInput {
  return { type: 'bad_input', reason: 'wrong_type', message, pointer: name === '' ? '' : '/' + name };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'the string ' + quoted(value);
  return `the ${typeof value} ${JSON.stringify(value)}`;
}
