import type { OptionKind } from '../../options/check-options.js';
import { instantFromRfc3339 } from '../../shared/instant.js';
import { isRecord } from '../../shared/values.js';

/* Validates data of another process member by member: types and limits. Unknown members are dropped. */

/** What is wrong: a path into the value, such as `reports[2].clientStatus`, and what is expected there. */
interface ShapeFault {
  readonly at: string;
  readonly expected: string;
}

/** Returns the value with its known members only; throws a `Misfit` where the shape does not match. */
export type Shape<T> = (value: unknown, at: string) => T;

class ShapeError extends Error {
  constructor(readonly fault: ShapeFault) {
    super(fault.expected);
  }
}

/** Validates a value; the error is its first mismatch. */
export function validated<T>(shape: Shape<T>, value: unknown, name: string): { readonly value: T } | ShapeFault {
  try {
    return { value: shape(value, name) };
  } catch (misfit) {
    if (misfit instanceof ShapeError) return misfit.fault;
    throw misfit;
  }
}

function misfit(at: string, expected: string): never {
  throw new ShapeError({ at: at.slice(0, 200), expected });
}

/** A string of at most `longest` UTF-16 code units. */
export function string(longest = 1024): Shape<string> {
  return (value, at) =>
    typeof value === 'string' && value.length <= longest
      ? value
      : misfit(at, `a string of at most ${longest} characters`);
}

/** A string that matches an option kind. */
export function stringOf(kind: OptionKind): Shape<string> {
  return (value, at) => (typeof value === 'string' && kind.fits(value) ? value : misfit(at, kind.takes));
}

export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return (value, at) => words.find((word) => word === value) ?? misfit(at, `one of ${words.join(', ')}`);
}

export const flag: Shape<boolean> = (value, at) => (typeof value === 'boolean' ? value : misfit(at, 'true or false'));

export const whole: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : misfit(at, 'a whole number');

/** An integer from 0 to `most`. */
export function count(most: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  const expected = most === Number.MAX_SAFE_INTEGER ? 'a whole number from 0 on' : `a whole number from 0 to ${most}`;
  return (value, at) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most
      ? value
      : misfit(at, expected);
}

/** An RFC 3339 timestamp. */
export const timestamp: Shape<string> = (value, at) =>
  typeof value === 'string' && instantFromRfc3339(value) !== undefined
    ? value
    : misfit(at, 'a time such as 2030-01-31T12:00:00Z');

/** Not negative. */
export const amount: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? value
    : misfit(at, 'a number of at least 0');

export const decimal: Shape<number> = (value, at) =>
  typeof value === 'number' && Number.isFinite(value) ? value : misfit(at, 'a number');

export const bytes: Shape<Uint8Array> = (value, at) => (value instanceof Uint8Array ? value : misfit(at, 'bytes'));

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value, at) => (value === null ? null : shape(value, at));
}

export function listOf<T>(shape: Shape<T>, most: number): Shape<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value) || value.length > most) return misfit(at, `a list of at most ${most} items`);
    return value.map((item, position) => shape(item, `${at}[${position}]`));
  };
}

/** An object with arbitrary keys; `__proto__` is treated like any other. */
export function mapOf<T>(shape: Shape<T>, most = 1000): Shape<Readonly<Record<string, T>>> {
  return (value, at) => {
    if (!isRecord(value)) return misfit(at, 'an object');
    const entries = Object.entries(value);
    if (entries.length > most) return misfit(at, `an object of at most ${most} members`);
    return Object.fromEntries(
      entries.map(([key, item]) => [string()(key, `${at}: the key`), shape(item, `${at}.${key}`)]),
    );
  };
}

type Members = Readonly<Record<string, Shape<unknown>>>;
type Fitted<M extends Members> = { readonly [K in keyof M]: M[K] extends Shape<infer T> ? T : never };

/** An object with these members; the second group is optional. */
export function objectOf<const M extends Members, const O extends Members = Record<never, never>>(
  members: M,
  optional: O = {} as O,
): Shape<Fitted<M> & Partial<Fitted<O>>> {
  return (value, at) => {
    if (!isRecord(value)) return misfit(at, 'an object');
    const found: Record<string, unknown> = {};
    for (const [name, shape] of Object.entries(members)) found[name] = shape(value[name], `${at}.${name}`);
    for (const [name, shape] of Object.entries(optional)) {
      if (value[name] !== undefined) found[name] = shape(value[name], `${at}.${name}`);
    }
    return found as Fitted<M> & Partial<Fitted<O>>;
  };
}
