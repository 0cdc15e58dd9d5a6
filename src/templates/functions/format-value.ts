import { madeOnce } from '../../shared/remembered.js';
import { simpleEscapes } from '../../shared/source-text.js';
import { wellFormed } from '../../shared/values.js';
import { floatText } from '../float-text.js';
import { isList, isMap, isMetadata, namesOf, textOf, type Value } from '../values.js';
import { VariableItems } from '../variable-items.js';
import type { Verb } from './format.js';

/** The value formatted by the verb; undefined if the verb does not accept it. */
export function formattedValue(verb: Verb, value: Value): string | undefined {
  if (value === undefined || value === null) return verb.letter === 'v' ? padded('<nil>', verb) : undefined;
  const text = within(verb.letter === 'v' ? plain(verb) : verb, value);
  return text !== undefined && value instanceof VariableItems ? `&${text}` : text;
}

/** `%+v` shows no plus signs. */
function plain(verb: Verb): Verb {
  return { ...verb, flags: new Set([...verb.flags].filter((flag) => flag !== '+')) };
}

/** Lists and maps are shown item by item. */
function within(verb: Verb, value: Value): string | undefined {
  if (value === undefined || value === null) return '<nil>';
  if (isList(value))
    return enclosed(
      '[',
      value.map((item) => within(verb, item)),
    );
  if (!isMap(value)) return scalar(verb, value);
  const members = namesOf(value).map((name) => {
    const [shownName, item] = [ofText(verb, name), within(verb, value.get(name))];
    return shownName === undefined || item === undefined ? undefined : `${shownName}:${item}`;
  });
  return enclosed('map[', members);
}

function enclosed(open: string, items: readonly (string | undefined)[]): string | undefined {
  return items.every((item) => item !== undefined) ? `${open}${items.join(' ')}]` : undefined;
}

function scalar(verb: Verb, value: Exclude<Value, null | undefined>): string | undefined {
  if (typeof value === 'bigint') return ofInteger(verb, value);
  if (typeof value === 'number') return ofFloat(verb, value);
  if (typeof value === 'boolean')
    return verb.letter === 't' || verb.letter === 'v' ? padded(String(value), verb) : undefined;
  const text = isMetadata(value) ? value.Path : textOf(value);
  return text === undefined ? undefined : ofText(verb, text);
}

function ofText(verb: Verb, value: string): string | undefined {
  const { letter, flags, precision } = verb;
  const text = wellFormed(value);
  switch (letter) {
    case 'v':
    case 's':
      return padded(cut(text, precision), verb);
    case 'q': {
      const part = cut(text, precision);
      return padded(flags.has('#') && canBackquote(part) ? `\`${part}\`` : quotedText(part, '"', flags.has('+')), verb);
    }
    case 'x':
    case 'X':
      return padded(hexadecimal(verb, text), verb);
    default:
      return undefined;
  }
}

function cut(text: string, precision: number | undefined): string {
  return precision === undefined ? text : [...text].slice(0, precision).join('');
}

/** The bytes of the string. */
function hexadecimal({ letter, flags, precision }: Verb, text: string): string {
  const bytes = [...new TextEncoder().encode(text).slice(0, precision)];
  const prefix = flags.has('#') ? '0x' : '';
  const shown = bytes.map(
    (byte, at) => (at === 0 || flags.has(' ') ? prefix : '') + byte.toString(16).padStart(2, '0'),
  );
  return cased(shown.join(flags.has(' ') ? ' ' : ''), letter);
}

const BASES: ReadonlyMap<string, number> = new Map([
  ['v', 10],
  ['d', 10],
  ['x', 16],
  ['X', 16],
  ['o', 8],
  ['O', 8],
  ['b', 2],
]);

function ofInteger(verb: Verb, value: bigint): string | undefined {
  const { letter, flags } = verb;
  const base = BASES.get(letter);
  if (base !== undefined) return integerText(verb, value, base);
  const character = value >= 0n && value <= 0x10ffffn ? wellFormed(String.fromCodePoint(Number(value))) : '\uFFFD';
  if (letter === 'c') return padded(character, verb);
  if (letter === 'q') return padded(quotedText(character, "'", flags.has('+')), verb);
  return letter === 'U' && value >= 0n ? padded(codePoint(verb, value, character), spaced(verb)) : undefined;
}

function integerText(verb: Verb, value: bigint, base: number): string {
  const { letter, flags, width = 0, precision } = verb;
  const size = value < 0n ? -value : value;
  const sign = value < 0n ? '-' : signOf(flags);
  if (precision === 0 && size === 0n) return ' '.repeat(width);
  // Zeros fill the width unless there is a precision; prefixes are added to it.
  const filled = precision ?? (flags.has('0') && !flags.has('-') ? width - sign.length : 0);
  const digits = size.toString(base).padStart(filled, '0');
  const prefix = (letter === 'O' ? '0o' : '') + (flags.has('#') ? prefixOf(base, digits) : '');
  return padded(sign + cased(prefix + digits, letter), spaced(verb));
}

