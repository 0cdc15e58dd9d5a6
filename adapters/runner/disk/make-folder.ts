import { mkdir } from 'node:fs/promises';
import { lackOf } from './transient-fault.js';

/**
 * Makes a folder and those above it. Where the system has no room, Node answers `ENOENT` instead of `ENOSPC` to an
 * asynchronous request for several folders; it can mean nothing else here, because missing folders are made.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw lackOf(`The folder ${path} could not be made: no room`);
  }
}
