import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { messageOf } from '../disk/transient-fault.js';
import type { HostVolume } from './describe-host.js';

/** A folder that the node was to offer cannot be offered as its options say. */
export interface VolumeUnusable {
  readonly type: 'volume_unusable';
  readonly name: string;
  readonly message: string;
}

/** The first volume that cannot be what the options say. Considered once, when the runner starts. */
export function volumeFault(volumes: Readonly<Record<string, HostVolume>>): VolumeUnusable | undefined {
  for (const [name, volume] of Object.entries(volumes)) {
    const problem = problemOf(name, volume);
    if (problem !== undefined) {
      return {
        type: 'volume_unusable',
        name,
        message: `The volume ${JSON.stringify(name)} cannot be offered: ${problem}`,
      };
    }
  }
  return undefined;
}

function problemOf(name: string, { path, readOnly = false }: HostVolume): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.[\]-]{0,127}$/.test(name)) return 'its name must be letters, digits, and ._-[]';
  if (!isAbsolute(path) || path.includes('\0')) return 'its path must be absolute';
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a directory`;
  } catch (error) {
    return messageOf(error);
  }
  return readOnly && isWritable(path)
    ? 'it is to be read-only, and this process can write to it: mount the folder read-only, or take the right away'
    : undefined;
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
