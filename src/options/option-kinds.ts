import { isRecord } from '../shared/values.js';
import { faultIn, faultOf, type OptionKind, type OptionTable } from './check-options.js';

/**
 * String forms that options share with the configuration language. They are separate so that programs that only call a server do not
 * load the language's parser and functions.
 */
export { parseDuration } from '../hcl/decode/duration.js';
export { suggestName } from '../hcl/diagnostics/suggest.js';

export const text: OptionKind = { takes: 'a string', fits: (value) => typeof value === 'string' };

export const flag: OptionKind = { takes: 'true or false', fits: (value) => typeof value === 'boolean' };

/** Infinity means unlimited. */
export const amount: OptionKind = {
  takes: 'a non-negative number',
  fits: (value) => typeof value === 'number' && value >= 0,
};

/** A count of at least one. */
export const count: OptionKind = {
  takes: 'a number from 1',
  fits: (value) => typeof value === 'number' && value >= 1,
};

export function wholeFrom(least: number, most: number): OptionKind {
  return {
    takes: `a whole number from ${least} to ${most}`,
    fits: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most,
  };
}

/** A fraction from 0 to 1. */
export const share: OptionKind = {
  takes: 'a number from 0 to 1',
  fits: (value) => typeof value === 'number' && value >= 0 && value <= 1,
};

/** A finite duration of at least `least` milliseconds. */
export function passingTime(least: 0 | 1): OptionKind {
  return {
    takes: `a finite number of milliseconds${least === 0 ? '' : ' from 1'}`,
    fits: (value) => typeof value === 'number' && value >= least && Number.isFinite(value),
  };
}

/** The name of an HTTP header. */
export const headerName: OptionKind = {
  takes: 'the name of a header',
  fits: (value) => typeof value === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(value),
};

export const milliseconds: OptionKind = { ...amount, takes: 'a number of milliseconds' };

/** A time, in milliseconds since 1970. */
export const instant: OptionKind = {
  takes: 'a number of milliseconds since 1970',
  fits: (value) => typeof value === 'number' && Number.isFinite(value),
};

export const callable: OptionKind = { takes: 'a function', fits: (value) => typeof value === 'function' };

/** Accepts any value; it is checked elsewhere. */
export const anything: OptionKind = { takes: 'a value', fits: () => true };

export function optional(kind: OptionKind): OptionKind {
  return { ...kind, isOptional: true };
}

export function oneOf(...words: readonly string[]): OptionKind {
  return {
    takes: words.map((word) => `'${word}'`).join(' or '),
    fits: (value) => typeof value === 'string' && words.includes(value),
  };
}

export function either(first: OptionKind, second: OptionKind): OptionKind {
  return { takes: `${first.takes} or ${second.takes}`, fits: (value) => first.fits(value) || second.fits(value) };
}

/** A string that `pattern` matches. */
export function textLike(pattern: RegExp, takes: string): OptionKind {
  return { takes, fits: (value) => typeof value === 'string' && pattern.test(value) };
}

export function listOf(kind: OptionKind): OptionKind {
  const faultWithin = (items: unknown, path: string): string | undefined => {
    for (const [at, item] of (items as readonly unknown[]).entries()) {
      const fault = faultOf(item, kind, `${path}[${at}]`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return { takes: 'a list', fits: Array.isArray, faultWithin };
}

/** An object with any member names and values of one kind. */
export function mapOf(kind: OptionKind): OptionKind {
  const faultWithin = (value: unknown, path: string): string | undefined => {
    const members = value as Readonly<Record<string, unknown>>;
    return faultIn(members, Object.fromEntries(Object.keys(members).map((name) => [name, kind])), `${path}.`);
  };
  return { takes: 'an object', fits: (value) => isRecord(value) && !(value instanceof Map), faultWithin };
}

/** An object with a separate option table. */
export function group<T extends object>(table: OptionTable<T>): OptionKind {
  const faultWithin = (value: unknown, path: string): string | undefined =>
    faultIn(value as Readonly<Record<string, unknown>>, table, `${path}.`);
  return { takes: 'an object with options', fits: isRecord, faultWithin };
}

/** A port: an object or function with these methods. */
export function port(takes: string, ...methods: readonly string[]): OptionKind {
  return {
    takes,
    fits: (value) =>
      ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
      methods.every((method) => typeof Reflect.get(value, method) === 'function'),
  };
}

export const logger: OptionKind = port(
  'a logger with the methods debug, info, warn and error',
  'debug',
  'info',
  'warn',
  'error',
);

export const clock: OptionKind = port('a clock, such as systemClock()', 'now', 'monotonic', 'sleep', 'sleepUntil');

export const ids: OptionKind = port('a source of IDs, such as randomIds()', 'next', 'fraction');

/** Secrets of tokens; limited to what a header can carry. */
export const tokenSecret = textLike(/^[\x21-\x7e]{1,256}$/, '1 to 256 visible ASCII characters without blanks');

/** IDs of nodes and allocations. */
export const recordId = textLike(
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'a UUID of 36 characters in lower case',
);

/** Names of nodes and datacenters. */
export const nodeName = textLike(/^[^\0]{1,255}$/, 'a string of 1 to 255 characters without NUL');

/** Pools that a node can be in; `all` stands for every pool. */
export const nodePoolName = textLike(
  /^(?!all$)[a-zA-Z0-9_-]{1,128}$/,
  '1 to 128 letters, digits, dashes and underscores, and not "all"',
);
