import { createReadStream } from 'node:fs';
import { chmod, link, lstat, mkdir, open, readdir, realpath, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ArchiveFormat } from '../../../src/jobs/archive-format.js';
import { makeFolder, PathRefused, type TaskTarget } from '../disk/task-target.js';

/** Limits of unpacking an archive. */
interface UnpackLimits {
  /** The most bytes of all its files together. */
  readonly maximumBytes: number;
  /** The most files, folders and links. */
  readonly maximumEntries: number;
}

interface ArchiveToUnpack {
  readonly file: string;
  readonly format: ArchiveFormat;
  /** The folder in the archive to unpack; empty for the whole archive. */
  readonly folder: string;
}

/** The archive contains a forbidden entry or exceeds the limits. */
export class ArchiveRefused extends Error {}

/** The deepest nesting of folders. */
const deepest = 64;

interface Unpacking {
  readonly root: string;
  readonly limits: UnpackLimits;
  readonly signal: AbortSignal;
  /** Symbolic links by path. Made last, so that nothing is ever written through one. */
  readonly symlinks: Map<string, string>;
  /** The created folders, by their paths in the archive. */
  readonly folders: Set<string>;
  bytes: number;
  entries: number;
}

/**
 * Unpacks an archive into `root`, an empty folder of the runner. Permissions are kept, without setuid and setgid;
 * owners and times are not kept. Throws `ArchiveRefused` for devices, and for paths and links that lead out of the folder.
 */
export async function unpackArchive(
  { file, format, folder }: ArchiveToUnpack,
  root: string,
  limits: UnpackLimits,
  signal: AbortSignal,
): Promise<void> {
  const unpacking: Unpacking = { root, limits, signal, symlinks: new Map(), folders: new Set(), bytes: 0, entries: 0 };
  const wanted = partsOf(folder);
  for await (const entry of entriesOf(file, format)) {
    signal.throwIfAborted();
    countEntries(unpacking, 1);
    const parts = below(wanted, partsOf(entry.path));
    if (parts !== undefined && parts.length > 0) await unpackEntry(unpacking, entry, parts, wanted);
    else if (entry.type === 'file') await pass(unpacking, entry);
  }
  for (const [path, target] of unpacking.symlinks) await symlink(target, path).catch(refuseTwice);
  for (const path of unpacking.symlinks.keys()) await checkLink(root, path);
}

function countEntries(unpacking: Unpacking, more: number): void {
  unpacking.entries += more;
  const { maximumEntries } = unpacking.limits;
  if (unpacking.entries > maximumEntries) {
    throw new ArchiveRefused(`the archive contains more than ${maximumEntries} entries`);
  }
}

/** The path split into folder names and the last name. */
function partsOf(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const isOdd = path.startsWith('/') || parts.includes('..') || /[\0\\]/.test(path);
  if (isOdd) throw new ArchiveRefused(`${shown(path)} leads outside the archive's folder`);
  if (parts.length > deepest) throw new ArchiveRefused(`${shown(path)} is nested more than ${deepest} folders deep`);
  return parts;
}

function below(folder: readonly string[], parts: readonly string[]): readonly string[] | undefined {
  return folder.every((part, at) => parts[at] === part) ? parts.slice(folder.length) : undefined;
}

async function unpackEntry(
  unpacking: Unpacking,
  entry: ArchiveEntry,
  parts: readonly string[],
  wanted: readonly string[],
): Promise<void> {
  const { root, symlinks } = unpacking;
  const path = join(root, ...parts);
  await makeWay(unpacking, parts.slice(0, -1));
  if (entry.type === 'directory') {
    await makeFolder({ root, parts }).catch(refuseOddFolder);
    unpacking.folders.add(parts.join('/'));
    await chmod(path, ((entry.mode ?? 0o755) & 0o777) | 0o700);
    return;
  }
  if (entry.type === 'file') await writeFile(unpacking, entry, path);
  else if (entry.type === 'symlink') symlinks.set(path, entry.target);
  else if (entry.type === 'link') await linkFile(root, path, below(wanted, partsOf(entry.target)));
  else throw new ArchiveRefused(`${shown(entry.path)} is not a file, a folder or a link`);
}

/** The parent folders of an entry. They count towards the limits even if the archive does not list them. */
async function makeWay(unpacking: Unpacking, parts: readonly string[]): Promise<void> {
  const { root, folders } = unpacking;
  let known = parts.length;
  while (known > 0 && !folders.has(parts.slice(0, known).join('/'))) known -= 1;
  const missing = parts.slice(known);
  if (missing.length === 0) return;
  countEntries(unpacking, missing.length);
  await makeFolder({ root: join(root, ...parts.slice(0, known)), parts: missing }).catch(refuseOddFolder);
  for (let depth = known + 1; depth <= parts.length; depth += 1) folders.add(parts.slice(0, depth).join('/'));
}

