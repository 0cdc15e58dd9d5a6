import { err, ok, type Result } from 'neverthrow';

export interface EnvironmentFault {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/**
 * Parses `NAME=value` lines, as templates with `env = true` produce them (guide to templates). Empty lines and comments are skipped,
 * a leading `export` is allowed, a single-quoted value is literal, a double-quoted one has JSON's escapes.
 */
export function parseEnvironment(text: string): Result<Readonly<Record<string, string>>, EnvironmentFault> {
  const found = new Map<string, string>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const entry = parseLine(content);
    if (typeof entry === 'string') return err({ line: at + 1, message: entry });
    found.set(entry.name, entry.value);
  }
  return ok(Object.fromEntries(found));
}

function parseLine(line: string): { readonly name: string; readonly value: string } | string {
  const equals = line.indexOf('=');
  if (equals < 0) return 'missing = between name and value';
  const name = line
    .slice(0, equals)
    .trim()
    .replace(/^export\s+/, '');
  if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) {
    return 'a name begins with a letter or underscore and has letters, digits, underscores, dots and hyphens';
  }
  const value = parseValue(line.slice(equals + 1).trim());
  if (value === undefined) return 'the value has an unterminated quote or an invalid escape';
  return value.includes('\0') ? 'the value contains a NUL character' : { name, value };
}

/** A trailing comment begins with white space and `#`. */
const part = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\s+#.*$|^#.*$)|(\s+|[^\s"']+)/gy;

function parseValue(text: string): string | undefined {
  let value = '';
  let read = 0;
  for (const [whole, double, single, comment, plain] of text.matchAll(part)) {
    read += whole.length;
    if (comment !== undefined) break;
    const next = double === undefined ? (single ?? plain ?? '') : unescaped(whole);
    if (next === undefined) return undefined;
    value += next;
  }
  const isWhole = read === text.length;
  return isWhole ? value : undefined;
}

function unescaped(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted.replaceAll('\t', '\\t')) as string;
  } catch {
    return undefined;
  }
}
