import { err, ok, type Result } from 'neverthrow';
import { type Milliseconds, parseDurationNanos } from '../shared/duration.js';
import { instantFromRfc3339, isoFromInstant } from '../shared/instant.js';
import { quoted } from '../shared/values.js';
import type { JsonSchema } from './json-codecs.js';

/** Encoding of a value in a path or a query. */
export interface TextCodec<T> {
  readonly schema: JsonSchema;
  /** Takes the decoded text and the parameter's name; an error is the message for the caller. */
  readonly parse: (text: string, name: string) => Result<T, string>;
  print(value: T): string;
  /** The type of the value, if it is not that of the schema. */
  readonly holds?: 'milliseconds' | 'instant';
}

/** Any string. */
export const text: TextCodec<string> = {
  schema: { type: 'string' },
  parse: (written) => ok(written),
  print: (value) => value,
};

/** The beginning of an ID that is a UUID. */
export const beginningOfId: TextCodec<string> = { ...text };

/** A string; the empty string means "not given". */
export const name: TextCodec<string> = {
  schema: { type: 'string' },
  parse: (written) => ok(written === '' ? (undefined as unknown as string) : written),
  print: (value) => value,
};

/** One of the words, exactly. */
export function word<W extends string>(...words: readonly W[]): TextCodec<W> {
  return {
    schema: { type: 'string', enum: words },
    parse: (written, name) => {
      const found = words.find((candidate) => candidate === written);
      return found === undefined
        ? err(`"${name}" must be one of ${words.join(', ')}, not ${quoted(written)}`)
        : ok(found);
    },
    print: (value) => value,
  };
}

const printed = String;

/** `1 t T TRUE true True 0 f F FALSE false False`, and nothing else (job interface, query parameters). */
export const boolean: TextCodec<boolean> = {
  schema: { type: 'boolean' },
  parse: (written, name) => {
    const value = booleans.get(written);
    return value === undefined ? err(`failed to parse value of "${name}" (${quoted(written)}) as a bool`) : ok(value);
  },
  print: printed,
};

/** As `boolean`, but an invalid text means false. */
export const lenientBoolean: TextCodec<boolean> = {
  schema: { type: 'boolean' },
  parse: (written) => ok(booleans.get(written) ?? false),
  print: printed,
};

/** Present without a value means true. */
export const flag: TextCodec<boolean> = {
  schema: { type: 'boolean' },
  parse: (written, name) => {
    const value = written === '' ? true : booleans.get(written);
    return value === undefined ? err(`the query parameter "${name}" expects true or false`) : ok(value);
  },
  print: printed,
};

/** True for the literal `true` only; never an error. */
export const literalTrue: TextCodec<boolean> = {
  schema: { type: 'boolean' },
  parse: (written) => ok(written === 'true'),
  print: printed,
};

/** Decimal digits up to 2^64 - 1; values above 2^53 - 1, the largest possible index, read as that. The message begins with `what`. */
export function unsigned(what: string): TextCodec<number> {
  return {
    schema: { type: 'integer', minimum: 0 },
    parse: (written) => {
      const value = /^[0-9]{1,64}$/.test(written) ? Number(written) : Number.NaN;
      if (Number.isSafeInteger(value)) return ok(value);
      // Doubles of this size are inexact: compare as BigInt.
      if (value > 0 && BigInt(written) <= largestUnsigned) return ok(Number.MAX_SAFE_INTEGER);
      return err(`${what}: ${quoted(written)} is not a whole number from 0 to ${largestUnsigned}`);
    },
    print: printed,
  };
}

const largestUnsigned = 2n ** 64n - 1n;

/** A whole number of 32 bits. */
export const integer: TextCodec<number> = {
  schema: { type: 'integer', format: 'int32' },
  parse: (written, name) => {
    const digits = written.startsWith('-') || written.startsWith('+') ? written.slice(1) : written;
    const value = digitsOnly(digits) ? Number(written) : Number.NaN;
    if (value >= -0x80000000 && value <= 0x7fffffff) return ok(value);
    return err(`the query parameter "${name}" expects a number, not ${quoted(written)}`);
  },
  print: printed,
};

