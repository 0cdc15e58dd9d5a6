import type { Difference } from './player.js';

/**
 * A description of the first difference of two JSON values; undefined when they are equal. The order of members does not matter. A
 * member that is undefined is not there.
 */
export function firstDifference(actual: unknown, expected: unknown, path = ''): Difference {
  if (Object.is(actual, expected)) return undefined;
  if (Array.isArray(actual) && Array.isArray(expected)) return differentItems(actual, expected, path);
  if (isRecord(actual) && isRecord(expected)) return differentMembers(actual, expected, path);
  return `${path === '' ? 'the answer' : path} is ${shown(actual)}, not ${shown(expected)}`;
}

function differentItems(actual: readonly unknown[], expected: readonly unknown[], path: string): Difference {
  for (let at = 0; at < Math.max(actual.length, expected.length); at += 1) {
    const difference = firstDifference(actual[at], expected[at], `${path}[${at}]`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function differentMembers(actual: Members, expected: Members, path: string): Difference {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = firstDifference(actual[name], expected[name], path === '' ? name : `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

type Members = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const MAX_SHOWN = 200;

function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
