import { chmod, link, lstat, mkdir, open, readdir, realpath, rename, rm, symlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ArchiveFormat } from '../../../src/jobs/archive-format.js';
import { makeFolder, PathRefused, type TaskTarget } from '../disk/task-target.js';
import { type ArchiveEntry, entriesOf } from './archive-entries.js';

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
