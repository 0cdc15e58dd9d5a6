/** An error in a rules source; line and column count from 1. */
export interface RulesFault {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

/** Reads a rules source from left to right and stops at the first error. */
export interface RulesReader {
  readonly text: string;
  /** `:` instead of `=`, as in JSON. */
  readonly json: boolean;
  at: number;
  items: number;
  fault: { readonly message: string; readonly at: number } | undefined;
}

/** Records the first error. */
export function fail(reader: RulesReader, message: string, at = reader.at): undefined {
  reader.fault ??= { message, at };
  return undefined;
}

/** Line and column, from 1, of an offset in a string. */
export function positionOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}

/** A string truncated for a message. */
export function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '"': '"',
  '\\': '\\',
  '/': '/',
};
const plain = /[^"\\\n\r]+/y;
const codePoint = /u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})/y;

/** A quoted string on one line. Undefined, with an error recorded, if it is not closed or contains an invalid escape. */
export function readQuoted(reader: RulesReader): string | undefined {
  const start = reader.at;
  const parts: string[] = [];
  reader.at += 1;
  for (;;) {
    plain.lastIndex = reader.at;
    const [run] = plain.exec(reader.text) ?? [''];
    parts.push(run);
    reader.at += run.length;
    const sign = reader.text[reader.at];
    if (sign === '"') {
      reader.at += 1;
      return parts.join('');
    }
    if (sign !== '\\') return fail(reader, 'the quoted string is not closed on its line', start);
    const escaped = readEscape(reader);
    if (escaped === undefined) return undefined;
    parts.push(escaped);
  }
}

function readEscape(reader: RulesReader): string | undefined {
  const at = reader.at + 1;
  const simple = escapes[reader.text[at] ?? ''];
  if (simple !== undefined) {
    reader.at = at + 1;
    return simple;
  }
  codePoint.lastIndex = at;
  const match = codePoint.exec(reader.text);
  const value = Number.parseInt(match?.[1] ?? match?.[2] ?? match?.[3] ?? '', 16);
  if (match === null || value > 0x10ffff) return fail(reader, 'a backslash is followed by nothing that it can escape');
  reader.at = codePoint.lastIndex;
  return String.fromCodePoint(value);
}

const opening = /<<(-?)([A-Za-z_][A-Za-z0-9_]*)\r?\n/y;

/** A heredoc: from the line after `<<NAME` to the line with only the name; `<<-NAME` removes the common indentation. */
export function readHeredoc(reader: RulesReader): string | undefined {
  opening.lastIndex = reader.at;
  const match = opening.exec(reader.text);
  if (match === null) return fail(reader, 'a heredoc begins with << and a name at the end of a line');
  const lines: string[] = [];
  let at = opening.lastIndex;
  while (at < reader.text.length) {
    const end = reader.text.indexOf('\n', at);
    const line = reader.text.slice(at, end < 0 ? undefined : end);
    if (line.trim() === match[2]) {
      reader.at = at + line.length;
      return match[1] === '-' ? outdented(lines) : lines.map((text) => `${text}\n`).join('');
    }
    lines.push(line);
    at = end < 0 ? reader.text.length : end + 1;
  }
  return fail(reader, `the heredoc ${match[2] ?? ''} is not closed`);
}

function outdented(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const common = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  return lines.map((line) => `${line.slice(Number.isFinite(common) ? common : 0)}\n`).join('');
}
