import { jsonFaultIn, type JsonFault as TextFault } from '../../src/api/json-text.js';

/** The position of a JSON syntax error. Lines and columns count from 1, columns in UTF-16 units. */
interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * The first syntax error of JSON text, undefined if it is valid; a leading byte order mark is allowed. `JSON.parse`
 * does not always report the position.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const fault = jsonFaultIn(text, text.charCodeAt(0) === 0xfeff ? 1 : 0);
  return fault === undefined ? undefined : faultAt(text, fault);
}

/** The value of JSON text that `findJsonFault` accepts. */
export function jsonValueOf(text: string): unknown {
  return JSON.parse(text.replace(/^\ufeff/, ''));
}

function faultAt(text: string, { at, token, context }: TextFault): JsonFault {
  const message = messages[context];
  if (at >= text.length && text[token] === '"') {
    return { ...positionOf(text, token), message: 'missing closing quote of this string' };
  }
  // For a number or literal, the position of its first character.
  return { ...positionOf(text, message === undefined ? token : at), message: message ?? 'expected a value' };
}

const messages: Readonly<Record<string, string>> = {
  'after top-level value': 'unexpected data after the value',
  'after object key:value pair': 'expected "," or "}"',
  'after array element': 'expected "," or "]"',
  'looking for beginning of object key string': 'expected a key in double quotes',
  'after object key': 'expected ":" after the key',
  'in string literal': 'control characters in strings must be escaped',
  'in string escape code': 'invalid escape sequence',
  'in \\u hexadecimal character escape': 'invalid escape sequence',
};

function positionOf(text: string, position: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: position - lineStart + 1 };
}
