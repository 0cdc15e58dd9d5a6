import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { codeOf } from '../../../src/shared/values.js';

/** A file or folder in the task's folder or in the allocation's shared folder. */
export interface TaskTarget {
  /** The task's folder or the allocation's shared folder. */
  readonly root: string;
  /** Names of folders below it, and the last name. */
  readonly parts: readonly string[];
}

/** A path of the job document leads outside the task's folders. */
export class PathRefused extends Error {}

/**
 * Resolves a path of the job document. Paths start in the task's folder, except absolute paths that name a folder of the task.
 * Throws `PathRefused` for a path outside these folders and for the runner's notes.
 */
export function targetOf(paths: TaskPaths, path: string): TaskTarget {
  if (path.includes('\0')) throw new PathRefused('The path contains a NUL character');
  const isOwn = isAbsolute(path) && [paths.root, paths.shared].some((root) => isBelow(root, resolve(path)));
  const target = isOwn ? resolve(path) : resolve(join(paths.root, path));
  const root = isBelow(paths.shared, target) ? paths.shared : paths.root;
  const parts = relative(root, target)
    .split(sep)
    .filter((part) => part !== '');
  if (!isBelow(root, target) || (root === paths.root && parts[0] === 'private')) {
    throw new PathRefused(`${path} is outside the task's directory`);
  }
  return { root, parts };
}

function isBelow(root: string, target: string): boolean {
  return target === root || target.startsWith(root + sep);
}

/** The folder, created if missing. Refuses links and files in its path, as they could lead outside. */
export async function makeFolder({ root, parts }: TaskTarget): Promise<string> {
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    await mkdir(folder, { mode: 0o755 }).catch(unlessThere);
    if (!(await lstat(folder)).isDirectory()) throw new PathRefused(`${folder} is a link or a file, not a directory`);
  }
  return folder;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

interface FileOwner {
  readonly mode: number;
  /** Null: the runner's user. */
  readonly uid: number | null;
  readonly gid: number | null;
}

/** Writes a file atomically. Replaces an existing file or link; links are not followed. */
export async function writeWhole(file: TaskTarget, bytes: string | Uint8Array, owner: FileOwner): Promise<void> {
  const { folder, name } = await folderForFile(file);
  const target = join(folder, name);
  const draft = join(folder, `.${name}.new`);
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await takeOwner(handle, owner);
  } finally {
    await handle.close();
  }
  await refuseFolder(target);
  await rename(draft, target);
}

/** The folder of a file, created if missing, and the file's name. */
export async function folderForFile(file: TaskTarget): Promise<{ readonly folder: string; readonly name: string }> {
  const name = file.parts.at(-1);
  if (name === undefined) throw new PathRefused("The task's directory itself cannot be a file");
  return { folder: await makeFolder({ ...file, parts: file.parts.slice(0, -1) }), name };
}

async function takeOwner(handle: FileHandle, { mode, uid, gid }: FileOwner): Promise<void> {
  const { uid: ownUid, gid: ownGid } = await handle.stat();
  if ((uid ?? ownUid) !== ownUid || (gid ?? ownGid) !== ownGid) {
    try {
      await handle.chown(uid ?? ownUid, gid ?? ownGid);
    } catch (error) {
      if (codeOf(error) !== 'EPERM') throw error;
      throw new PathRefused('Only a runner that runs as root can set uid and gid of a file');
    }
  }
  await handle.chmod(mode);
}

async function refuseFolder(target: string): Promise<void> {
  const there = await lstat(target).catch(() => undefined);
  if (there?.isDirectory() === true) throw new PathRefused(`${target} is a directory`);
}

/** Reads a file of the task, following links within the folder; undefined if it is missing. Throws if it is too long. */
export async function readWhole({ root, parts }: TaskTarget, maximumBytes: number): Promise<string | undefined> {
  const real = await realpath(join(root, ...parts)).catch(() => undefined);
  if (real === undefined) return undefined;
  const realRoot = await realpath(root);
  const below = relative(realRoot, real);
  if (!isBelow(realRoot, real) || below === 'private' || below.startsWith(`private${sep}`)) {
    throw new PathRefused(`${join(...parts)} leads outside the task's directory`);
  }
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new PathRefused(`${join(...parts)} is not a file`);
    if (stat.size > maximumBytes) throw new PathRefused(`${join(...parts)} is longer than ${maximumBytes} bytes`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Absolute paths of a task's directories (job interface, directories and logs). */
export interface TaskPaths {
  /** Shared by the tasks of the allocation; contains `logs`, `tmp` and `data`. */
  readonly shared: string;
  readonly logs: string;
  /** The task's working directory; contains `local`, `secrets` and `tmp`. */
  readonly root: string;
  readonly local: string;
  readonly secrets: string;
  /** The runner's notes, which the task must not change. */
  readonly notes: string;
}

export function taskPaths(allocationRoot: string, task: string): TaskPaths {
  const root = join(allocationRoot, task);
  return {
    shared: join(allocationRoot, 'alloc'),
    logs: join(allocationRoot, 'alloc', 'logs'),
    root,
    local: join(root, 'local'),
    secrets: join(root, 'secrets'),
    notes: join(root, 'private'),
  };
}
