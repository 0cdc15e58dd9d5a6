import { err, ok, type Result } from 'neverthrow';
import type { TaskArtifact } from '../../jobs/document/task-parts.js';
import { isArchive, sourceParts } from '../../jobs/task-needs.js';
import { type Checksum, parseChecksum } from './checksum.js';

/** One file to fetch for a task. */
export interface ArtifactPlan {
  /** Absolute, http: or https:, without what is meant for the node. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly checksum: Checksum;
  /** Where the file is put, seen from the task's folder. */
  readonly destination: string;
}

/** Options of a source that are for whoever fetches it, not for its server. */
const ownOptions = ['checksum', 'archive', 'filename'];

/** What to fetch for an artifact, once `fill` has replaced its references; a text says what is not supported, or wrong. */
export function artifactPlan(artifact: TaskArtifact, fill: (text: string) => string): Result<ArtifactPlan, string> {
  const source = fill(artifact.GetterSource);
  const filled = { ...artifact, GetterSource: source, GetterOptions: filledMap(artifact.GetterOptions, fill) };
  if (artifact.GetterInsecure) return err('insecure = true is not supported: certificates are always checked');
  if (!/^https?:\/\//i.test(source)) return err('only http:// and https:// sources are supported');
  if (isArchive(filled)) {
    return err('archives are not unpacked here; with the option archive = "false" the file is fetched as it is');
  }
  const { path, options } = sourceParts(source, filled.GetterOptions);
  const checksum = parseChecksum(options.get('checksum') ?? '', path);
  if (checksum.isErr()) return err(checksum.error);
  const name = nameOf(options.get('filename') ?? '', path);
  if (name === undefined) return err('the source has no file name, and the option filename gives none');
  for (const option of ownOptions) options.delete(option);
  const query = options.size === 0 ? '' : `?${options}`;
  const destination = fill(artifact.RelativeDest);
  return ok({
    url: path + query,
    headers: filledMap(artifact.GetterHeaders, fill),
    checksum: checksum.value,
    destination: artifact.GetterMode === 'file' ? destination : `${destination}/${name}`,
  });
}

function filledMap(map: Readonly<Record<string, string>> | null, fill: (text: string) => string) {
  return Object.fromEntries(Object.entries(map ?? {}).map(([name, value]) => [name, fill(value)]));
}

/** The last part of the path, unless a name is given. Neither leads to another folder. */
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
