import { type Parser, report } from './parser.js';

const SIMPLE: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

/** The template marker at an offset: `${` or `%{`, which begins a sequence, or its escaped form `$${` or `%%{`. */
export function sequenceKind(text: string, at: number): 'none' | 'escape' | 'sequence' {
  const unit = text.charCodeAt(at);
  if (!beginsSequence(unit)) return 'none';
  const next = text.charCodeAt(at + 1);
  if (next === 123) return 'sequence';
  return next === unit && text.charCodeAt(at + 2) === 123 ? 'escape' : 'none';
}

/** `$` or `%`. */
export function beginsSequence(unit: number): boolean {
  return unit === 36 || unit === 37;
}

/** Reads the backslash escape at an offset. For an invalid one, which is reported, `text` is undefined. */
export function readEscape(parser: Parser, start: number): { text: string | undefined; end: number } {
  const { text } = parser.lexer;
  // A whole character, which may take two UTF-16 units.
  const letter = String.fromCodePoint(text.codePointAt(start + 1) ?? 10);
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { text: simple, end: start + 2 };
  if (letter === 'u' || letter === 'U') return readUnicodeEscape(parser, start, letter === 'u' ? 4 : 8);
  const end = letter === '\n' || letter === '\r' ? start + 1 : start + 1 + letter.length;
  const detail =
    letter === '$' || letter === '%'
      ? `For a literal "${letter}{" write "${letter}${letter}{".`
      : 'The escapes are \\n \\r \\t \\" \\\\ \\uXXXX and \\UXXXXXXXX.';
  report(
    parser,
    'bad_escape',
    { start, end },
    { message: `There is no escape "\\${end === start + 1 ? '' : letter}".`, detail },
  );
  return { text: undefined, end };
}

function readUnicodeEscape(parser: Parser, start: number, digits: number): { text: string | undefined; end: number } {
  const given = /^[0-9a-fA-F]*/.exec(parser.lexer.text.slice(start + 2, start + 2 + digits))?.[0] ?? '';
  const end = start + 2 + given.length;
  const point = Number.parseInt(given, 16);
  if (given.length < digits) {
    report(parser, 'bad_escape', { start, end }, `This escape needs ${digits} hexadecimal digits.`);
    return { text: undefined, end };
  }
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
    report(
      parser,
      'bad_escape',
      { start, end },
      {
        message: 'This escape does not name a character.',
        detail: point > 0x10ffff ? undefined : 'Write characters above U+FFFF with \\U and eight digits.',
      },
    );
    return { text: undefined, end };
  }
  return { text: String.fromCodePoint(point), end };
}
