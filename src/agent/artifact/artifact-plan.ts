import { err, ok, type Result } from 'neverthrow';
import type { TaskArtifact } from '../../jobs/document/task-parts.js';
import { type Archive, archiveOf, sourceParts } from '../../jobs/task-needs.js';
import { type Checksum, parseChecksum } from './checksum.js';

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
    url: withQuery(path, options),
    headers: filledMap(artifact.GetterHeaders, fill),
    checksum: checksum.value,
    destination: asIs ? destination : `${destination}/${name}`,
    archive,
  });
}

function withQuery(path: string, options: URLSearchParams): string {
  return options.size === 0 ? path : `${path}?${options}`;
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
      ? decoded(
          path
            .replace(/^https?:\/\/[^/]*/i, '')
            .split('/')
            .at(-1) ?? '',
        )
      : given;
  return last === '' || last === '.' || last === '..' || /[/\\\0]/.test(last) ? undefined : last;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
