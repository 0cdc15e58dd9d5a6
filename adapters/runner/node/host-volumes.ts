import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { messageOf } from '../disk/text-file.js';
import type { HostVolume } from './describe-host.js';

/** A host volume cannot be offered as its options require. */
export interface VolumeUnusable {
  readonly type: 'volume_unusable';
  readonly name: string;
  readonly message: string;
}

/** The fault of the first invalid volume. Checked once, when the runner starts. */
export function volumeFault(volumes: Readonly<Record<string, HostVolume>>): VolumeUnusable | undefined {
  for (const [name, volume] of Object.entries(volumes)) {
    const problem = problemOf(name, volume);
    if (problem !== undefined) {
      return {
        type: 'volume_unusable',
        name,
        message: `The volume ${JSON.stringify(name)} is invalid: ${problem}`,
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
    ? 'it is declared read-only, but this process can write to it: mount the folder read-only or remove the write permission'
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
