import { constants, type Dirent } from 'node:fs';
import { chmod, lchown, lstat, mkdir, open, opendir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../../src/shared/values.js';
import { lackOf } from './text-file.js';

/**
 * Makes a folder and its parents. On a full disk, Node returns `ENOENT` instead of `ENOSPC` for an
 * asynchronous recursive call; `ENOENT` has no other cause here, because missing folders are made.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw lackOf(`The folder ${path} could not be made: the disk is full`);
  }
}

/**
 * Removes a folder with its contents, even if a task has removed write permission from its folders, which stops everyone but
 * root. Nothing else may use it meanwhile. A missing folder is not an error.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, removal);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    await allow(path);
    await rm(path, removal);
  }
}

const removal = { recursive: true, force: true, maxRetries: 2 };

/** Gives this process all permissions on a folder and its subfolders. Links are left unchanged. */
async function allow(folder: string): Promise<void> {
  const { mode } = await lstat(folder);
  await chmod(folder, (mode & 0o777) | 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await allow(join(folder, entry.name));
  }
}

function isForbidden(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EACCES' || code === 'EPERM';
}

interface CopyLimits {
  readonly maximumBytes: number;
  /** The most files, folders and links. */
  readonly maximumEntries: number;
}

interface Copying {
  readonly limits: CopyLimits;
  readonly signal: AbortSignal;
  bytes: number;
  entries: number;
  /** Sockets, pipes and devices, which hold no data. */
  omitted: number;
}

/**
 * Copies a folder to a new path. Links are copied as they are; permissions and times are kept, and owners if this
 * process may set them. All files are synced before this resolves, so that the source can be removed. Returns the number of sockets,
 * pipes and devices that were left out. Beyond the limits it removes its copy and throws.
 */
async function copyFolder(from: string, to: string, limits: CopyLimits, signal: AbortSignal): Promise<number> {
  const copying: Copying = { limits, signal, bytes: 0, entries: 0, omitted: 0 };
  await removeFolder(to);
  try {
    await copyEntries(copying, from, to);
    return copying.omitted;
  } catch (error) {
    await removeFolder(to);
    throw error;
  }
}

async function copyEntries(copying: Copying, from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    copying.signal.throwIfAborted();
    copying.entries += 1;
    if (copying.entries > copying.limits.maximumEntries) {
      throw new Error(`it contains more than ${copying.limits.maximumEntries} files, and is on another file system`);
    }
    await copyEntry(copying, entry, join(from, entry.name), join(to, entry.name));
  }
  const { mode, uid, gid } = await lstat(from);
  await keepOwner(to, uid, gid);
  await chmod(to, mode & 0o777);
  await onDisk(to);
}

async function copyEntry(copying: Copying, entry: Dirent, from: string, to: string): Promise<void> {
  if (entry.isDirectory()) await copyEntries(copying, from, to);
  else if (entry.isFile()) await copyFile(copying, from, to);
  else if (entry.isSymbolicLink()) {
    const { uid, gid } = await lstat(from);
    await symlink(await readlink(from), to);
    await keepOwner(to, uid, gid);
  } else copying.omitted += 1;
}

const pieceBytes = 1024 * 1024;

async function copyFile(copying: Copying, from: string, to: string): Promise<void> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { mode, uid, gid, atime, mtime } = await source.stat();
    const target = await open(to, 'wx', 0o600);
    try {
      const buffer = Buffer.allocUnsafe(pieceBytes);
      for (;;) {
        copying.signal.throwIfAborted();
        const { bytesRead } = await source.read(buffer, 0, pieceBytes, null);
        if (bytesRead === 0) break;
        count(copying, bytesRead);
        await target.writeFile(buffer.subarray(0, bytesRead));
      }
      await keepOwner(to, uid, gid);
      await target.chmod(mode & 0o777);
      await target.utimes(atime, mtime);
      await target.sync();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function count(copying: Copying, bytes: number): void {
  copying.bytes += bytes;
  const { maximumBytes } = copying.limits;
  if (copying.bytes <= maximumBytes) return;
  throw new Error(
    `it is larger than ${maximumBytes / 1024 ** 2} MiB (\`size\` of ephemeral_disk), and is on another file system`,
  );
}

/** Only root may change the owner. */
async function keepOwner(path: string, uid: number, gid: number): Promise<void> {
  if (process.getuid?.() === 0) await lchown(path, uid, gid);
}

/** Syncs a folder, so that its entries survive a power failure. */
async function onDisk(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * `absent`: the source does not exist or is empty (an interrupted takeover leaves empty folders). `kept`: the
 * target already has data, which stays. `refused`: the source is a link or a file, or lies behind one, so that its data may be
 * anywhere.
 */
type MoveResult = 'absent' | 'kept' | 'refused' | Moved;

interface Moved {
  /** Sockets, pipes and devices that a copy left out. */
  readonly omitted: number;
}

/** Limits of the copy if the folders are on different file systems. */
interface CopyTerms {
  readonly limits: CopyLimits;
  readonly signal: AbortSignal;
}

/**
 * Moves a folder atomically to the same path below another root. The target is missing or an empty folder, and its parents
 * exist. Links are not followed: they move unchanged with the folder.
 */
export async function moveFolder(
  from: string,
  to: string,
  path: readonly string[],
  terms: CopyTerms,
): Promise<MoveResult> {
  const standing = await standingOf(from, path);
  if (standing !== 'folder') return standing;
  if ((await standingOf(to, path)) === 'refused') return 'refused';
  const [source, target] = [join(from, ...path), join(to, ...path)];
  if (await isEmptyFolder(source)) return 'absent';
  try {
    await renameOwn(source, target);
    return { omitted: 0 };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EXDEV') return await copyOver(source, target, terms);
    if (isTaken(error)) return 'kept';
    throw error;
  }
}

/** An unreadable folder counts as not empty. */
export async function isEmptyFolder(path: string): Promise<boolean> {
  try {
    const folder = await opendir(path);
    const first = await folder.read();
    await folder.close();
    return first === null;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    return false;
  }
}

/** The complete copy is moved into place; only then is the source removed. */
async function copyOver(source: string, target: string, { limits, signal }: CopyTerms): Promise<MoveResult> {
  const draft = join(dirname(target), '.incoming');
  const omitted = await copyFolder(source, draft, limits, signal);
  try {
    await rename(draft, target);
  } catch (error) {
    await removeFolder(draft);
    if (isTaken(error)) return 'kept';
    throw error;
  }
  // Anything left is removed later with its parent folder.
  await removeFolder(source).catch(() => undefined);
  return { omitted };
}

/** Moving a folder requires write permission on it, and a task may have made its folder read-only. */
async function renameOwn(source: string, target: string): Promise<void> {
  try {
    await rename(source, target);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    const { mode } = await lstat(source);
    await chmod(source, mode | 0o200);
    await rename(source, target);
    await chmod(target, mode);
  }
}

function isTaken(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOTEMPTY' || code === 'EEXIST';
}

/** Whether a path below a root consists of real folders. */
async function standingOf(root: string, path: readonly string[]): Promise<'folder' | 'absent' | 'refused'> {
  let folder = root;
  for (const part of path) {
    folder = join(folder, part);
    try {
      if (!(await lstat(folder)).isDirectory()) return 'refused';
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      return 'absent';
    }
  }
  return 'folder';
}