function prefixOf(base: number, digits: string): string {
  if (base === 8) return digits.startsWith('0') ? '' : '0';
  return base === 16 ? '0x' : base === 2 ? '0b' : '';
}

function codePoint({ flags, precision = 0 }: Verb, value: bigint, character: string): string {
  const digits = value.toString(16).toUpperCase().padStart(Math.max(precision, 4), '0');
  const quoted = quotedText(character, "'", false);
  const isShown =
    flags.has('#') &&
    value <= 0x10ffffn &&
    (quoted.length === character.length + 2 || character === "'" || character === '\\');
  return `U+${digits}${isShown ? ` '${character}'` : ''}`;
}

function ofFloat(verb: Verb, value: number): string | undefined {
  const { letter, flags, precision } = verb;
  const form = FORMS.get(letter);
  if (form === undefined) return undefined;
  if (!Number.isFinite(value)) {
    const sign = value < 0 ? '-' : signOf(flags) || (Number.isNaN(value) ? '' : '+');
    return padded(sign + (Number.isNaN(value) ? 'NaN' : 'Inf'), spaced(verb));
  }
  const text = floatText(Math.abs(value), form, precision ?? (form === 'g' ? undefined : 6));
  const sign = value < 0 || Object.is(value, -0) ? '-' : signOf(flags);
  const digits = cased(flags.has('#') ? pointed(text, form, precision) : text, letter);
  return filled(sign, digits, verb);
}

const FORMS: ReadonlyMap<string, 'e' | 'f' | 'g'> = new Map([
  ['v', 'g'],
  ['g', 'g'],
  ['G', 'g'],
  ['f', 'f'],
  ['F', 'f'],
  ['e', 'e'],
  ['E', 'e'],
]);

/** Always with a decimal point, and in the form `g` with all digits of the precision. */
function pointed(text: string, form: 'e' | 'f' | 'g', precision = 6): string {
  const [, number = '', exponent = ''] = /^([^e]*)(.*)$/.exec(text) ?? [];
  const withPoint = number.includes('.') ? number : `${number}.`;
  const significant = number === '0' ? 1 : number.replace('.', '').replace(/^0+/, '').length;
  const zeros = form === 'g' ? Math.max(precision - significant, 0) : 0;
  return withPoint + '0'.repeat(zeros) + exponent;
}

/** Zeros that fill the width come after the sign. */
function filled(sign: string, digits: string, verb: Verb): string {
  const { flags, width = 0 } = verb;
  const isFilled = sign !== '' && flags.has('0') && !flags.has('-');
  return isFilled ? sign + digits.padStart(width - sign.length, '0') : padded(sign + digits, verb);
}

function signOf(flags: ReadonlySet<string>): string {
  return flags.has('+') ? '+' : flags.has(' ') ? ' ' : '';
}

function cased(text: string, letter: string): string {
  return letter === 'X' || letter === 'E' || letter === 'G' ? text.toUpperCase() : text;
}

/** The verb without the zero-padding flag. */
function spaced(verb: Verb): Verb {
  return { ...verb, flags: new Set([...verb.flags].filter((flag) => flag !== '0')) };
}

function padded(text: string, { flags, width = 0 }: Verb): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (flags.has('-')) return text + ' '.repeat(missing);
  return (flags.has('0') ? '0' : ' ').repeat(missing) + text;
}

/** Printable characters: letters, marks, numbers, punctuation, symbols and the space. */
const printable = madeOnce(() => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u);
const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries(simpleEscapes)
    .filter(([letter]) => letter !== '"')
    .map(([letter, character]) => [character, `\\${letter}`]),
);

/** A string as a literal of Nomad's language. */
function quotedText(text: string, quote: '"' | "'", onlyAscii: boolean): string {
  return quote + Array.from(text, (character) => escaped(character, quote, onlyAscii)).join('') + quote;
}

/** Whether the string can be written between backquotes. */
function canBackquote(text: string): boolean {
  return !/[\u0000-\u0008\u000a-\u001f`\u007f\ufeff]/.test(text);
}

function escaped(character: string, quote: string, onlyAscii: boolean): string {
  if (character === quote) return `\\${quote}`;
  const simple = ESCAPES.get(character);
  if (simple !== undefined) return simple;
  const point = character.codePointAt(0) ?? 0;
  if (printable().test(character) && (point < 0x80 || !onlyAscii)) return character;
  const digits = point.toString(16);
  if (point < 0x20 || point === 0x7f) return `\\x${digits.padStart(2, '0')}`;
  return point > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
