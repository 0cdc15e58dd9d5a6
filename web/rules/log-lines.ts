import { withoutCodes } from './terminal-output.js';

/*
 * Lines of a task's output with their positions: bytes since the task began to write, which the rotation of files does not change.
 */

export interface LogLine {
  /** Position of the first byte. */
  readonly from: number;
  /** Position behind the line end. */
  readonly to: number;
  /** With its escape codes, without the line end. */
  readonly text: string;
  /** Without escape codes, for searching and copying. */
  readonly plain: string;
  readonly level: Level;
}

export type Level = 'error' | 'warn' | 'other';

/** Consecutive bytes of an output. */
export interface Piece {
  readonly from: number;
  readonly bytes: Uint8Array;
}

const lineEnd = 10;
/** Marks of byte order are shown like other hidden characters. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Lines from a range of bytes. The bytes behind the last line end are left for the next range, unless the output has ended. */
export function linesOf(
  { from, bytes }: Piece,
  hasEnded: boolean,
): { readonly lines: readonly LogLine[]; readonly rest: Piece } {
  const lines: LogLine[] = [];
  let begin = 0;
  for (let end = bytes.indexOf(lineEnd); end !== -1; end = bytes.indexOf(lineEnd, begin)) {
    lines.push(lineOf(from + begin, from + end + 1, decoder.decode(bytes.subarray(begin, end))));
    begin = end + 1;
  }
  if (hasEnded && begin < bytes.length) {
    lines.push(lineOf(from + begin, from + bytes.length, decoder.decode(bytes.subarray(begin))));
    begin = bytes.length;
  }
  return { lines, rest: { from: from + begin, bytes: bytes.slice(begin) } };
}

function lineOf(from: number, to: number, raw: string): LogLine {
  const text = afterReturn(raw);
  const plain = withoutCodes(text);
  return { from, to, text, plain, level: levelOf(plain) };
}

/** A carriage return begins the line anew, as a terminal shows it. */
function afterReturn(raw: string): string {
  let end = raw.length;
  while (raw[end - 1] === '\r') end -= 1;
  const text = raw.slice(0, end);
  return text.slice(text.lastIndexOf('\r') + 1);
}

const errors =
  /\b(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|EMERG|ALERT)\b|"(?:level|severity)":\s*"(?:error|fatal|critical|panic)"|"level":\s*(?:[56]\d)\b|^(?:fatal|error|panic): /i;
const warnings = /\b(?:WARN|WARNING)\b|"(?:level|severity)":\s*"warn(?:ing)?"|"level":\s*40\b/i;

/** The level that a line names within its first characters; lines that name none have another. */
export function levelOf(plain: string): Level {
  const beginning = plain.slice(0, 200);
  if (errors.test(beginning)) return 'error';
  return warnings.test(beginning) ? 'warn' : 'other';
}

/** The members of a line that is a JSON object: time, level and message first. Undefined for other lines. */
export function fieldsOf(plain: string): readonly (readonly [string, string])[] | undefined {
  if (!plain.startsWith('{') || !plain.endsWith('}') || plain.length > 10_000 || inexact.test(plain)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(plain);
  } catch {
    return undefined;
  }
  const all = Object.entries(value as object).map(
    ([name, each]) => [name, typeof each === 'string' ? each : JSON.stringify(each)] as const,
  );
  const rank = (name: string): number => {
    const at = firstNames.indexOf(name.toLowerCase());
    return at === -1 ? firstNames.length : at;
  };
  return all.length === 0 ? undefined : all.sort(([a], [b]) => rank(a) - rank(b));
}

/** Numbers that a number of JavaScript does not hold: the line is shown as it is. */
const inexact = /[:,[]\s*-?\d{16}/;

const firstNames = ['time', 'timestamp', '@timestamp', 'ts', 'level', 'severity', 'msg', 'message'];

/** What is searched for: a string in any case, or a pattern between slashes. */
interface Wanted {
  readonly text: string;
  readonly isPattern: boolean;
}

export function wantedOf(asked: string): Wanted | undefined {
  if (asked === '') return undefined;
  const pattern = /^\/(.+)\/$/.exec(asked)?.[1];
  return pattern === undefined ? { text: asked.toLowerCase(), isPattern: false } : { text: pattern, isPattern: true };
}

/** The range of bytes of an address: `b1024-1311`. */
export function rangeOf(hash: string): { readonly from: number; readonly to: number } | undefined {
  const found = /^b(\d{1,15})-(\d{1,15})$/.exec(hash);
  return found === null ? undefined : { from: Number(found[1]), to: Number(found[2]) };
}

/** The bytes of a base64 string. */
export function bytesOf(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
