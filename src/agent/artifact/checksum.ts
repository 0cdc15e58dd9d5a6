import { err, ok, type Result } from 'neverthrow';

export interface Digest {
  readonly algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512';
  /** Hexadecimal digits in lower case. */
  readonly digits: string;
}

/** The required digest of a file: none, a given one, or the one that a checksum list at a URL has for its name. */
export type Checksum =
  | { readonly type: 'none' }
  | { readonly type: 'digest'; readonly digest: Digest }
  | { readonly type: 'list'; readonly url: string; readonly name: string };

/** Algorithms by their number of hexadecimal digits. */
const byLength: ReadonlyMap<number, Digest['algorithm']> = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
  [128, 'sha512'],
]);

/** Parses `<algorithm>:<digits>`, digits alone, or `file:<url>` of a list that names the source's file. */
export function parseChecksum(text: string, source: string): Result<Checksum, string> {
  const trimmed = text.trim();
  if (trimmed === '') return ok({ type: 'none' });
  if (trimmed.startsWith('file:')) {
    const url = trimmed.slice('file:'.length);
    if (!/^https?:\/\//i.test(url)) return err('the list of checksums must be at an http:// or https:// address');
    return ok({ type: 'list', url, name: source.split('/').at(-1) ?? '' });
  }
  const digest = digestFrom(trimmed);
  return digest === undefined
    ? err('the checksum must be <md5|sha1|sha256|sha512>:<hexadecimal digits> or file:<url>')
    : ok({ type: 'digest', digest });
}

/**
 * Finds a file's digest in a list: lines `<digits>  <name>`, `<digits> *<name>` or `SHA256 (<name>) = <digits>`; a line
 * with digits only applies to every file.
 */
export function digestInList(list: string, name: string): Digest | undefined {
  for (const line of list.split(/\r?\n/)) {
    const tagged = /^(?:MD5|SHA1|SHA256|SHA512) \((.+)\) = ([0-9A-Fa-f]+)$/.exec(line.trim());
    // The dot matches every character: otherwise a line of blanks with a line separator takes quadratic time.
    const plain = /^([0-9A-Fa-f]+)(?:\s+\*?(.+))?$/s.exec(line.trim());
    const [file, digits] = tagged === null ? [plain?.[2], plain?.[1]] : [tagged[1], tagged[2]];
    if (digits === undefined) continue;
    if (file === undefined || lastPart(file) === name) return digestFrom(digits);
  }
  return undefined;
}

function lastPart(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function digestFrom(text: string): Digest | undefined {
  const [kind, digits] = text.includes(':') ? (text.split(/:(.*)/s, 2) as [string, string]) : [undefined, text];
  const algorithm = byLength.get(digits.length);
  if (algorithm === undefined || !/^[0-9A-Fa-f]+$/.test(digits)) return undefined;
  return kind === undefined || kind === algorithm ? { algorithm, digits: digits.toLowerCase() } : undefined;
}
