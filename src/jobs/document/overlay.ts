/** A copy of the submitted block in which every null is filled from the defaults. Keys without a default stay as given. */
export function filled<T extends object, D extends object>(given: T, defaults: D): T & D {
  const out = { ...given } as Record<string, unknown>;
  for (const [key, value] of Object.entries(defaults)) {
    if (out[key] === null || out[key] === undefined) out[key] = value;
  }
  return out as T & D;
}

/** The base with everything laid over it that is given in the overlay. */
export function overlaid<T extends object>(base: T | null, overlay: T | null): T | null {
  if (base === null || overlay === null) return overlay ?? base;
  return filled(overlay, base) as T;
}

/** Null for an empty list or map: the document does not tell them apart. */
export function nullIfEmpty<T extends object>(value: T | null): T | null {
  if (value === null) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}

export function mapList<T, U>(list: readonly T[] | null, change: (element: T) => U): U[] | null {
  return list === null ? null : list.map(change);
}
