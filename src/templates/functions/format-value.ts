import { madeOnce } from '../../shared/remembered.js';
import {
  basesOfVerbs,
  cased,
  filled,
  formattedInteger,
  signOf,
  simpleEscapes,
  type Verb,
} from '../../shared/source-text.js';
import { wellFormed } from '../../shared/values.js';
import { floatText, isList, isMap, isMetadata, namesOf, textOf, type Value } from '../values.js';
import { VariableItems } from '../variable-items.js';

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
function hexadecimal(verb: Verb, text: string): string {
  const { flags, precision } = verb;
  const bytes = [...new TextEncoder().encode(text).slice(0, precision)];
  const prefix = flags.has('#') ? '0x' : '';
  const shown = bytes.map(
    (byte, at) => (at === 0 || flags.has(' ') ? prefix : '') + byte.toString(16).padStart(2, '0'),
  );
  return cased(verb, shown.join(flags.has(' ') ? ' ' : ''));
}

function ofInteger(verb: Verb, value: bigint): string | undefined {
  const { letter, flags } = verb;
  if (basesOfVerbs.has(letter)) return formattedInteger(verb, value, false);
  const character = value >= 0n && value <= 0x10ffffn ? wellFormed(String.fromCodePoint(Number(value))) : '\uFFFD';
  if (letter === 'c') return padded(character, verb);
  if (letter === 'q') return padded(quotedText(character, "'", flags.has('+')), verb);
  return letter === 'U' && value >= 0n ? padded(codePoint(verb, value, character), spaced(verb)) : undefined;
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
    const sign = value < 0 ? '-' : signOf(verb) || (Number.isNaN(value) ? '' : '+');
    return filled(verb, sign, Number.isNaN(value) ? 'NaN' : 'Inf', false);
  }
  const text = floatText(Math.abs(value), form, precision);
  const sign = value < 0 || Object.is(value, -0) ? '-' : signOf(verb);
  return filled(verb, sign, cased(verb, flags.has('#') ? pointed(text, form, precision) : text), true);
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
