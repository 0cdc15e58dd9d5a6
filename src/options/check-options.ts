/*
 * Checks the options of a factory, member by member, when it is called: a mistyped name or value would
 * otherwise have no effect, or fail much later in an unrelated place.
 */
import { suggestName } from '../hcl/diagnostics/suggest.js';
import { isRecord } from '../shared/values.js';

/** The allowed values of one option. */
export interface OptionKind {
  /** The expected value in words, such as `a string`. */
  readonly takes: string;
  readonly fits: (value: unknown) => boolean;
  /** Whether the option may be omitted. */
  readonly isOptional?: boolean;
  /** The fault of a part of a structured value; undefined when it is valid. */
  readonly faultWithin?: (value: unknown, path: string) => string | undefined;
}

/** The kinds of all options of `T`; unknown options are refused. */
export type OptionTable<T> = { readonly [K in keyof Required<T>]: OptionKind };

/** Throws a TypeError that begins with the factory's name when an option is unknown, missing or invalid. */
export function checkOptions<T extends object>(factory: string, given: T, table: OptionTable<T>): void {
  const fault = isRecord(given)
    ? faultIn(given, table, '')
    : `expected an object with options, got ${described(given)}`;
  if (fault !== undefined) throw new TypeError(`${factory}: ${fault}`);
}

/** Throws a TypeError when a positional argument is invalid. */
export function checkArgument(factory: string, name: string, value: unknown, kind: OptionKind): void {
  const fault = faultOf(value, kind, name);
  if (fault !== undefined) throw new TypeError(`${factory}: ${fault}`);
}

/** The first fault of a record; `path` is the prefix of its members' names. */
export function faultIn(
  given: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, OptionKind>>,
  path: string,
): string | undefined {
  const fault = faultOfMembers(given, table, path);
  if (fault !== undefined) return fault;
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !Object.hasOwn(table, name)) return unknownName(path + name, path, table);
  }
  return undefined;
}

/** The same without refusing names that are missing from the table. */
export function faultOfMembers(
  given: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, OptionKind>>,
  path: string,
): string | undefined {
  for (const [name, kind] of Object.entries(table)) {
    const fault = faultOf(given[name], kind, path + name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The fault of one value; undefined when it is valid. */
export function faultOf(value: unknown, kind: OptionKind, name: string): string | undefined {
  if (value === undefined && kind.isOptional === true) return undefined;
  if (value === undefined) return `${name} is missing: it takes ${kind.takes}`;
  return kind.fits(value) ? kind.faultWithin?.(value, name) : `${name} takes ${kind.takes}, got ${described(value)}`;
}

function unknownName(name: string, path: string, table: Readonly<Record<string, OptionKind>>): string {
  const nearest = suggestName(name.slice(path.length), Object.keys(table));
  const shown = name.slice(0, 100);
  return `there is no option ${shown}${nearest === undefined ? '' : `; did you mean ${path}${nearest}?`}`;
}

/** Describes a value by its type only, because it may be a secret. */
export function described(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return describedObject(value);
  if (typeof value === 'function')
    return `a function${value.name === '' ? '' : ` (${value.name})`}: was it to be called?`;
  return wordsOf[typeof value] ?? `a ${typeof value}`;
}

const wordsOf: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  undefined: 'nothing',
};

function describedObject(value: object): string {
  if (typeof Reflect.get(value, 'isOk') === 'function') return 'a result: take its value, for example with orThrow';
  return typeof Reflect.get(value, 'then') === 'function' ? 'a promise: await it' : 'an object of another kind';
}