async function writeFile(unpacking: Unpacking, entry: ArchiveEntry, path: string): Promise<void> {
  await refuseThere(path);
  const handle = await open(path, 'wx', 0o600).catch(refuseTwice);
  try {
    for await (const bytes of await entry.content()) {
      count(unpacking, bytes);
      await handle.writeFile(bytes);
    }
    await handle.chmod((entry.mode ?? 0o644) & 0o777);
  } finally {
    await handle.close();
  }
}

/** Reads to the next entry; the bytes of skipped entries count, too. */
async function pass(unpacking: Unpacking, entry: ArchiveEntry): Promise<void> {
  for await (const bytes of await entry.content()) count(unpacking, bytes);
}

function count(unpacking: Unpacking, bytes: Uint8Array): void {
  unpacking.signal.throwIfAborted();
  unpacking.bytes += bytes.length;
  const { maximumBytes } = unpacking.limits;
  if (unpacking.bytes > maximumBytes)
    throw new ArchiveRefused(`the archive unpacks to more than ${maximumBytes} bytes`);
}

/** A hard link to an earlier file. */
async function linkFile(root: string, path: string, target: readonly string[] | undefined): Promise<void> {
  const source = join(root, ...(target ?? []));
  const there = target === undefined ? undefined : await lstat(source).catch(() => undefined);
  if (there?.isFile() !== true)
    throw new ArchiveRefused(`${shown(path)} is a hard link to a file that does not precede it in the archive`);
  await link(source, path).catch(refuseTwice);
}

/** The target of a link must exist in the folder. */
async function checkLink(root: string, path: string): Promise<void> {
  const real = await realpath(path).catch(() => undefined);
  const top = await realpath(root);
  if (real === undefined || !(real === top || real.startsWith(top + sep))) {
    throw new ArchiveRefused(`the link ${shown(path.slice(root.length + 1))} has no target in the archive`);
  }
}

/** A later entry replaces an earlier file, as in archives that were appended to. */
async function refuseThere(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there?.isFile() === true) await rm(path);
}

function refuseTwice(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EEXIST') throw error;
  throw new ArchiveRefused('the archive contains entries of different types at one path');
}

function refuseOddFolder(error: unknown): never {
  throw error instanceof PathRefused ? new ArchiveRefused('the archive uses a file as a folder') : error;
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

/** Moves the unpacked files to their destination, merging folders and replacing existing files. */
export async function moveUnpacked(from: string, target: TaskTarget): Promise<void> {
  const folder = await makeFolder(target);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) {
      const { mode } = await lstat(source);
      await moveUnpacked(source, { ...target, parts: [...target.parts, entry.name] });
      await chmod(join(folder, entry.name), mode & 0o777);
    } else await rename(source, join(folder, entry.name)).catch(refuseFolder);
  }
}

function refuseFolder(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EISDIR' && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  throw new ArchiveRefused('a file of the archive would replace an existing folder');
}

/** An empty folder to unpack into. */
export async function freshFolder(path: string): Promise<string> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
}

/** One entry of an archive. `content` must be consumed before the next entry arrives. */
interface ArchiveEntry {
  /** As written in the archive, unchecked. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link' | 'symlink' | 'other';
  /** Permissions; undefined if the archive contains none. */
  readonly mode: number | undefined;
  /** The target of a link. */
  readonly target: string;
  readonly content: () => Promise<AsyncIterable<Uint8Array>>;
}

/** The optional packages that read archives are not installed. */
export class ArchivesUnread extends Error {}

/** The most bytes of headers between two entries of a tar file. */
const longestHeader = 4 * 1024 * 1024;

/** The most bytes of a link's target in a zip file. */
const longestTarget = 4096;

/** Whether the optional packages that read archives are installed. */
export function canReadArchives(): boolean {
  try {
    // In a bundle the module's location may be unknown; then no package can be resolved.
    const { resolve } = createRequire(import.meta.url);
    return ['tar-stream', 'yauzl'].every((name) => resolve(name) !== '');
  } catch {
    return false;
  }
}

/** The used part of `tar-stream`. */
interface TarLibrary {
  extract(): TarExtract;
}

interface TarExtract extends NodeJS.WritableStream {
  [Symbol.asyncIterator](): AsyncIterator<TarEntry>;
}

interface TarEntry extends AsyncIterable<Uint8Array> {
  readonly header: {
    readonly name: string;
    readonly type?: string | null;
    readonly mode?: number;
    readonly linkname?: string | null;
  };
  resume(): unknown;
}

