import { join } from 'node:path';
import { carriedFolders, type Takeover } from '../../../src/agent/disk/disk-note.js';
import type { AllocationWork } from '../allocation/allocation-work.js';
import { isEmptyFolder, moveFolder } from './move-folder.js';
import type { TaskMemory } from './task-memory.js';

/** The most files, folders and links to copy if a folder cannot be renamed. */
const mostCopied = 100_000;

/**
 * Moves the data of the sources into the folder of an allocation, each folder from the newest source in which it is not empty. May be
 * repeated after an interruption. `sources`: folders of allocations, the newest first.
 */
export async function carryFolders(
  memory: TaskMemory,
  { allocation, group }: AllocationWork,
  sources: readonly string[],
  signal: AbortSignal,
): Promise<Takeover> {
  const terms = {
    limits: { maximumBytes: group.EphemeralDisk.SizeMB * 1024 ** 2, maximumEntries: mostCopied },
    signal,
  };
  for (const task of group.Tasks) await memory.prepare(allocation.ID, task.Name);
  const target = memory.folder(allocation.ID) ?? '';
  const left: string[] = [];
  let hasData = false;
  for (const path of carriedFolders(group)) {
    for (const source of sources) {
      const moved = await moveFolder(source, target, path, terms);
      if (moved === 'absent') continue;
      if (moved === 'refused') left.push(`${path.join('/')} was not moved, because it is not a folder`);
      else if (moved !== 'kept' && moved.omitted > 0)
        left.push(`${path.join('/')} was copied without sockets, pipes and devices`);
      break;
    }
    hasData ||= !(await isEmptyFolder(join(target, ...path)));
  }
  return { hasData, left };
}
