import { lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * `absent`: there is nothing at the source. `kept`: the target has data of its own, which stays. `refused`: the source is a link or a
 * file, or lies behind one, so that its data may be anywhere.
 */
export type Moved = 'moved' | 'absent' | 'kept' | 'refused';

/**
 * Moves a folder to the same path below another root, in one step. The target is missing or an empty folder, and the folders above it
 * exist. Nothing is followed out of the roots: what is moved is the folder itself, with the links in it as they are.
 */
export async function moveFolder(from: string, to: string, path: readonly string[]): Promise<Moved> {
  const source = await standingOf(from, path);
  if (source !== 'folder') return source;
  if ((await standingOf(to, path)) === 'refused') return 'refused';
  try {
    await rename(join(from, ...path), join(to, ...path));
    return 'moved';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return 'kept';
    throw error;
  }
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
