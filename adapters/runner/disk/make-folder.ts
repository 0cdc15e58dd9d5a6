import { mkdir } from 'node:fs/promises';
import { lackOf } from './transient-fault.js';

/**
 * Makes a folder and its parents. On a full disk, Node returns `ENOENT` instead of `ENOSPC` for an
 * asynchronous recursive call; `ENOENT` has no other cause here, because missing folders are made.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw lackOf(`The folder ${path} could not be made: the disk is full`);
  }
}
