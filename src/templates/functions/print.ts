import { err, ok, type Result } from 'neverthrow';
import { madeOnce, remembered } from '../../shared/remembered.js';
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
import { floatText, isList, isMap, isMetadata, kindOf, namesOf, textOf, type Value, VariableItems } from '../values.js';
import { type Call, made, shown, type TemplateFunction, textsFrom } from './template-function.js';

/** Functions that format values as strings. */
export const printFunctions: Readonly<Record<string, TemplateFunction>> = {
  print: { least: 0, most: Number.POSITIVE_INFINITY, run: (args, call) => joined(args, call, printedAs) },
  println: {
    least: 0,
    most: Number.POSITIVE_INFINITY,
    run: (args, call) => {
      const parts = args.map((value) => printedAs(value, call)?.text);
      return parts.every((part) => part !== undefined) ? made(`${parts.join(' ')}\n`, call) : undefined;
    },
  },
  printf: {
    least: 1,
    most: Number.POSITIVE_INFINITY,
    run: ([format, ...args], call) => formatted(format, args, call),
    refusal: (format, count) => (typeof format === 'string' ? unfitFormat(format, count - 1) : undefined),
  },
};

/** Formats and quoted strings are read character by character. */
const STEP_OF_A_CHARACTER = 32;

interface Printed {
  readonly text: string;
  readonly isText: boolean;
}

/** The values as one string, with a space between neighbours that are both not strings. */
export function joined(
  args: readonly Value[],
  call: Call,
  print: (value: Value, call: Call) => Printed | undefined,
): Value {
  let text = '';
  let isApart = false;
  for (const value of args) {
    const part = print(value, call);
    if (part === undefined) return undefined;
    text += (isApart && !part.isText ? ' ' : '') + part.text;
    isApart = !part.isText;
  }
  return made(text, call);
}

/** As `print` shows a value. Items of a variable are shown as references. */
function printedAs(value: Value, call: Call): Printed | undefined {
  if (value === undefined || value === null) return { text: '<nil>', isText: false };
  const text = shown(value, call);
  if (text === undefined) return undefined;
  return { text: value instanceof VariableItems ? `&${text}` : text, isText: typeof value === 'string' };
}

/** A value as an action shows it. */
export function shownAs(value: Value, call: Call): Printed | undefined {
  const text = shown(value, call);
  return text === undefined
    ? undefined
    : { text, isText: typeof value === 'string' || value === undefined || value === null };
}

/** Why the format does not fit this number of values. */
function unfitFormat(format: string, count: number): string | undefined {
  return formatParts(format).match(
    (parts) => {
      const verbs = parts.filter((part) => typeof part !== 'string').length;
      return verbs === count ? undefined : `printf: the format has ${verbs} verbs, not one for each of ${count} values`;
    },
    (problem) => `printf: ${problem}`,
  );
}

function formatted(format: Value, args: readonly Value[], call: Call): Value {
  const [pattern] = textsFrom([format], call) ?? [];
  if (pattern === undefined || !call.spend(pattern.length * STEP_OF_A_CHARACTER)) return undefined;
  const problem = unfitFormat(pattern, args.length);
  if (problem !== undefined) return call.fail(problem);
  const values = args.values();
  const texts = formatParts(pattern)
    ._unsafeUnwrap()
    .map((part) => (typeof part === 'string' ? part : verbText(part, values.next().value, call)));
  return texts.every((text) => text !== undefined) ? made(texts.join(''), call) : undefined;
}

function verbText(verb: Verb, value: Value, call: Call): string | undefined {
  if (!call.spend((verb.width ?? 0) + (verb.precision ?? 0)) || shown(value, call) === undefined) return undefined;
  const text = formattedValue(verb, value);
  if (text === undefined) return call.fail(`printf: %${verb.letter} does not accept ${kindOf(value)}`);
  return call.spend(text.length * STEP_OF_A_CHARACTER) ? text : undefined;
}

/** The value formatted by the verb; undefined if the verb does not accept it. */
function formattedValue(verb: Verb, value: Value): string | undefined {
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

/** `%`, flags, width, precision and letter. */
const VERB = /%([-+ 0#]*)([0-9]*)(?:\.([0-9]*))?([\s\S]?)/u;

const LETTERS = 'vsqtdxXobOcUfFeEgG';

const MAX_WIDTH = 9_999;
const MAX_PRECISION = 999;

/** The parts of a format: strings and verbs; or why it is invalid. The last few dozen are cached. */
const formatParts: (format: string) => Result<readonly (string | Verb)[], string> = remembered(parse, 64, 4_096);

function parse(format: string): Result<readonly (string | Verb)[], string> {
  const parts: (string | Verb)[] = [];
  let rest = format;
  for (let found = VERB.exec(rest); found !== null; found = VERB.exec(rest)) {
    const [whole, flags = '', width = '', precision, letter = ''] = found;
    parts.push(rest.slice(0, found.index));
    rest = rest.slice(found.index + whole.length);
    const verb = {
      flags: new Set(flags),
      width: width === '' ? undefined : Number(width),
      precision: precision === undefined ? undefined : Number(precision),
      letter,
    };
    const problem = letter === '%' ? undefined : problemOf(verb);
    if (problem !== undefined) return err(problem);
    parts.push(letter === '%' ? '%' : verb);
  }
  return ok([...parts, rest]);
}

function problemOf({ flags, width = 0, precision = 0, letter }: Verb): string | undefined {
  if (letter === '') return 'a verb is missing after %';
  if (!LETTERS.includes(letter)) return `%${letter} is not supported`;
  if (letter === 'v' && flags.has('#')) return '%#v is not supported';
  return width > MAX_WIDTH || precision > MAX_PRECISION
    ? `a width may be at most ${MAX_WIDTH}, a precision ${MAX_PRECISION}`
    : undefined;
}
