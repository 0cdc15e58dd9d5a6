import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a folder with all that is in it, also when a task has taken the right to do so away from its own folders: to anybody but root the
 * right to a folder matters. Nothing else may work in it. What is not there is removed already.
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

/** Gives this process all rights to a folder and those below it. Links are left as they are. */
async function allow(folder: string): Promise<void> {
  const { mode } = await lstat(folder);
  await chmod(folder, (mode & 0o777) | 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await allow(join(folder, entry.name));
  }
}

function isForbidden(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}
