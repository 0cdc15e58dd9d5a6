import { regularExpression } from '../../shared/regular-expression.js';
import { madeOnce } from '../../shared/remembered.js';
import { isBase64, lowerCase, trimWhiteSpace, upperCase, wellFormed } from '../../shared/values.js';
import { isList, kindOf, type Value } from '../values.js';
import { joined, shownAs } from './print.js';
import {
  type Call,
  exactly,
  made,
  ofTexts,
  quotedStart,
  smallFrom,
  type TemplateFunction,
  textsFrom,
} from './template-function.js';

/** String functions. The string itself is the last argument, so that they can be used in pipes. */
export const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  toLower: ofTexts(1, ([text = ''], call) => (call.spend(text.length * STEP_OF_A_BYTE) ? lowerCase(text) : undefined)),
  toUpper: ofTexts(1, ([text = ''], call) => (call.spend(text.length * STEP_OF_A_BYTE) ? upperCase(text) : undefined)),
  toTitle: ofTexts(1, ([text = ''], call) => (call.spend(text.length * STEP_OF_A_BYTE) ? titleCase(text) : undefined)),
  trim: ofTexts(2, ([characters = '', text = '']) => trimmed(text, new Set(characters), true, true)),
  trimLeft: ofTexts(2, ([characters = '', text = '']) => trimmed(text, new Set(characters), true, false)),
  trimRight: ofTexts(2, ([characters = '', text = '']) => trimmed(text, new Set(characters), false, true)),
  trimSpace: ofTexts(1, ([text = '']) => trimWhiteSpace(text)),
  trimPrefix: ofTexts(2, ([prefix = '', text = '']) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  trimSuffix: ofTexts(2, ([suffix = '', text = '']) => {
    return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  }),
  replaceAll: ofTexts(3, ([from = '', to = '', text = ''], call) => replaced(text, from, to, call)),
  split: ofTexts(2, ([separator = '', whole = ''], call) => {
    const text = trimWhiteSpace(whole);
    if (text === '') return [];
    return call.spend(text.length * 16) ? (separator === '' ? [...text] : text.split(separator)) : undefined;
  }),
  join: exactly(2, ([separator, list], call) => {
    if (!isList(list)) return call.fail(`a list is needed here, not ${kindOf(list)}`);
    const [between = '', ...texts] = textsFrom([separator ?? null, ...list], call) ?? [];
    return call.spend(texts.length * (between.length + 1)) ? made(texts.join(between), call) : undefined;
  }),
  regexMatch: ofTexts(2, ([pattern = '', text = ''], call) => {
    const expression = regularExpression(pattern);
    if (expression.isErr()) return noExpression(pattern, expression.error, call);
    return call.spend(text.length * expression.value.size * STEP_OF_A_MATCH)
      ? expression.value.matches(text)
      : undefined;
  }),
  regexReplaceAll: ofTexts(3, ([pattern = '', replacement = '', text = ''], call) => {
    const expression = regularExpression(pattern);
    if (expression.isErr()) return noExpression(pattern, expression.error, call);
    const { size, replaceAll } = expression.value;
    const longest = (text.length + 1) * (replacement.length + 1) + text.length;
    if (!call.spend(text.length * size * STEP_OF_A_MATCH) || !call.spend(longest)) return undefined;
    return made(replaceAll(text, replacement), call);
  }),
  indent: exactly(2, ([spaces, value], call) => {
    const width = smallFrom(spaces ?? null, call);
    const [text] = textsFrom([value], call) ?? [];
    if (width === undefined || text === undefined) return undefined;
    if (width < 0) return call.fail('the indentation must not be negative');
    const lines = text.split('\n');
    if (!call.spend(lines.length * (width + 1))) return undefined;
    return lines.map((line) => (line === '' ? line : ' '.repeat(width) + line)).join('\n');
  }),
  html: escaping(htmlEscaped),
  urlquery: escaping(queryEscaped),
  base64Encode: ofTexts(1, ([text = ''], call) => {
    return call.spend(text.length * STEP_OF_A_BYTE) ? made(base64(text), call) : undefined;
  }),
  base64URLEncode: ofTexts(1, ([text = ''], call) => {
    if (!call.spend(text.length * STEP_OF_A_BYTE)) return undefined;
    return made(base64(text).replaceAll('+', '-').replaceAll('/', '_'), call);
  }),
  base64Decode: ofTexts(1, ([text = ''], call) => decoded(text, call)),
  base64URLDecode: ofTexts(1, ([text = ''], call) =>
    decoded(
      text.replace(/[-_+/]/g, (letter) => URL_LETTERS[letter] ?? ''),
      call,
    ),
  ),
};

