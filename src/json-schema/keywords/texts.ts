import { compilingTime, MAX_PATTERN_LENGTH, regularExpression } from '../../shared/regular-expression.js';
import { formatNames, formats, numberFormats } from '../formats.js';
import { quoted } from '../json.js';
import type { KeywordGroup, Part } from '../part.js';
import { re2Pattern } from '../pattern.js';
import { type Check, FITS, OPEN, type Run } from '../run.js';
import { countKeyword } from './counts.js';

/** Code points, since a character outside the basic plane is one character. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) length -= 1;
  }
  return length;
}

/** Whether a string has a match; undefined when that exceeds the remaining work. */
export type Search = (text: string, run: Run) => boolean | undefined;

/** The check of a compiled pattern; it leaves values open when the pattern is unusable. */
export function readPattern(part: Part, pattern: unknown, where: string): Search | null {
  if (typeof pattern !== 'string') return refused(part, where, 'must be a regular expression');
  if (pattern.length > MAX_PATTERN_LENGTH) {
    return refused(part, where, `must be a regular expression of at most ${MAX_PATTERN_LENGTH} characters`);
  }
  const translated = re2Pattern(pattern);
  if (translated.isErr()) return refused(part, where, `cannot be used: ${translated.error}`);
  if (!part.spendCompiling(compilingTime(translated.value))) {
    return refused(part, where, 'cannot be used: the patterns of the schema take too long to compile');
  }
  const compiled = regularExpression(translated.value);
  if (compiled.isErr()) return refused(part, where, `cannot be used: ${compiled.error}`);
  const { size, matches } = compiled.value;
  return (text, run) => (run.spend(size * text.length + 100) ? matches(text) : undefined);
}

function refused(part: Part, where: string, message: string): null {
  part.refuse(where, message);
  return null;
}

function patternCheck(part: Part): Check {
  const pattern = part.schema['pattern'];
  const search = readPattern(part, pattern, 'pattern');
  return (value, run, place) => {
    if (typeof value !== 'string') return FITS;
    const found = search?.(value, run);
    if (found === undefined) return OPEN;
    return found ? FITS : run.unfit(place, `must match the pattern ${quoted(pattern)}`);
  };
}

function formatCheck({ schema, refuse }: Part): Check {
  const name = schema['format'];
  if (typeof name !== 'string' || !formatNames.includes(name)) {
    return refuse('format', `must be one of ${formatNames.join(', ')}; use pattern for others`);
  }
  const message = `must have the format ${name}`;
  const isNumber = numberFormats.get(name);
  const isText = formats.get(name);
  return (value, run, place) => {
    if (typeof value === 'number') return isNumber?.(value) === false ? run.unfit(place, message) : FITS;
    if (typeof value !== 'string' || isText === undefined) return FITS;
    if (!run.spend(10 * value.length)) return OPEN;
    return isText(value) ? FITS : run.unfit(place, message);
  };
}

function countCharacters(value: unknown, run: Run): number | null {
  if (typeof value !== 'string') return null;
  run.spend(value.length);
  return lengthOf(value);
}

export const textKeywords: readonly KeywordGroup[] = [
  countKeyword('minLength', 'characters', countCharacters),
  countKeyword('maxLength', 'characters', countCharacters),
  { keywords: ['format'], read: formatCheck },
  { keywords: ['pattern'], read: patternCheck },
];
