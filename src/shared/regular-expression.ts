import { err, ok, type Result } from 'neverthrow';
import type { RE2JS } from 're2js';
import { remembered } from './remembered.js';

/** A compiled expression in RE2's syntax. */
interface RegularExpression {
  /** Whether any part of the string matches. Takes at most about `size` × 100 ns per character, usually far less. */
  readonly matches: (text: string) => boolean;
  /** The string with all matches replaced. `$1`, `$name` and `${name}` stand for groups, `$$` for a dollar sign. */
  readonly replaceAll: (text: string, replacement: string) => string;
  /** Instructions of the compiled program. */
  readonly size: number;
}

/** Maximum characters of a pattern; compiling takes up to a few microseconds for each. */
export const MAX_PATTERN_LENGTH = 1_000;

/** Maximum instructions of the compiled program. Each character of a string is compared with at most all of them. */
const MAX_PROGRAM = 5_000;

/**
 * Compiles a pattern in RE2's syntax; the error says why it is invalid. Matching takes time linear in the string, whatever the pattern. The
 * last few hundred patterns are cached.
 */
export const regularExpression: (pattern: string) => Result<RegularExpression, string> = remembered(compile, 256);

function compile(pattern: string): Result<RegularExpression, string> {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    return err(`a regular expression may have at most ${MAX_PATTERN_LENGTH} characters, not ${pattern.length}`);
  }
  if (programBound(pattern) > MAX_PROGRAM) return err('its repetitions make the regular expression too large');
  try {
    const expression = re2().compile(pattern);
    return ok({
      size: expression.programSize(),
      matches: (text) => expression.test(text),
      replaceAll: (text, replacement) => replacedIn(expression, text, replacement),
    });
  } catch (error) {
    return err(error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'it cannot be read');
  }
}

/** A reference takes the longest possible name: `$1x` is the group of that name, `${1}x` the first group. */
const REFERENCE = /\$(?:\$|([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\})/g;

function replacedIn(expression: RE2JS, text: string, replacement: string): string {
  const groups = expression.namedGroups() as Readonly<Record<string, number>>;
  const matcher = expression.matcher(text);
  const groupNamed = (name: string): string => {
    const group = /^[0-9]{1,4}$/.test(name) ? Number(name) : Object.hasOwn(groups, name) ? groups[name] : undefined;
    return group === undefined || group > matcher.groupCount() ? '' : (matcher.group(group) ?? '');
  };
  let replaced = '';
  let at = 0;
  while (matcher.find()) {
    // An empty match directly after another one does not count.
    if (matcher.end() === at && at > 0) continue;
    const made = replacement.replace(REFERENCE, (reference, name: string | undefined, inBraces: string | undefined) =>
      reference === '$$' ? '$' : groupNamed(name ?? inBraces ?? ''),
    );
    replaced += text.slice(at, matcher.start()) + made;
    at = matcher.end();
  }
  return replaced + text.slice(at);
}

/**
 * A quoted string, a character or class, a repetition with its numbers, or any other character. An unclosed part extends to the end, so that
 * each character is read once.
 */
const TOKEN =
  /\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*(?:\}|$)|\\.|\[\^?\]?(?:\[:\w*:\]|\\.|[^\]\\])*(?:\]|$)|\{(\d*),?(\d*)\}|./gsu;

/**
 * The number of instructions that the pattern compiles to, or slightly more: repetitions multiply their operand. Computed before
 * compiling, which takes time and memory in proportion to it.
 */
export function programBound(pattern: string): number {
  const open: { total: number; last: number }[] = [];
  let sequence = { total: 4, last: 0 };
  for (const [text, least = '', most = ''] of pattern.matchAll(TOKEN)) {
    if (text === '(') {
      open.push(sequence);
      sequence = { total: 2, last: 0 };
    } else if (text === ')') {
      const group = sequence.total;
      sequence = append(open.pop() ?? { total: 2, last: 0 }, group);
    } else if (text.startsWith('{') && text.length > 1) {
      sequence = repeat(sequence, Math.max(Number(least), Number(most), 1));
    } else {
      // A star around an operand that may be empty takes two instructions.
      sequence = append(sequence, text.startsWith('\\Q') ? text.length : text === '*' ? 2 : 1);
    }
  }
  return open.reduce((total, outer) => total + outer.total, sequence.total);
}

/**
 * Approximate compile time in microseconds: Unicode classes have hundreds of ranges, which `(?i)` scans once more for the
 * other cases.
 */
export function compilingTime(pattern: string): number {
  const classes = pattern.match(/\\[pP]/g)?.length ?? 0;
  return 50 + 2 * pattern.length + 300 * classes + programBound(pattern);
}

function append(sequence: { total: number }, size: number): { total: number; last: number } {
  return { total: sequence.total + size, last: size };
}

/** An optional copy costs one instruction more than a required one; an unbounded last one, two. */
function repeat({ total, last }: { total: number; last: number }, times: number): { total: number; last: number } {
  const repeated = times * (last + 1) + 1;
  return { total: total - last + repeated, last: repeated };
}

/** Loaded on first use: it takes longer to load than all of its users, and few programs have a regular expression. */
function re2(): typeof RE2JS {
  loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return loaded.RE2JS;
}

let loaded: typeof import('re2js') | undefined;
