import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArtifactPlan,
  artifactPlan,
  type Digest,
  digestInList,
} from '../../../src/agent/artifact/artifact-plan.js';
import type { TaskArtifact } from '../../../src/jobs/document/task-parts.js';
import type { Download, DownloadRequest } from '../../../src/ports/download.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import { messageOf } from '../../../src/shared/values.js';
import { NumberNote } from '../disk/note-keeper.js';
import { folderForFile, PathRefused, type TaskPaths, type TaskTarget, targetOf } from '../disk/task-target.js';
import { isTransientFault } from '../disk/text-file.js';
import { ArchiveRefused, ArchivesUnread, freshFolder, moveUnpacked, unpackArchive } from './unpack-archive.js';

/** Limits of one artifact. */
export interface ArtifactLimits {
  /** The most bytes of one downloaded file; default: 10 GiB. */
  readonly maximumBytes?: number;
  /** Milliseconds from the request to the last byte; default: 30 minutes. */
  readonly totalTimeout?: Milliseconds;
  /** Milliseconds that a server may send nothing; default: 1 minute. */
  readonly idleTimeout?: Milliseconds;
  /** The most bytes that one archive may unpack to; default: 10 GiB. */
  readonly unpackedBytes?: number;
  /** The most files, folders and links in one archive; default: 100,000. */
  readonly unpackedEntries?: number;
}

interface ArtifactTask {
  readonly artifacts: readonly TaskArtifact[];
  readonly paths: TaskPaths;
  /** Interpolates references. */
  readonly fill: (text: string) => string;
  readonly limits: ArtifactLimits;
}

/** An artifact cannot be fetched or unpacked. */
export class ArtifactFailed extends Error {
  /** A retry would fail, too. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

const defaults = { maximumBytes: 10 * 1024 ** 3, totalTimeout: 30 * 60_000, idleTimeout: 60_000 };
const connectTimeout = 30_000;
/** The most bytes of a checksum file. */
const longestList = 1024 * 1024;

/**
 * Fetches the artifacts of a task, once per allocation. A file is moved to its destination only when it is complete and matches its
 * checksum. Finished downloads are recorded, so that a restarted runner fetches only the rest. Throws `ArtifactFailed`.
 */
export async function fetchArtifacts(task: ArtifactTask, download: Download, signal: AbortSignal): Promise<void> {
  const note = new NumberNote(task.paths, 'artifacts.json');
  for (const [at, artifact] of task.artifacts.entries()) {
    if ((await note.read()).includes(at)) continue;
    const plan = artifactPlan(artifact, task.fill);
    if (plan.isErr()) throw new ArtifactFailed(`Artifact ${at + 1}: ${plan.error}`, true);
    const fetching: Fetching = { task, download, signal, at };
    await fetchOne(fetching, plan.value);
    if (signal.aborted) return;
    await note.add([at]);
  }
}

interface Fetching {
  readonly task: ArtifactTask;
  readonly download: Download;
  readonly signal: AbortSignal;
  readonly at: number;
}

async function fetchOne(fetching: Fetching, plan: ArtifactPlan): Promise<void> {
  const { paths } = fetching.task;
  const target = targetOf(paths, plan.destination);
  const file = plan.archive === undefined ? await folderForFile(target) : undefined;
  const expected = await expectedDigest(fetching, plan);
  const draft = join(paths.notes, `artifact-${fetching.at}.new`);
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o644);
  try {
    const found = await fetchInto(fetching, plan, handle, expected?.algorithm ?? 'sha256');
    if (expected !== undefined && found !== expected.digits) {
      const message = `the checksum is ${found}, not ${expected.digits} (${expected.algorithm})`;
      throw new ArtifactFailed(`Artifact ${fetching.at + 1}: ${message}`, false);
    }
    if (file !== undefined) await rename(draft, join(file.folder, file.name)).catch(refuseFolder);
    else await unpackInto(fetching, plan, draft, target);
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

/** Unpacks next to the notes, and moves the result when it is complete. */
async function unpackInto(
  { task, signal, at }: Fetching,
  { archive }: ArtifactPlan,
  file: string,
  target: TaskTarget,
): Promise<void> {
  const { unpackedBytes: maximumBytes = defaults.maximumBytes, unpackedEntries: maximumEntries = 100_000 } =
    task.limits;
  const folder = await freshFolder(`${file}.unpacked`);
  try {
    if (archive !== undefined) {
      await unpackArchive({ file, ...archive }, folder, { maximumBytes, maximumEntries }, signal);
    }
    await moveUnpacked(folder, target);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof PathRefused || isTransientFault(error)) throw error;
    const message = messageOf(error);
    const isFinal = error instanceof ArchiveRefused || error instanceof ArchivesUnread;
    throw new ArtifactFailed(`Artifact ${at + 1}: the archive was not unpacked: ${message}`, isFinal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The digest of the downloaded bytes. */
async function fetchInto(fetching: Fetching, plan: ArtifactPlan, file: FileHandle, algorithm: string): Promise<string> {
  const hash = createHash(algorithm);
  await get(fetching, plan, async (bytes) => {
    hash.update(bytes);
    await file.writeFile(bytes);
  });
  return hash.digest('hex');
}

async function expectedDigest(fetching: Fetching, { checksum, headers }: ArtifactPlan): Promise<Digest | undefined> {
  if (checksum.type !== 'list') return checksum.type === 'none' ? undefined : checksum.digest;
  const parts: Uint8Array[] = [];
  const list = { url: checksum.url, headers, maximumBytes: longestList };
  await get(fetching, list, async (bytes) => void parts.push(bytes));
  const digest = digestInList(Buffer.concat(parts).toString('utf8'), checksum.name);
  if (digest !== undefined) return digest;
  throw new ArtifactFailed(`Artifact ${fetching.at + 1}: the checksum file has no entry for ${checksum.name}`, false);
}

async function get(
  { task, download, signal, at }: Fetching,
  wanted: Pick<DownloadRequest, 'url' | 'headers'> & { readonly maximumBytes?: number },
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const request: DownloadRequest = { connectTimeout, ...defaults, ...task.limits, ...own(wanted), signal };
  const fetched = await download.fetch(request, take);
  if (fetched.isErr()) {
    throw new ArtifactFailed(`Artifact ${at + 1}: ${fetched.error.message}`, fetched.error.isFinal);
  }
}

function own({ url, headers, maximumBytes }: Parameters<typeof get>[1]) {
  return maximumBytes === undefined ? { url, headers } : { url, headers, maximumBytes };
}

function refuseFolder(error: NodeJS.ErrnoException): never {
  const isFolder = error.code === 'EISDIR' || error.code === 'ENOTEMPTY' || error.code === 'EEXIST';
  throw isFolder
    ? new ArtifactFailed(
        'The destination of an artifact is a directory: with mode = "file", destination must be the path of the file',
        true,
      )
    : error;
}
