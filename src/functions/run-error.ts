import { resultOr } from '../shared/values.js';
import type { RunError } from './run.js';
import { storedJson } from './stored-json.js';

const longestMessage = 1024;
const longestStack = 8192;
const longestName = 128;

/** What was thrown, cut to what is kept. Its members may be anything, and may throw themselves. */
export function runErrorOf(thrown: unknown): RunError {
  const isError = isOf(thrown, Error);
  const part = (name: keyof RunError, most: number): string | undefined => {
    const value = isError ? memberOf(thrown, name) : undefined;
    return value === undefined || value === null ? undefined : stringOf(value).slice(0, most);
  };
  const code = isError ? memberOf(thrown, 'code') : undefined;
  return {
    name: part('name', longestName) ?? 'Error',
    message: isError ? (part('message', longestMessage) ?? '') : described(thrown).slice(0, longestMessage),
    stack: part('stack', longestStack) ?? '',
    ...(typeof code === 'string' ? { code: code.slice(0, longestName) } : {}),
  };
}

/** `instanceof`, false for a proxy that refuses to say what it is. */
export function isOf<T>(thrown: unknown, type: abstract new (...args: never[]) => T): thrown is T {
  return resultOr(false, () => thrown instanceof type);
}

function memberOf(error: object, name: string): unknown {
  return resultOr(`the ${name} cannot be read`, () => Reflect.get(error, name));
}

/** What is not an error, in a string. */
const described = (thrown: unknown): string => (typeof thrown === 'string' ? thrown : `thrown: ${stringOf(thrown)}`);

/** Of the JSON of an object in a string. */
const mostObjectBytes = 8192;

/** A string of any value, in bounded time: objects as JSON where they are JSON, and else by their kind. */
export function stringOf(value: unknown): string {
  if (isOf(value, Error)) {
    const { name, message } = { name: memberOf(value, 'name'), message: memberOf(value, 'message') };
    return typeof name === 'string' && typeof message === 'string' ? `${name}: ${message}` : 'an error';
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  const stored = storedJson('value', value, mostObjectBytes);
  return stored.isOk() ? stored.value.text : 'an object that is not JSON';
}
