/** The most characters of an input, a result or the value of a step. */
export const longestValue = 1024 * 1024;
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
