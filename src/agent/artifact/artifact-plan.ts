import { err, ok, type Result } from 'neverthrow';
import type { TaskArtifact } from '../../jobs/document/task-parts.js';
import { type Archive, archiveOf, sourceParts } from '../../jobs/task-needs.js';
import { percentDecoded } from '../../shared/values.js';

export interface Digest {
  readonly algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512';
  /** Hexadecimal digits in lower case. */
  readonly digits: string;
}

/** The required digest of a file: none, a given one, or the one that a checksum list at a URL has for its name. */
type Checksum =
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
    if (file === undefined || file.split('/').at(-1) === name) return digestFrom(digits);
  }
  return undefined;
}

function digestFrom(text: string): Digest | undefined {
  const [kind, digits] = text.includes(':') ? (text.split(/:(.*)/s, 2) as [string, string]) : [undefined, text];
  const algorithm = byLength.get(digits.length);
  if (algorithm === undefined || !/^[0-9A-Fa-f]+$/.test(digits)) return undefined;
  return kind === undefined || kind === algorithm ? { algorithm, digits: digits.toLowerCase() } : undefined;
}

/** One file to download for a task. */
export interface ArtifactPlan {
  /** Absolute, http: or https:, without options for the agent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly checksum: Checksum;
  /** Destination of the file, or of the folder that it is unpacked to, relative to the task's folder. */
  readonly destination: string;
  /** How to unpack the file; undefined to keep it as it is. */
  readonly archive: Pick<Archive, 'format' | 'folder'> | undefined;
}

/** Query options of a source that the agent interprets itself and does not send to the server. */
const ownOptions = ['checksum', 'archive', 'filename'];

/** The download for an artifact, after `fill` has replaced its references. The error says what is unsupported or wrong. */
export function artifactPlan(artifact: TaskArtifact, fill: (text: string) => string): Result<ArtifactPlan, string> {
  const source = fill(artifact.GetterSource);
  const filled = { ...artifact, GetterSource: source, GetterOptions: filledMap(artifact.GetterOptions, fill) };
  const refused = refusal(filled);
  if (refused !== undefined) return err(refused);
  const found = archiveOf(filled);
  const archive = found === 'unknown' ? undefined : found;
  const { path: whole, options } = sourceParts(source, filled.GetterOptions);
  const path = archive?.path ?? whole;
  const checksum = parseChecksum(options.get('checksum') ?? '', path);
  if (checksum.isErr()) return err(checksum.error);
  const name = nameOf(options.get('filename') ?? '', path);
  if (name === undefined) return err('the source has no file name, and the option filename gives none');
  for (const option of ownOptions) options.delete(option);
  const destination = fill(artifact.RelativeDest);
  const asIs = archive !== undefined || artifact.GetterMode === 'file';
  return ok({
    url: options.size === 0 ? path : `${path}?${options}`,
    headers: filledMap(artifact.GetterHeaders, fill),
    checksum: checksum.value,
    destination: asIs ? destination : `${destination}/${name}`,
    archive,
  });
}

function refusal(artifact: TaskArtifact): string | undefined {
  if (artifact.GetterInsecure) return 'insecure = true is not supported: certificates are always checked';
  if (!/^https?:\/\//i.test(artifact.GetterSource)) return 'only http:// and https:// sources are supported';
  if (archiveOf(artifact) !== 'unknown') return undefined;
  return 'only tar, tar.gz and zip archives can be unpacked, into a folder; set the option archive = "false" to fetch the file unchanged';
}

function filledMap(map: Readonly<Record<string, string>> | null, fill: (text: string) => string) {
  return Object.fromEntries(Object.entries(map ?? {}).map(([name, value]) => [name, fill(value)]));
}

/** The last segment of the path, unless a name is given. Neither may lead to another folder. */
function nameOf(given: string, path: string): string | undefined {
  const last =
    given === ''
      ? percentDecoded(
          path
            .replace(/^https?:\/\/[^/]*/i, '')
            .split('/')
            .at(-1) ?? '',
        )
      : given;
  return last === '' || last === '.' || last === '..' || /[/\\\0]/.test(last) ? undefined : last;
}
