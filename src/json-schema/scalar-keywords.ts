import { compilingTime, MAX_PATTERN_LENGTH, regularExpression } from '../shared/regular-expression.js';
import { isRecord, resultOr } from '../shared/values.js';
import { re2Pattern } from './pattern.js';
import { type Check, FITS, type KeywordGroup, OPEN, type Part, type Run } from './run.js';

/* Keywords for values of any type, numbers and strings, and what the keywords of several types share. */

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
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
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

/*
 * Formats of strings. Each expression matches in one pass from the beginning: no part can be repeated in two ways.
 */

const days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (found === null) return false;
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && !isLeap ? 28 : (days[month - 1] ?? 0);
  return day >= 1 && day <= last;
}

const fullTime = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[zZ]|([+-])(\d{2}):(\d{2}))$/;

/** A time of day with its offset. Second 60 is allowed only before midnight in UTC. */
function isTime(text: string): boolean {
  const found = fullTime.exec(text);
  if (found === null) return false;
  const [hour, minute, second] = found.slice(1, 4).map(Number) as [number, number, number];
  const offsetHour = Number(found[5] ?? 0);
  const offsetMinute = Number(found[6] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (found[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return (hour * 60 + minute - offset + 2880) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  return /^.{10}[tT]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

const duration =
  /^P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)?)?)$/;

/** Labels of letters, digits and hyphens, at most 63 characters each and 253 together. */
function isHostname(text: string): boolean {
  return (
    text.length <= 253 &&
    text.split('.').every((label) => /^(?!-)[A-Za-z0-9-]{1,63}$/.test(label) && !label.endsWith('-'))
  );
}

function isIpv4(text: string): boolean {
  const parts = text.split('.', 5);
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1) ?? '';
  const endsWithIpv4 = last.includes('.');
  if (endsWithIpv4 && (!isIpv4(last) || text.endsWith('::'))) return false;
  const plain = endsWithIpv4 ? groups.slice(0, -1) : groups;
  const count = plain.length + (endsWithIpv4 ? 2 : 0);
  return plain.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? count <= 7 : count === 8);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 64 || text.length > 320) return false;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  const isLocal =
    /^"(?:[ !#-[\]-~]|\\[ -~])*"$/.test(local) ||
    local.split('.').every((atom) => /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/.test(atom));
  return isLocal && (isHostname(domain) || isAddressLiteral(domain));
}

function isAddressLiteral(domain: string): boolean {
  if (!domain.startsWith('[') || !domain.endsWith(']')) return false;
  const address = domain.slice(1, -1);
  return address.startsWith('IPv6:') ? isIpv6(address.slice(5)) : isIpv4(address);
}

const plainUriCharacters = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** A reference of RFC 3986: only its authority may have brackets, around an address. */
function isUriReference(text: string): boolean {
  const hash = text.indexOf('#');
  const [main, fragment] = hash < 0 ? [text, ''] : [text.slice(0, hash), text.slice(hash + 1)];
  const rest = main.replace(scheme, '');
  if (!plainUriCharacters.test(fragment)) return false;
  // Without a scheme the first segment of a path has no colon.
  if (rest.length === main.length && /^[^/?]*:/.test(rest)) return false;
  if (!rest.startsWith('//')) return plainUriCharacters.test(rest);
  const end = rest.slice(2).search(/[/?]/);
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end + 2);
  return isAuthority(authority) && plainUriCharacters.test(end < 0 ? '' : rest.slice(end + 2));
}

function isAuthority(text: string): boolean {
  const at = text.indexOf('@');
  if (!plainUriCharacters.test(text.slice(0, Math.max(at, 0)))) return false;
  const place = text.slice(at + 1);
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(place);
  if (bracketed !== null)
    return isIpv6(bracketed[1] ?? '') || /^v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$/.test(bracketed[1] ?? '');
  return /^[^:@]*(?::\d*)?$/.test(place) && plainUriCharacters.test(place);
}

function isUri(text: string): boolean {
  return scheme.test(text) && isUriReference(text);
}

function isRegex(text: string): boolean {
  return resultOr(false, () => new RegExp(text, 'u') instanceof RegExp);
}

function isCidr(text: string, isAddress: (address: string) => boolean, bits: number): boolean {
  const slash = text.lastIndexOf('/');
  const prefix = text.slice(slash + 1);
  return slash > 0 && isAddress(text.slice(0, slash)) && /^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits;
}

const by =
  (expression: RegExp) =>
  (text: string): boolean =>
    expression.test(text);
const base64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const uuid = by(/^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/);
const isAnything = (): boolean => true;

/** Formats of strings, by name. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date-time', isDateTime],
  ['date', isDate],
  ['time', isTime],
  ['duration', by(duration)],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', isUri],
  ['uri-reference', isUriReference],
  ['uuid', uuid],
  ['json-pointer', by(/^(?:\/(?:[^~]|~[01])*)?$/s)],
  ['relative-json-pointer', by(/^(?:0|[1-9]\d*)(?:#|\/(?:[^~]|~[01])*)?$/s)],
  ['regex', isRegex],
  ['guid', uuid],
  ['mac', by(/^[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})$/)],
  ['cidr', (text: string) => isCidr(text, isIpv4, 32)],
  ['cidr-v6', (text: string) => isCidr(text, isIpv6, 128)],
  ['base64', base64],
  ['byte', base64],
  ['base64url', by(/^[A-Za-z0-9_-]*$/)],
  ['e164', by(/^\+[1-9]\d{6,14}$/)],
  ['ulid', by(/^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$/)],
  ['password', isAnything],
  ['binary', isAnything],
]);

/** Formats of numbers, by name. */
const numberFormats: ReadonlyMap<string, (value: number) => boolean> = new Map([
  ['int32', (value: number) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31],
  ['int64', (value: number) => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63],
  ['float', isAnything],
  ['double', isAnything],
]);

export const formatNames: readonly string[] = [...formats.keys(), ...numberFormats.keys()];
