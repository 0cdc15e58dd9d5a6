import { type Milliseconds, parseDurationNanos } from '../shared/duration.js';
import { type Instant, instantFromRfc3339, isoFromInstant } from '../shared/instant.js';
import { isBase64, isRecord, quoted } from '../shared/values.js';

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A reference to a named schema of the OpenAPI document. The call table contains only names, because clients do not need
 * the schemas themselves.
 */
export function namedSchema(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** Encoding of a value as a member of a JSON body. Null and an absent member both mean "not given". */
export interface JsonCodec<T> {
  readonly schema: () => JsonSchema;
  /** Returns undefined if the JSON value has another type, and a fault if a nested value is wrong. */
  readonly read: (value: unknown) => JsonReading<T>;
  /** The expected value, for the message. */
  readonly expected: string;
  /** Converts to JSON; default: the value itself. */
  print?(value: T): unknown;
}

/** A value, or a fault: `pointer` is the path from the member to the fault, empty for the member itself. */
type JsonReading<T> = { readonly value: T } | { readonly pointer: string; readonly message: string } | undefined;

type JsonObject = Readonly<Record<string, unknown>>;

function codec<T>(schema: JsonSchema, expected: string, fits: (value: unknown) => value is T): JsonCodec<T> {
  return { schema: () => schema, expected, read: (value) => (fits(value) ? { value } : undefined) };
}

export const jsonBoolean: JsonCodec<boolean> = codec(
  { type: 'boolean' },
  'a bool',
  (value) => typeof value === 'boolean',
);

export const jsonText: JsonCodec<string> = codec({ type: 'string' }, 'a string', (value) => typeof value === 'string');

/** A string; the empty string means "not given". */
export const jsonName: JsonCodec<string> = {
  ...jsonText,
  read: (value) => (value === '' ? { value: undefined as unknown as string } : jsonText.read(value)),
};

/** Bytes in standard base64 with padding. Line ends, which many programs print, are left out. */
export const jsonBase64: JsonCodec<string> = {
  schema: () => ({ type: 'string', contentEncoding: 'base64' }),
  expected: 'standard base64 with padding',
  read: (value) => {
    if (typeof value !== 'string') return undefined;
    const text = value.replace(/[\r\n]+/g, '');
    return isBase64(text) ? { value: text } : undefined;
  },
};

export const jsonInteger: JsonCodec<number> = codec({ type: 'integer' }, 'a whole number', isWhole);

export const jsonUnsigned: JsonCodec<number> = codec(
  { type: 'integer', minimum: 0 },
  'a non-negative integer',
  (value): value is number => isWhole(value) && value >= 0,
);

export const jsonTexts: JsonCodec<readonly string[]> = codec(
  { type: 'array', items: { type: 'string' } },
  'a list of strings',
  (value): value is readonly string[] => Array.isArray(value) && value.every((item) => typeof item === 'string'),
);

export const jsonTextMap: JsonCodec<Readonly<Record<string, string>>> = codec(
  { type: 'object', additionalProperties: { type: 'string' } },
  'an object whose values are strings',
  (value): value is Readonly<Record<string, string>> =>
    isRecord(value) && Object.values(value).every((item) => typeof item === 'string'),
);

/** A map of strings; null removes a name. */
export const jsonTextsOrNulls: JsonCodec<Readonly<Record<string, string | null>>> = codec(
  { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  'an object whose values are strings or null',
  (value): value is Readonly<Record<string, string | null>> =>
    isRecord(value) && Object.values(value).every((item) => item === null || typeof item === 'string'),
);

/** Any object; the receiver validates it. */
export const jsonMap: JsonCodec<JsonObject> = codec(
  { type: 'object', additionalProperties: true },
  'an object',
  isRecord,
);

/** A string, or a bool that refers to another member. */
export const jsonTextOrBoolean: JsonCodec<string | boolean> = codec(
  { type: ['string', 'boolean'] },
  'a string or a bool',
  (value): value is string | boolean => typeof value === 'string' || typeof value === 'boolean',
);

/** Any JSON; the operation validates it. Documented by a named schema. */
export function jsonDocument<T>(schema: () => JsonSchema): JsonCodec<T> {
  return { schema, expected: 'a value', read: (value) => ({ value: value as T }) };
}

/** A member that clients send but this server does not support: only an empty value is accepted. */
export const jsonUnavailable: JsonCodec<never> = {
  schema: () => ({ anyOf: [{ maxLength: 0, maxItems: 0, maxProperties: 0, type: ['string', 'array', 'object'] }] }),
  expected: 'empty: this server does not support it',
  read: (value) => (value === '' || isEmptyObject(value) ? { value: undefined as never } : undefined),
};

/** The members of an object: those of T, by wire name. Null members are left out. */
export type JsonMembers = Readonly<Record<string, JsonMember<unknown>>>;

export interface JsonMember<T> {
  readonly name: string;
  readonly codec: JsonCodec<T>;
}

export type MembersOf<M extends JsonMembers> = {
  readonly [K in keyof M]?: M[K] extends JsonMember<infer T> ? T : never;
};

/** A member whose name differs from its wire name. */
export function member<T>(name: string, codec: JsonCodec<T>): JsonMember<T> {
  return { name, codec };
}

/** An object whose members are decoded one by one; keys are case-insensitive, unknown ones are ignored. */
export function jsonObject<M extends JsonMembers>(members: M): JsonCodec<MembersOf<M>> {
  const entries = Object.entries(members);
  return {
    schema: () => ({
      type: 'object',
      properties: Object.fromEntries(entries.map(([, { name, codec }]) => [name, orNull(codec.schema())])),
    }),
    expected: 'an object',
    read: (value) => {
      if (!isRecord(value)) return undefined;
      const given = membersIn(value);
      const found: Record<string, unknown> = {};
      for (const [own, { name, codec }] of entries) {
        const json = given(name);
        if (json === undefined || json === null) continue;
        const read = readMember(name, codec, json);
        if ('message' in read) return read;
        found[own] = read.value;
      }
      return { value: found as MembersOf<M> };
    },
    print: (value) => {
      const printed: Record<string, unknown> = {};
      for (const [own, { name, codec }] of entries) {
        const given = (value as Readonly<Record<string, unknown>>)[own];
        if (given !== undefined) printed[name] = printJson(codec, given);
      }
      return printed;
    },
  };
}

/** A list; every item is decoded. */
export function jsonList<T>(items: JsonCodec<T>): JsonCodec<readonly T[]> {
  return {
    schema: () => ({ type: 'array', items: items.schema() }),
    expected: 'a list',
    read: (value) => {
      if (!Array.isArray(value)) return undefined;
      const found: T[] = [];
      for (const [position, item] of value.entries()) {
        const read = items.read(item);
        if (read === undefined) {
          return { pointer: `/${position}`, message: `each item must be ${items.expected}, not ${kindOf(item)}` };
        }
        if ('message' in read) return { pointer: `/${position}${read.pointer}`, message: read.message };
        found.push(read.value);
      }
      return { value: found };
    },
    print: (values) => values.map((value) => printJson(items, value)),
  };
}

/** A duration as a string such as `1h30m`, or in whole nanoseconds; none when it is empty or 0. In milliseconds. */
export const jsonDurationText: JsonCodec<Milliseconds> = {
  schema: () => ({ type: ['string', 'integer'], examples: ['1h30m', '30s', ''] }),
  expected: 'a duration such as "1h30m", or whole nanoseconds',
  read: (value) => {
    if (value === '' || value === 0) return { value: undefined as unknown as Milliseconds };
    if (isWhole(value)) return { value: value / 1_000_000 };
    if (typeof value !== 'string') return undefined;
    return parseDurationNanos(value).match<JsonReading<Milliseconds>>(
      (nanos) => ({ value: Number(nanos) / 1_000_000 }),
      ({ message }) => ({ pointer: '', message: `invalid duration ${quoted(value)}: ${message}` }),
    );
  },
  print: (milliseconds) => `${milliseconds}ms`,
};

/** An RFC 3339 timestamp; the zero time (year 1) means "not given". */
export const jsonInstant: JsonCodec<Instant> = {
  schema: () => ({ type: 'string', format: 'date-time' }),
  expected: 'a time such as "2030-01-31T12:00:00Z"',
  read: (value) => {
    if (typeof value !== 'string') return undefined;
    const instant = instantFromRfc3339(value);
    if (instant === undefined) return undefined;
    return { value: value.startsWith('0001-') ? (undefined as unknown as Instant) : instant };
  },
  print: isoFromInstant,
};

/** Decodes one member; a fault has its path and a message for the caller. */
export function readMember<T>(
  name: string,
  codec: JsonCodec<T>,
  given: unknown,
): { readonly value: T } | { readonly pointer: string; readonly message: string } {
  const read = codec.read(given);
  if (read === undefined) {
    return { pointer: '/' + name, message: `"${name}" must be ${codec.expected}, not ${kindOf(given)}` };
  }
  return 'message' in read ? { pointer: `/${name}${read.pointer}`, message: read.message } : read;
}

export function printJson<T>(codec: JsonCodec<T>, value: T): unknown {
  return codec.print === undefined ? value : codec.print(value);
}

/** Finds members case-insensitively. If a name occurs in several forms, the last one counts, as in job documents, even if another is the exact form. */
export function membersIn(value: JsonObject): (name: string) => unknown {
  let folded: Map<string, string> | undefined;
  return (name) => {
    folded ??= new Map(Object.keys(value).map((key) => [key.toLowerCase(), key]));
    const key = folded.get(name.toLowerCase());
    return key === undefined ? undefined : value[key];
  };
}

/** Type name of a JSON value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'the string ' + quoted(value);
  return `the ${typeof value} ${JSON.stringify(value)}`;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
