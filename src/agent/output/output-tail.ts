import { percentDecoded, wellFormed } from '../../shared/values.js';

/*
 * The last lines of a task's output, for alerts. Built on the node, which knows the values of the task's variables:
 * they are masked before anything is cut, so that no part of a value remains.
 */

/** Maximum number of lines of a tail. */
export const tailLines = 20;
/** Maximum length of a tail, in UTF-16 units. */
export const tailLength = 4000;
/** Maximum length of one line of a tail, in UTF-16 units. */
const lineLength = 1000;
/** Bytes at the end of a stream that a tail is built from. */
export const tailBytes = 32 * 1024;

const blank = '[redacted]';

/** Shorter values occur in any output by chance. */
const shortestSecret = 3;
/** Shorter lines of a multi-line value, such as the last one of a key, are not masked separately. */
const shortestLine = 8;

/** The forms in which a task may print values, longest first: verbatim, line by line, quoted, URL-encoded and as base64. */
export function secretForms(values: Iterable<string>): readonly string[] {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.trim().length < shortestSecret) continue;
    const lines = value.split(/\r?\n/).map((line) => line.trim());
    const several = lines.length > 1 ? lines.filter(({ length }) => length >= shortestLine) : [];
    for (const text of [value, value.trim(), ...several]) {
      forms.add(text);
      forms.add(JSON.stringify(text).slice(1, -1));
      forms.add(encodeURIComponent(text.replace(/\p{Surrogate}/gu, '')));
      forms.add(Buffer.from(text).toString('base64').replace(/=+$/, ''));
    }
  }
  return [...forms].toSorted((a, b) => b.length - a.length);
}

/** The password of a URL, as it is written and decoded. */
export function passwordsIn(url: string): readonly string[] {
  if (!url.includes('://') || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  if (password === '') return [];
  return [...new Set([password, percentDecoded(password)])];
}

/** The output with all forms masked. */
export function withoutForms(text: string, forms: readonly string[]): string {
  return forms.reduce((kept, form) => (form === '' ? kept : kept.replaceAll(form, blank)), text);
}

/** The end of one stream. */
export interface StreamEnd {
  readonly text: string;
  /** Whether earlier output was cut: the first line may be incomplete. */
  readonly isCut: boolean;
}

/** The last lines of both streams: stderr last, stdout in the remaining space. Empty when there is none. */
export function outputTail(
  ends: { readonly stdout: StreamEnd; readonly stderr: StreamEnd },
  secrets: Iterable<string>,
): string {
  const forms = secretForms(secrets);
  const [out = [], errors = []] = [ends.stdout, ends.stderr].map((end) => linesOf(end, forms));
  const lines = [...out, ...errors].slice(-tailLines);
  let length = 0;
  let first = lines.length;
  while (first > 0) {
    length += (lines[first - 1]?.length ?? 0) + 1;
    if (length > tailLength) break;
    first -= 1;
  }
  return lines.slice(first).join('\n');
}

function linesOf({ text, isCut }: StreamEnd, forms: readonly string[]): string[] {
  const lines = withoutForms(text, forms).split('\n');
  // The rest of a cut line may begin in the middle of a value.
  if (isCut) lines.shift();
  // A value may contain characters that cleaning removes, so it is masked again.
  return lines.map((line) => withoutForms(cleanLine(line), forms)).filter((line) => line !== '');
}

/** Programs overwrite progress lines with carriage returns and colour them with escape sequences: only the last content counts. */
function cleanLine(line: string): string {
  const shown = line.replace(/\r+$/, '');
  const plain = shown
    .slice(shown.lastIndexOf('\r') + 1)
    .replace(escapeSequence, '')
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/gu, '')
    .trimEnd();
  return wellFormed(plain.length > lineLength ? `${plain.slice(0, lineLength)}…` : plain);
}

/** Terminal control and escape sequences. */
const escapeSequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
