import { err, ok, type Result } from 'neverthrow';
import { remembered } from '../../shared/remembered.js';
import type { Verb } from '../../shared/source-text.js';

/** `%`, flags, width, precision and letter. */
const VERB = /%([-+ 0#]*)([0-9]*)(?:\.([0-9]*))?([\s\S]?)/u;

const LETTERS = 'vsqtdxXobOcUfFeEgG';

const MAX_WIDTH = 9_999;
const MAX_PRECISION = 999;

/** The parts of a format: strings and verbs; or why it is invalid. The last few dozen are cached. */
export const formatParts: (format: string) => Result<readonly (string | Verb)[], string> = remembered(parse, 64, 4_096);

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
