import { isRecord } from '../shared/values.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A name escaped for a JSON pointer. */
export function pointed(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

export function quoted(value: unknown): string {
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