/** The used part of `yauzl`. */
interface ZipLibrary {
  open(
    path: string,
    options: { readonly lazyEntries: true; readonly autoClose: false; readonly strictFileNames: true },
    done: (error: Error | null, zip: ZipFile) => void,
  ): void;
}

interface ZipFile extends NodeJS.EventEmitter {
  readEntry(): void;
  close(): void;
  openReadStream(entry: ZipEntry, done: (error: Error | null, stream: Readable) => void): void;
}

interface ZipEntry {
  readonly fileName: string;
  readonly versionMadeBy: number;
  readonly externalFileAttributes: number;
}

function loadLibraries(): { readonly tar: TarLibrary; readonly zip: ZipLibrary } {
  const load = createRequire(import.meta.url);
  try {
    return { tar: load('tar-stream') as TarLibrary, zip: load('yauzl') as ZipLibrary };
  } catch {
    throw new ArchivesUnread('the optional packages "tar-stream" and "yauzl" are not installed on the node');
  }
}

/** The entries of an archive, in its order. Throws if it is damaged. */
async function* entriesOf(file: string, format: ArchiveFormat): AsyncGenerator<ArchiveEntry, void> {
  const { tar, zip } = loadLibraries();
  if (format === 'zip') yield* zipEntries(await openZip(zip, file));
  else yield* tarEntries(tar.extract(), createReadStream(file), format === 'tar.gz');
}

async function* tarEntries(extract: TarExtract, file: Readable, packed: boolean): AsyncGenerator<ArchiveEntry, void> {
  // The library buffers a header until it is complete, whatever its declared length.
  let ahead = 0;
  const meter = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      ahead += chunk.length;
      if (ahead > longestHeader) done(new Error('a tar header is too long'));
      else done(null, chunk);
    },
  });
  async function* metered(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const bytes of stream) {
      ahead = 0;
      yield bytes;
    }
  }
  const parts = [file, ...(packed ? [createGunzip()] : []), meter, extract];
  // An error here ends the iteration below.
  pipeline(parts as NodeJS.ReadWriteStream[], () => undefined);
  try {
    for await (const entry of extract) {
      ahead = 0;
      const { name, type, mode, linkname } = entry.header;
      const kind = tarTypes[type ?? 'file'] ?? 'other';
      if (kind !== 'file') entry.resume();
      yield {
        path: name,
        type: kind,
        mode,
        target: linkname ?? '',
        content: async () => metered(entry),
      };
    }
  } finally {
    file.destroy();
  }
}

const tarTypes: Readonly<Record<string, ArchiveEntry['type']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  link: 'link',
  symlink: 'symlink',
};

function openZip(zip: ZipLibrary, file: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    zip.open(file, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
}

async function* zipEntries(zip: ZipFile): AsyncGenerator<ArchiveEntry, void> {
  try {
    for (;;) {
      const entry = await nextEntry(zip);
      if (entry === undefined) return;
      yield await zipEntry(zip, entry);
    }
  } finally {
    zip.close();
  }
}

function nextEntry(zip: ZipFile): Promise<ZipEntry | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      zip.removeListener('entry', onEntry).removeListener('end', onEnd).removeListener('error', onError);
      then();
    };
    const onEntry = (entry: ZipEntry): void => settle(() => resolve(entry));
    const onEnd = (): void => settle(() => resolve(undefined));
    const onError = (error: Error): void => settle(() => reject(error));
    zip.on('entry', onEntry).on('end', onEnd).on('error', onError);
    zip.readEntry();
  });
}

const [unix, fileKind, linkKind, folderKind, regularKind] = [3, 0o170000, 0o120000, 0o040000, 0o100000];

async function zipEntry(zip: ZipFile, entry: ZipEntry): Promise<ArchiveEntry> {
  const attributes = entry.versionMadeBy >> 8 === unix ? entry.externalFileAttributes >>> 16 : 0;
  const mode = attributes === 0 ? undefined : attributes & 0o7777;
  const path = entry.fileName;
  const content = (): Promise<Readable> => openEntry(zip, entry);
  const kind = attributes & fileKind;
  if (path.endsWith('/') || kind === folderKind) return { path, type: 'directory', mode, target: '', content };
  if (kind === linkKind) {
    return { path, type: 'symlink', mode, target: await shortText(await content()), content };
  }
  const type = kind === 0 || kind === regularKind ? 'file' : 'other';
  return { path, type, mode, target: '', content };
}

function openEntry(zip: ZipFile, entry: ZipEntry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  });
}

async function shortText(stream: Readable): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > longestTarget) throw new Error('the target of a link is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
