/* Keywords for values of any type, numbers and strings, and what the keywords of several types share. */

import { compilingTime, MAX_PATTERN_LENGTH, regularExpression } from '../shared/regular-expression.js';
import { isRecord } from '../shared/values.js';
import { formatNames, formats, numberFormats } from './formats.js';
import { re2Pattern } from './pattern.js';
import { type Check, FITS, type KeywordGroup, OPEN, type Part, type Run } from './run.js';

const typeNames = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type TypeName = (typeof typeNames)[number];

function isTypeName(value: unknown): value is TypeName {
  return (typeNames as readonly unknown[]).includes(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isOfType(value: unknown, type: TypeName): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

function readType({ schema, refuse }: Part): Check {
  const given = schema['type'];
  const types: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (types.length === 0 || !types.every(isTypeName)) {
    return refuse('type', `must be one or several of ${typeNames.join(', ')}`);
  }
  const message = `must be of type ${types.join(' or ')}`;
  return (value, run, place) =>
    types.some((type) => isOfType(value, type)) ? FITS : run.unfit(place, `${message}, not ${typeOf(value)}`);
}

/** Whether a value is one of others, compared as JSON. */
function among(allowed: readonly unknown[], message: string): Check {
  const isComposed = (value: unknown): boolean => typeof value === 'object' && value !== null;
  const plain = new Set(allowed.filter((each) => !isComposed(each)));
  const texts = new Set(allowed.filter(isComposed).map(canonicalText));
  return (value, run, place) => {
    if (!isComposed(value)) return plain.has(value) ? FITS : run.unfit(place, message);
    if (texts.size === 0) return run.unfit(place, message);
    // Builds a canonical string of the value, with its members in order.
    if (!run.spend(20 * sizeOf(value))) return OPEN;
    return texts.has(canonicalText(value)) ? FITS : run.unfit(place, message);
  };
}

function readEnum({ schema, refuse }: Part): Check {
  const values = schema['enum'];
  if (!Array.isArray(values) || values.length === 0) return refuse('enum', 'must be a list of one or more values');
  const shown = values.slice(0, 10).map(quoted).join(', ');
  return among(values, `must be one of ${shown}${values.length > 10 ? ', …' : ''}`);
}

interface Bound {
  readonly inclusive: string;
  readonly exclusive: string;
  readonly words: string;
  readonly isWithin: (value: number, bound: number) => boolean;
}

const least: Bound = {
  inclusive: 'minimum',
  exclusive: 'exclusiveMinimum',
  words: 'at least',
  isWithin: (value, bound) => value >= bound,
};

const most: Bound = {
  inclusive: 'maximum',
  exclusive: 'exclusiveMaximum',
  words: 'at most',
  isWithin: (value, bound) => value <= bound,
};

/** An exclusive bound is a separate number, or, as in draft 4, a boolean beside the inclusive one. */
function readBound({ schema, refuse }: Part, { inclusive, exclusive, words, isWithin }: Bound): Check {
  const bound = schema[inclusive];
  const beyond = schema[exclusive];
  if (bound !== undefined && typeof bound !== 'number') return refuse(inclusive, 'must be a number');
  if (typeof beyond === 'boolean') {
    if (bound === undefined) return refuse(exclusive, `as true or false has an effect only beside ${inclusive}`);
  } else if (beyond !== undefined && typeof beyond !== 'number') return refuse(exclusive, 'must be a number');
  const limit = beyond === true ? bound : typeof beyond === 'number' ? beyond : undefined;
  return (value, run, place) => {
    if (typeof value !== 'number') return FITS;
    if (bound !== undefined && !isWithin(value, bound)) return run.unfit(place, `must be ${words} ${bound}`);
    if (limit === undefined || (isWithin(value, limit) && value !== limit)) return FITS;
    return run.unfit(place, `must be ${words} ${limit}, and not ${limit} itself`);
  };
}

function readMultiple({ schema, refuse }: Part): Check {
  const factor = schema['multipleOf'];
  if (typeof factor !== 'number' || factor <= 0) return refuse('multipleOf', 'must be a number above 0');
  return (value, run, place) =>
    typeof value !== 'number' || isMultiple(value, factor) ? FITS : run.unfit(place, `must be a multiple of ${factor}`);
}

/** Compared in decimal notation: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const [digits, scale] = decimal(value);
  const [factorDigits, factorScale] = decimal(factor);
  const common = Math.max(scale, factorScale, 0);
  return (digits * 10n ** BigInt(common - scale)) % (factorDigits * 10n ** BigInt(common - factorScale)) === 0n;
}

/** A number as an integer and its number of decimals, which is negative for large numbers. */
function decimal(value: number): readonly [bigint, number] {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), fraction.length - Number(exponent)];
}

