import { chmod, lstat, opendir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CopyLimits, copyFolder } from './copy-folder.js';
import { removeFolder } from './remove-folder.js';

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
    const { code } = error as NodeJS.ErrnoException;
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
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
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