/** A pattern compares each character with all of its parts, at worst 0.1 µs per comparison. */
const STEP_OF_A_MATCH = 6;

/** Escapes the values as `print` shows them, as one string. */
function noExpression(pattern: string, problem: string, call: Call): undefined {
  const isWritten = call.isWritten(pattern);
  return call.fail(isWritten ? `${quotedStart(pattern)}: ${problem}` : 'the pattern is not a regular expression');
}

function escaping(escaped: (text: string) => string): TemplateFunction {
  return {
    least: 1,
    most: Number.POSITIVE_INFINITY,
    run: (args, call) => {
      const text = joined(args, call, shownAs);
      return typeof text === 'string' ? made(escaped(text), call) : undefined;
    },
  };
}

/** A string that is processed byte by byte, or character by character. */
const STEP_OF_A_BYTE = 8;

const HTML: Readonly<Record<string, string>> = {
  '"': '&#34;',
  '&': '&amp;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
  '\0': '\uFFFD',
};

function htmlEscaped(text: string): string {
  return text.replace(/["&'<>\0]/g, (character) => HTML[character] ?? character);
}

function trimmed(text: string, characters: ReadonlySet<string>, left: boolean, right: boolean): string {
  const points = [...text];
  let [start, end] = [0, points.length];
  while (left && start < end && characters.has(points[start] ?? '')) start += 1;
  while (right && end > start && characters.has(points[end - 1] ?? '')) end -= 1;
  return points.slice(start, end).join('');
}

/** The empty string occurs before, between and after all characters. */
function replaced(text: string, from: string, to: string, call: Call): Value {
  const parts = from === '' ? ['', ...text, ''] : text.split(from);
  if (!call.spend(text.length * 4 + parts.length * (to.length + 1))) return undefined;
  return made(parts.join(to), call);
}

function queryEscaped(text: string): string {
  const escaped = encodeURIComponent(wellFormed(text)).replaceAll('%20', '+');
  return escaped.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The URL-safe letters of base64; the letters that they replace are invalid. */
const URL_LETTERS: Readonly<Record<string, string>> = { '-': '+', _: '/', '+': '!', '/': '!' };

function base64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function decoded(text: string, call: Call): Value {
  if (!call.spend(text.length * STEP_OF_A_BYTE)) return undefined;
  const compact = text.replace(/[\r\n]/g, '');
  if (!isBase64(compact)) {
    return call.fail('the string is not base64');
  }
  const bytes = Uint8Array.from(atob(compact), (character) => character.charCodeAt(0));
  try {
    return made(new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes), call);
  } catch {
    return call.fail('the bytes are not UTF-8');
  }
}

/** A word: letters, numbers and marks, with a single apostrophe, dot, colon or comma within. */
const word = madeOnce(() => /[\p{L}\p{M}\p{N}\p{Pc}]+(?:['’.:·․﹒＇．﹕︓][\p{L}\p{M}\p{N}\p{Pc}]+)*/gu);

/** The first letter of each word in title case, the rest unchanged. */
function titleCase(text: string): string {
  return text.replace(word(), (each) => each.replace(/\p{Cased}/u, title));
}

/** Digraph letters, which have a separate title case. */
const PAIRS = ['ǄǅǆǅǇǈǉǈǊǋǌǋǱǲǳǲ'].flatMap((all) => all.match(/.{4}/gu) ?? []);

function title(letter: string): string {
  const pair = PAIRS.find((forms) => forms.includes(letter));
  if (pair !== undefined) return pair.charAt(1);
  if (/[\u10d0-\u10ff]|\p{Lt}/u.test(letter)) return letter;
  const capital = upperCase(letter);
  // A letter without a single capital begins with the first of several.
  const [first = '', ...rest] = capital === letter ? letter.toUpperCase() : capital;
  return first + (letter === '\u0149' ? rest.join('') : rest.join('').toLowerCase());
}