/** Code points, since a character outside the basic plane is one character. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) length -= 1;
  }
  return length;
}

/** Whether a string has a match; undefined when that exceeds the remaining work. */
export type Search = (text: string, run: Run) => boolean | undefined;

/** The check of a compiled pattern; it leaves values open when the pattern is unusable. */
export function readPattern(part: Part, pattern: unknown, where: string): Search | null {
  if (typeof pattern !== 'string') return refused(part, where, 'must be a regular expression');
  if (pattern.length > MAX_PATTERN_LENGTH) {
    return refused(part, where, `must be a regular expression of at most ${MAX_PATTERN_LENGTH} characters`);
  }
  const translated = re2Pattern(pattern);
  if (translated.isErr()) return refused(part, where, `cannot be used: ${translated.error}`);
  if (!part.spendCompiling(compilingTime(translated.value))) {
    return refused(part, where, 'cannot be used: the patterns of the schema take too long to compile');
  }
  const compiled = regularExpression(translated.value);
  if (compiled.isErr()) return refused(part, where, `cannot be used: ${compiled.error}`);
  const { size, matches } = compiled.value;
  return (text, run) => (run.spend(size * text.length + 100) ? matches(text) : undefined);
}

function refused(part: Part, where: string, message: string): null {
  part.refuse(where, message);
  return null;
}

function patternCheck(part: Part): Check {
  const pattern = part.schema['pattern'];
  const search = readPattern(part, pattern, 'pattern');
  return (value, run, place) => {
    if (typeof value !== 'string') return FITS;
    const found = search?.(value, run);
    if (found === undefined) return OPEN;
    return found ? FITS : run.unfit(place, `must match the pattern ${quoted(pattern)}`);
  };
}

function formatCheck({ schema, refuse }: Part): Check {
  const name = schema['format'];
  if (typeof name !== 'string' || !formatNames.includes(name)) {
    return refuse('format', `must be one of ${formatNames.join(', ')}; use pattern for others`);
  }
  const message = `must have the format ${name}`;
  const isNumber = numberFormats.get(name);
  const isText = formats.get(name);
  return (value, run, place) => {
    if (typeof value === 'number') return isNumber?.(value) === false ? run.unfit(place, message) : FITS;
    if (typeof value !== 'string' || isText === undefined) return FITS;
    if (!run.spend(10 * value.length)) return OPEN;
    return isText(value) ? FITS : run.unfit(place, message);
  };
}

function countCharacters(value: unknown, run: Run): number | null {
  if (typeof value !== 'string') return null;
  run.spend(value.length);
  return lengthOf(value);
}

/** In checking order: cheap and decisive keywords first. */
export const scalarKeywords: readonly KeywordGroup[] = [
  { keywords: ['type'], read: readType },
  { keywords: ['const'], read: ({ schema }) => among([schema['const']], `must be ${quoted(schema['const'])}`) },
  { keywords: ['enum'], read: readEnum },
  { keywords: [least.inclusive, least.exclusive], read: (part) => readBound(part, least) },
  { keywords: [most.inclusive, most.exclusive], read: (part) => readBound(part, most) },
  { keywords: ['multipleOf'], read: readMultiple },
  countKeyword('minLength', 'characters', countCharacters),
  countKeyword('maxLength', 'characters', countCharacters),
  { keywords: ['format'], read: formatCheck },
  { keywords: ['pattern'], read: patternCheck },
];

/** A keyword that bounds a number of characters, elements or members; `count` is null for values of other types. */
export function countKeyword(
  keyword: string,
  words: string,
  count: (value: unknown, run: Run) => number | null,
): KeywordGroup {
  const isLeast = keyword.startsWith('min');
  return {
    keywords: [keyword],
    read: ({ schema, refuse }) => {
      const bound = schema[keyword];
      if (!isCount(bound)) return refuse(keyword, 'must be a whole number, 0 or more');
      const message = `must have at ${isLeast ? 'least' : 'most'} ${bound} ${words}`;
      return (value, run, place) => {
        const found = count(value, run);
        if (found === null || (isLeast ? found >= bound : found <= bound)) return FITS;
        return run.unfit(place, `${message}, not ${found}`);
      };
    },
  };
}

export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
}

/** A string that two values share exactly when they are equal as JSON, regardless of member order and number notation. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (!isRecord(member)) return member;
    // A list of names and values, because an object would put numeric names first.
    return {
      ' ': Object.keys(member)
        .sort()
        .map((name) => [name, member[name]]),
    };
  });
}

/** Approximate length of a value's JSON text, in characters. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const element of value) size += sizeOf(element) + 1;
  else for (const [name, member] of Object.entries(value)) size += name.length + 3 + sizeOf(member);
  return size;
}
