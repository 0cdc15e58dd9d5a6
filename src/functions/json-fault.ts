import { byteLength } from '../jobs/validation/text-size.js';

/** Bytes of the JSON of an input, a result or the value of a step: the default of their setting, and its range. */
export const usualValueBytes = 1024 * 1024;
export const leastValueBytes = 1024;
export const mostValueBytes = 16 * usualValueBytes;
/** How deep a value may be: far more than people write, far less than would exhaust the stack. */
const deepest = 200;

/**
 * Why a value cannot be kept as JSON without becoming something else, with the path of the part; undefined when it can. Members that
 * are undefined count as absent.
 */
export function jsonFault(value: unknown, path = ''): string | undefined {
  return faultAt(value, path, 0);
}

function faultAt(value: unknown, path: string, depth: number): string | undefined {
  const place = path === '' ? 'the value' : path;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${place} is ${value}, which JSON has not`;
  if (typeof value !== 'object') return `${place} is ${value === undefined ? 'undefined' : `a ${typeof value}`}`;
  if (depth >= deepest) return `${place} is nested more than ${deepest} deep`;
  if (Array.isArray(value)) return faultOfItems(value, path, depth);
  return faultOfKind(value, place) ?? faultOfMembers(value, path, depth);
}

function faultOfKind(value: object, place: string): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return `${place} is a ${value.constructor?.name ?? 'class instance'}: only plain objects and lists are kept`;
  return typeof (value as { toJSON?: unknown }).toJSON === 'function' ? `${place} has a method toJSON` : undefined;
}

function faultOfMembers(value: object, path: string, depth: number): string | undefined {
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const fault = faultAt(member, path === '' ? name : `${path}.${name}`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfItems(items: readonly unknown[], path: string, depth: number): string | undefined {
  for (let at = 0; at < items.length; at += 1) {
    const fault = faultAt(items[at], `${path}[${at}]`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Why a value cannot be stored; undefined when it can. `most`: bytes of its JSON. */
export function valueFault(
  what: string,
  value: unknown,
  most: number,
): { readonly type: 'not_json' | 'too_large'; readonly message: string } | undefined {
  const fault = jsonFault(value);
  if (fault !== undefined) return { type: 'not_json', message: `the ${what} is not JSON: ${fault}` };
  const size = bytesOfJson(value, most);
  if (size <= most) return undefined;
  const largest = largestPart(value);
  const part = largest === undefined ? '' : `, ${largest.bytes} of them in ${largest.path}`;
  return { type: 'too_large', message: `the ${what} has ${size} bytes of JSON${part}: at most ${most} are kept` };
}

/** Not counted for short ones: a character has three bytes at most. */
function bytesOfJson(value: unknown, most: number): number {
  const text = JSON.stringify(value);
  return text.length * 3 <= most ? text.length : byteLength(text);
}

/** The part that makes a value large: as deep as one member has more than half of it. */
function largestPart(value: unknown): { readonly path: string; readonly bytes: number } | undefined {
  let found: { readonly path: string; readonly bytes: number } | undefined;
  for (let depth = 0; depth < 5 && typeof value === 'object' && value !== null; depth += 1) {
    const isList = Array.isArray(value);
    const parts = Object.entries(value).flatMap(([name, part]: [string, unknown]) =>
      part === undefined ? [] : [{ name, part, bytes: byteLength(JSON.stringify(part)) }],
    );
    const all = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    const largest = parts.find(({ bytes }) => bytes * 2 > all);
    if (largest === undefined) return found;
    const name = largest.name.slice(0, 128);
    const path =
      found === undefined ? (isList ? `[${name}]` : name) : `${found.path}${isList ? `[${name}]` : `.${name}`}`;
    found = { path, bytes: largest.bytes };
    value = largest.part;
  }
  return found;
}
