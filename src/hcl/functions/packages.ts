import type { RE2JS } from 're2js';
import type { LazyFunction } from './function.js';

/*
 * Packages that a few functions need. Each is loaded on its first use, because each takes longer to load than the rest of the
 * language and few jobs need it.
 */

/** Regular expressions in linear time (RE2's algorithm). */
export function re2(): typeof RE2JS {
  return load<typeof import('re2js')>('re2js').RE2JS;
}

/** The bcrypt password hash. */
export function bcryptjs(): typeof import('bcryptjs') {
  return load<typeof import('bcryptjs')>('bcryptjs');
}

/** Reader of YAML 1.1 and 1.2. */
export function yaml(): typeof import('yaml') {
  return load<typeof import('yaml')>('yaml');
}

const loaded = new Map<string, unknown>();

function load<Package>(name: string): Package {
  const found: unknown =
    loaded.get(name) ?? process.getBuiltinModule('node:module').createRequire(import.meta.url)(name);
  loaded.set(name, found);
  return found as Package;
}

/** `try(expression, …)`, `can(expression)` and `convert(value, type)`: the evaluator runs them on unevaluated arguments. */
export const lazyFunctions: readonly LazyFunction[] = [
  { kind: 'lazy', name: 'try', minimum: 1, maximum: undefined },
  { kind: 'lazy', name: 'can', minimum: 1, maximum: 1 },
  { kind: 'lazy', name: 'convert', minimum: 2, maximum: 2 },
];
