import { kindOf, shortest, textOf, type Value } from '../values.js';
import { made, shown, textsFrom, wellFormed } from './arguments.js';
import type { Call, TemplateFunction } from './template-function.js';

/** Texts from values. */
export const printFunctions: Readonly<Record<string, TemplateFunction>> = {
  print: { least: 0, most: Number.POSITIVE_INFINITY, run: (args, call) => joined(args, call, false) },
  println: { least: 0, most: Number.POSITIVE_INFINITY, run: (args, call) => joined(args, call, true) },
  printf: { least: 1, most: Number.POSITIVE_INFINITY, run: ([format, ...args], call) => formatted(format, args, call) },
};

/** `print` puts a space between two values if neither is a text, `println` between all values. */
function joined(args: readonly Value[], call: Call, asLine: boolean): Value {
  let text = '';
  for (const [at, value] of args.entries()) {
    const part = shown(value, call);
    if (part === undefined) return undefined;
    const apart = asLine || (textOf(value) === undefined && textOf(args[at - 1]) === undefined);
    text += (at > 0 && apart ? ' ' : '') + part;
  }
  return made(asLine ? `${text}\n` : text, call);
}

/** `%`, flags, width, precision and verb. */
const VERB = /%([-+ 0#]*)([0-9]{0,4})(?:\.([0-9]{0,3}))?([\s\S]?)/gu;

/** The groups of the pattern: flags, width, precision and letter. */
type VerbParts = [flags: string, width: string, precision: string | undefined, letter: string];

interface Verb {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly letter: string;
}

/** The verbs `%v %s %q %d %x %X %o %b %c %t %f %e %g %%`; other verbs, and too few or too many arguments, are refused. */
function formatted(format: Value, args: readonly Value[], call: Call): Value {
  const [pattern] = textsFrom([format], call) ?? [];
  if (pattern === undefined) return undefined;
  let used = 0;
  let failed = false;
  const text = pattern.replace(VERB, (_, ...[flags, width, precision, letter]: VerbParts) => {
    if (letter === '%' || failed) return '%';
    const verb = {
      flags,
      width: Number(width),
      precision: precision === undefined ? undefined : Number(precision),
      letter,
    };
    const value =
      used < args.length ? verbText(verb, args[used], call) : call.fail(`printf: there is no value for %${letter}`);
    used += 1;
    failed ||= value === undefined || !call.spend(verb.width);
    return padded(value ?? '', verb, args[used - 1]);
  });
  if (failed) return undefined;
  return used < args.length ? call.fail(`printf: ${args.length - used} more values than verbs`) : made(text, call);
}

function padded(text: string, { flags, width }: Verb, value: Value): string {
  const length = [...text].length;
  if (length >= width) return text;
  const space = width - length;
  if (flags.includes('-')) return text + ' '.repeat(space);
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  if (!flags.includes('0') || !isNumber) return ' '.repeat(space) + text;
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/su.exec(text) ?? [];
  return sign + '0'.repeat(space) + digits;
}

function verbText(verb: Verb, value: Value, call: Call): string | undefined {
  const { letter, flags, precision } = verb;
  const plus = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  switch (letter) {
    case 'v':
      return shown(value, call);
    case 's':
      return cut(shown(value, call), precision);
    case 'q':
      return textsFrom([value], call)?.map((text) => JSON.stringify(wellFormed(text)))[0];
    case 't':
      return typeof value === 'boolean' ? String(value) : unfit(verb, value, call);
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
      return typeof value === 'number' ? signed(floatText(value, letter, precision), plus) : unfit(verb, value, call);
    case 'c':
      return typeof value === 'bigint' && value >= 0n && value <= 0x10ffffn
        ? String.fromCodePoint(Number(value))
        : unfit(verb, value, call);
    default:
      return wholeText(verb, value, plus, call);
  }
}

const BASES: Readonly<Record<string, number>> = { d: 10, x: 16, X: 16, o: 8, b: 2 };

function wholeText(verb: Verb, value: Value, plus: string, call: Call): string | undefined {
  const base = BASES[verb.letter];
  if (base === undefined) return call.fail(`printf: %${verb.letter} is not supported`);
  if (typeof value !== 'bigint') {
    const hexadecimal = base === 16 ? textOf(value) : undefined;
    if (hexadecimal === undefined) return unfit(verb, value, call);
    return call.spend(hexadecimal.length * 2) ? cased(hexText(hexadecimal), verb) : undefined;
  }
  return signed(cased(value.toString(base), verb), plus);
}

function hexText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function cased(text: string, { letter }: Verb): string {
  return letter === 'X' ? text.toUpperCase() : text;
}

function signed(text: string, plus: string): string {
  return text.startsWith('-') || text.startsWith('+') ? text : plus + text;
}

/** At most 100 digits after the point. */
function floatText(value: number, letter: string, precision = 6): string {
  const digits = Math.min(precision, 100);
  if (!Number.isFinite(value) || letter === 'g') return shortest(value);
  if (letter === 'f' || letter === 'F') return Math.abs(value) < 1e21 ? value.toFixed(digits) : String(BigInt(value));
  const text = value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
  return letter === 'E' ? text.toUpperCase() : text;
}

function cut(text: string | undefined, precision: number | undefined): string | undefined {
  return precision === undefined || text === undefined ? text : [...text].slice(0, precision).join('');
}

function unfit({ letter }: Verb, value: Value, call: Call): undefined {
  return call.fail(`printf: %${letter} does not take ${kindOf(value)}`);
}