/** A safe integer. Existing clients match the words after `what`. */
export function signedInteger(what: string): TextCodec<number> {
  return {
    schema: { type: 'integer' },
    parse: (written) => {
      const digits = written.startsWith('-') || written.startsWith('+') ? written.slice(1) : written;
      const value = digitsOnly(digits) ? Number(written) : Number.NaN;
      if (Number.isSafeInteger(value)) return ok(value);
      const reason = /^[0-9]+$/.test(digits) ? 'value out of range' : 'invalid syntax';
      return err(`${what}: strconv.Atoi: parsing ${quoted(written)}: ${reason}`);
    },
    print: printed,
  };
}

/** An integer of up to 15 digits: an offset in a file; negative offsets count from its end. */
export const whole: TextCodec<number> = {
  schema: { type: 'integer' },
  parse: (written, name) =>
    /^-?[0-9]{1,15}$/.test(written)
      ? ok(Number(written))
      : err(`the query parameter "${name}" expects a number, not ${quoted(written)}`),
  print: printed,
};

/** A positive integer. */
export const positive: TextCodec<number> = {
  schema: { type: 'integer', minimum: 1 },
  parse: (written, name) => {
    const value = /^[0-9]{1,9}$/.test(written) ? Number(written) : 0;
    return value >= 1 ? ok(value) : err(`${name} must be a whole number from 1, not ${quoted(written)}`);
  },
  print: printed,
};

/** A duration such as `5s` or `1m30s`; the value is in milliseconds. The message begins with `what`. */
export function duration(what: string): TextCodec<Milliseconds> {
  return {
    schema: { type: 'string', examples: ['30s', '1m30s', '100ms'] },
    holds: 'milliseconds',
    parse: (written) =>
      parseDurationNanos(written)
        .map((nanos) => Number(nanos) / 1_000_000)
        .mapErr((error) => `${what}: ${quoted(written)}: ${error.message}`),
    print: (milliseconds) => `${Math.round(milliseconds * 1000)}us`,
  };
}

/** An instant written as `2026-01-02T03:04:05Z`; the value is in milliseconds since 1970. */
export const instant: TextCodec<number> = {
  schema: { type: 'string', format: 'date-time' },
  parse: (written, name) => {
    const read = instantFromRfc3339(written);
    return read === undefined
      ? err(`"${name}" must be a time such as 2026-01-02T03:04:05Z, not ${quoted(written)}`)
      : ok(read);
  },
  // An invalid time is printed as it is, so that the server refuses it.
  print: (value) => (isMoment(value) ? isoFromInstant(value) : String(value)),
  holds: 'instant',
};

/** The last time that a `Date` can hold, and the same time before 1970. */
const furthest = 8.64e15;

function isMoment(value: number): boolean {
  return Math.abs(value) <= furthest;
}

/**
 * A page token. It is sent in a header, which allows visible ASCII only: other characters and the percent sign are
 * percent-encoded, so that decoding is unambiguous.
 */
export const pageToken: TextCodec<string> = {
  schema: { type: 'string' },
  parse: (written) => {
    if (!written.includes('%')) return ok(written);
    try {
      return ok(decodeURIComponent(written));
    } catch {
      return ok(written);
    }
  },
  print: (token) => (/^[\x21-\x24\x26-\x7e]*$/.test(token) ? token : encodeURIComponent(token)),
};

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((written) => [written, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((written) => [written, false] as const),
]);

function digitsOnly(written: string): boolean {
  return written.length > 0 && written.length <= 16 && /^[0-9]+$/.test(written);
}

/* Base 64 without a Node module: clients run in browsers too. */

export function base64From(bytes: Uint8Array): string {
  let characters = '';
  for (let at = 0; at < bytes.length; at += 4096) characters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(characters);
}

/** Undefined for a string that is not base 64. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  let characters: string;
  try {
    characters = atob(text);
  } catch {
    return undefined;
  }
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}
