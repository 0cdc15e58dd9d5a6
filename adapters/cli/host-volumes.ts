import { isAbsolute } from 'node:path';
import type { HostVolume } from '../runner/index.js';

/** Notation of a host volume: `NAME=/absolute/path`, followed by `:ro` if it is read-only. */
export function hostVolumeFrom(text: string): readonly [string, HostVolume] | undefined {
  const [, name = '', path = '', readOnly] = /^([A-Za-z0-9][^=]*)=(.*?)(:ro)?$/s.exec(text) ?? [];
  if (name === '' || !isAbsolute(path) || path.includes('\0')) return undefined;
  return [name, readOnly === undefined ? { path } : { path, readOnly: true }];
}

/** The volumes of a node. Leaves out invalid strings, which the option's parser has already refused. */
export function hostVolumesFrom(texts: readonly string[]): Readonly<Record<string, HostVolume>> {
  const volumes: Record<string, HostVolume> = {};
  for (const text of texts) {
    const [name, volume] = hostVolumeFrom(text) ?? [];
    if (name !== undefined && volume !== undefined) volumes[name] = volume;
  }
  return volumes;
}
