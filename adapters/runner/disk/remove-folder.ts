import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}
