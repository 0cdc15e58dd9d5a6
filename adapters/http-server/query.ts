import { err, ok, type Result } from 'neverthrow';
import { parseDurationNanos } from '../../src/index.js';
import { type BadInput, quoted } from './bad-input.js';
import type { JsonSchema } from './json-schema.js';

/** The query string of a request, taken apart at the first question asked. A repeated name keeps its first value. */
export class Query {
  /** As sent, without the question mark. */
  readonly raw: string;
  #values: Map<string, string | undefined> | undefined;

  constructor(raw: string) {
    this.raw = raw;
  }

  get isEmpty(): boolean {
    return this.raw === '';
  }

  /** The decoded value; undefined when the name does not occur. An invalid percent-encoding is an error. */
  get(name: string): Result<string | undefined, BadInput> {
    if (this.raw === '') return ok(undefined);
    this.#values ??= valuesFrom(this.raw);
    const value = this.#values.get(name);
    if (value === undefined && this.#values.has(name)) {
      return err(badParameter(name, `the value of "${name}" holds an invalid percent-encoding; write % as %25`));
    }
    return ok(value);
  }
}

/** A query parameter as the route table declares it: it is read by this, and described by it in the OpenAPI document. */
export interface Parameter<T> {
  readonly schema: JsonSchema;
  readonly description: string;
  /** Other spellings in use; the first one present counts. */
  readonly aliases?: readonly string[];
  readonly required?: true;
  /** Gets the decoded text; gives the message for the caller when it does not fit. */
  readonly parse: (text: string, name: string) => Result<T, string>;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What a set of parameters gives: absent ones are undefined. */
export type ParameterValues<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T | undefined : never;
};

const noValues: Readonly<Record<string, undefined>> = Object.freeze({});

/** Reads the declared parameters; all others are ignored. */
export function readParameters<P extends Parameters>(
  parameters: P,
  query: Query,
): Result<ParameterValues<P>, BadInput> {
  if (query.isEmpty && !hasRequired(parameters)) return ok(noValues as ParameterValues<P>);
  const values: Record<string, unknown> = {};
  for (const name in parameters) {
    const parameter = parameters[name] as Parameter<unknown>;
    const read = readParameter(parameter, name, query);
    if (read.isErr()) return err(read.error);
    values[name] = read.value;
  }
  return ok(values as ParameterValues<P>);
}

function readParameter(parameter: Parameter<unknown>, name: string, query: Query): Result<unknown, BadInput> {
  for (const spelling of [name, ...(parameter.aliases ?? [])]) {
    const text = query.get(spelling);
    if (text.isErr()) return err(text.error);
    if (text.value === undefined) continue;
    return parameter.parse(text.value, spelling).mapErr((message) => badParameter(spelling, message));
  }
  if (parameter.required === true) {
    return parameter.parse('', name).mapErr((message) => badParameter(name, message));
  }
  return ok(undefined);
}

function hasRequired(parameters: Parameters): boolean {
  for (const name in parameters) if (parameters[name]?.required === true) return true;
  return false;
}

/** Must be given: an absent one is read as an empty text, which gives the parameter's own message. */
export function requiredParameter<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, required: true };
}

function badParameter(parameter: string, message: string): BadInput {
  return { type: 'bad_input', reason: 'malformed', message, parameter };
}

/** Any text. */
export function textParameter(description: string, aliases: readonly string[] = []): Parameter<string> {
  return { schema: { type: 'string' }, description, aliases, parse: (text) => ok(text) };
}

/** One of the words, exactly. */
export function wordParameter<W extends string>(description: string, words: readonly W[]): Parameter<W> {
  return {
    schema: { type: 'string', enum: words },
    description,
    parse: (text, name) => {
      const word = words.find((candidate) => candidate === text);
      return word === undefined ? err(`"${name}" must be one of ${words.join(', ')}, not ${quoted(text)}`) : ok(word);
    },
  };
}

/** `1 t T TRUE true True 0 f F FALSE false False`, and nothing else (job interface, query parameters). */
export function booleanParameter(description: string): Parameter<boolean> {
  return {
    schema: { type: 'boolean' },
    description,
    parse: (text, name) => {
      const value = booleanFrom(text);
      return value === undefined ? err(`failed to parse value of "${name}" (${quoted(text)}) as a bool`) : ok(value);
    },
  };
}

/** As `booleanParameter`, but what cannot be read is false. */
export function lenientBooleanParameter(description: string): Parameter<boolean> {
  return { schema: { type: 'boolean' }, description, parse: (text) => ok(booleanFrom(text) ?? false) };
}

/** Present without a value means true. */
export function flagParameter(description: string): Parameter<boolean> {
  return {
    schema: { type: 'boolean' },
    description,
    parse: (text, name) => {
      const value = text === '' ? true : booleanFrom(text);
      return value === undefined ? err(`the query parameter "${name}" expects true or false`) : ok(value);
    },
  };
}

/** True for the literal `true` only; never an error. */
export function literalTrueParameter(description: string): Parameter<boolean> {
  return { schema: { type: 'boolean' }, description, parse: (text) => ok(text === 'true') };
}

/** Decimal digits; at most 2^53 - 1, beyond which no index can be. `what` begins the message. */
export function unsignedParameter(description: string, what: string): Parameter<number> {
  return {
    schema: { type: 'integer', minimum: 0 },
    description,
    parse: (text) => {
      const value = digitsOnly(text) ? Number(text) : Number.NaN;
      if (Number.isSafeInteger(value)) return ok(value);
      return err(`${what}: ${quoted(text)} is not a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
    },
  };
}

/** A whole number of 32 bits. */
export function integerParameter(description: string): Parameter<number> {
  return {
    schema: { type: 'integer', format: 'int32' },
    description,
    parse: (text, name) => {
      const unsigned = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text;
      const value = digitsOnly(unsigned) ? Number(text) : Number.NaN;
      if (value >= -0x80000000 && value <= 0x7fffffff) return ok(value);
      return err(`the query parameter "${name}" expects a number, not ${quoted(text)}`);
    },
  };
}

/** A duration such as `5s` or `1m30s`, in milliseconds. */
export function durationParameter(description: string, what: string): Parameter<number> {
  return {
    schema: { type: 'string', examples: ['30s', '1m30s', '100ms'] },
    description,
    parse: (text) =>
      parseDurationNanos(text)
        .map((nanos) => Number(nanos) / 1_000_000)
        .mapErr((error) => `${what}: ${quoted(text)}: ${error.message}`),
  };
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

function booleanFrom(text: string): boolean | undefined {
  return booleans.get(text);
}

function digitsOnly(text: string): boolean {
  return text.length > 0 && text.length <= 16 && /^[0-9]+$/.test(text);
}

/** Names that cannot be decoded are dropped; values that cannot be decoded are kept as undefined. */
function valuesFrom(raw: string): Map<string, string | undefined> {
  const values = new Map<string, string | undefined>();
  for (const pair of raw.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    if (name === undefined || values.has(name)) continue;
    values.set(name, equals < 0 ? '' : decodeFormText(pair.slice(equals + 1)));
  }
  return values;
}

function decodeFormText(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
