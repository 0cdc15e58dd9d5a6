import { constants, type Dirent } from 'node:fs';
import { chmod, lchown, lstat, mkdir, open, readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.js';

export interface CopyLimits {
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
export async function copyFolder(from: string, to: string, limits: CopyLimits, signal: AbortSignal): Promise<number> {
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
