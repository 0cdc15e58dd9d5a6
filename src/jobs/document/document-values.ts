/** A duration in whole nanoseconds, as the job document stores it. */
export type Nanoseconds = number;

/** A time in Unix nanoseconds; beyond 2^53, so exact only to about 100 ns. */
export type UnixNanoseconds = number;

export const secondNanos: Nanoseconds = 1_000_000_000;
export const minuteNanos: Nanoseconds = 60 * secondNanos;
export const hourNanos: Nanoseconds = 60 * minuteNanos;

/** Whether two values of a document are equal, whatever the order of their keys. An absent key differs from an empty value. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, index) => equalValues(element, b[index]));
  }
  return !Array.isArray(b) && equalFields(a, b, nothing);
}

const nothing: ReadonlySet<string> = new Set();

/** The same for the fields of two objects, except the ignored ones. */
export function equalFields(a: object, b: object, ignored: ReadonlySet<string>): boolean {
  let present = 0;
  for (const key in a) {
    if (!Object.hasOwn(a, key)) continue;
    present++;
    if (ignored.has(key)) continue;
    if (!Object.hasOwn(b, key)) return false;
    if (!equalValues((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) return false;
  }
  return present === Object.keys(b).length;
}
