import { chmod, lstat, opendir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CopyLimits, copyFolder } from './copy-folder.js';
import { removeFolder } from './remove-folder.js';

/**
 * `absent`: the source does not exist, or is empty: a takeover that was cut short leaves folders that it had only created. `kept`: the
 * target has separate data, which stays. `refused`: the source is a link or a file, or lies behind one, so that its data may be
 * anywhere.
 */
type MoveResult = 'absent' | 'kept' | 'refused' | Moved;

interface Moved {
  /** Sockets, pipes and devices that a copy left out. */
  readonly omitted: number;
}

/** For folders on another file system, which are copied. */
interface CopyTerms {
  readonly limits: CopyLimits;
  readonly signal: AbortSignal;
}

/**
 * Moves a folder to the same path below another root, in one step. The target is missing or an empty folder, and the folders above it
 * exist. Nothing is followed out of the roots: what is moved is the folder itself, with the links in it as they are.
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
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EXDEV') return await copyOver(source, target, terms);
    if (isTaken(error)) return 'kept';
    throw error;
  }
}

/** One that may not be read may hold something. */
export async function isEmptyFolder(path: string): Promise<boolean> {
  try {
    const folder = await opendir(path);
    const first = await folder.read();
    await folder.close();
    return first === null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return false;
  }
}

/** The copy takes its place when it is complete, and only then the source is removed. */
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
  // What cannot be removed now is removed later, with the folder that it is in.
  await removeFolder(source).catch(() => undefined);
  return { omitted };
}

/** A folder changes its parent only when it can be written, and a task may have made its own read-only. */
async function renameOwn(source: string, target: string): Promise<void> {
  try {
    await rename(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    const { mode } = await lstat(source);
    await chmod(source, mode | 0o200);
    await rename(source, target);
    await chmod(target, mode);
  }
}

function isTaken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
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
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return 'absent';
    }
  }
  return 'folder';
}
