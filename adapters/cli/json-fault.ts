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
  return fault === undefined ? undefined : told(text, fault);
}

/** The value of JSON text that `findJsonFault` accepts. */
export function jsonValueOf(text: string): unknown {
  return JSON.parse(text.replace(/^\ufeff/, ''));
}

function told(text: string, { at, token, context }: TextFault): JsonFault {
  const message = messages[context];
  if (at >= text.length && text[token] === '"') {
    return { ...positionOf(text, token), message: 'this string has no closing quote' };
  }
  // For a number or a word, the position of its beginning.
  return { ...positionOf(text, message === undefined ? token : at), message: message ?? 'a value is expected here' };
}

const messages: Readonly<Record<string, string>> = {
  'after top-level value': 'only one value is expected',
  'after object key:value pair': '"," or "}" is expected here',
  'after array element': '"," or "]" is expected here',
  'looking for beginning of object key string': 'a key in double quotes is expected here',
  'after object key': '":" is expected after the key',
  'in string literal': 'a control character in a string must be written as an escape',
  'in string escape code': 'this escape does not exist',
  'in \\u hexadecimal character escape': 'this escape does not exist',
};

function positionOf(text: string, position: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: position - lineStart + 1 };
}
