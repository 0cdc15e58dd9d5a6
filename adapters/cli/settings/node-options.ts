import type { HostOptions, RunnerOptions } from '../../runner/index.js';
import { hostVolumesFrom } from '../host-volumes.js';

/** The node options that come from settings. */
export type NodeOptions = HostOptions &
  Pick<RunnerOptions, 'nodeId' | 'keepFinished' | 'keepFailedFor' | 'keepFailedRuns'>;

type Read = <T>(key: string) => T;

/** `read` returns the effective value. */
export function nodeOptionsFrom(read: Read): NodeOptions {
  const meta = read<readonly string[]>('node.meta').map((text): readonly [string, string] => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const reserved = { cpu: read<number>('node.reserved.cpu'), memory: read<number>('node.reserved.memory') };
  return {
    ...given('nodeId', read<string | undefined>('node.id')),
    ...given('name', read<string | undefined>('node.name')),
    nodePool: read('node.pool'),
    datacenter: read('node.datacenter'),
    ...given('nodeClass', read<string | undefined>('node.class')),
    ...(meta.length === 0 ? {} : { meta: Object.fromEntries(meta) }),
    ...given('cpu', read<number | undefined>('node.cpu')),
    ...given('memory', read<number | undefined>('node.memory')),
    ...given('disk', read<number | undefined>('node.disk')),
    keepFinished: read('node.keepFinished'),
    keepFailedFor: read('node.keepFailedFor'),
    keepFailedRuns: read('node.keepFailedRuns'),
    volumes: hostVolumesFrom(read('volumes')),
    reserved: { ...reserved, disk: read<number>('node.reserved.disk') },
  };
}

function given<K extends string, T>(name: K, value: T | undefined): { readonly [N in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [N in K]?: T });
}
