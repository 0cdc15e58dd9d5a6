/**
 * Fills every null of the block from the defaults; keys without a default stay as given. Changes the block that it gets, so
 * callers hand over a copy: made at their place in the source, copies of one shape are fast.
 */
export function filled<T extends object, D extends object>(copy: T, defaults: D): T & D {
  const out = copy as Record<string, unknown>;
  for (const key in defaults) {
    if (out[key] === null || out[key] === undefined) out[key] = defaults[key];
  }
  return copy as T & D;
}

/** The base, overridden by every given value of the overlay. */
export function overlaid<T extends object>(base: T | null, overlay: T | null): T | null {
  if (base === null || overlay === null) return overlay ?? base;
  return filled({ ...overlay }, base) as T;
}

/** Null for an empty list or map: the document does not distinguish them. */
export function nullIfEmpty<T extends object>(value: T | null): T | null {
  if (value === null) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}

export function mapList<T, U>(list: readonly T[] | null, change: (element: T) => U): U[] | null {
  return list === null ? null : list.map(change);
}
