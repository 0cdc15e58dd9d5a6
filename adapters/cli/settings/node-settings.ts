import { nodeName, nodePoolName, recordId } from '../../../src/options/option-kinds.js';
import type { HostOptions, RunnerOptions } from '../../runner/index.js';
import { optional } from '../commands/option-values.js';
import { hostVolumesFrom } from '../host-volumes.js';
import { durationKind, folderKind, listKind, numberKind, textKind, textOf } from './kind.js';
import type { Setting } from './setting.js';

const nodeText = textOf(nodeName);
const pair = textKind('takes KEY=VALUE', (text) => (/^[^=\0]{1,255}=[^\0]{0,4096}$/.test(text) ? text : undefined));
const amount = numberKind(0, 1_000_000_000);

/** The settings of this host's node, for the runner of a server and for an agent. */
export const nodeSettings: readonly Setting[] = [
  {
    key: 'node.id',
    kind: textOf(recordId),
    summary: 'ID of the node; generated at the first start and kept when absent',
  },
  {
    key: 'node.directory',
    kind: folderKind,
    summary:
      'folder of the files, logs and processes of tasks; when absent, PATH-allocations beside a store sqlite:PATH, signalbox-allocations in the working folder for a store in PostgreSQL, and a temporary folder for a store in memory',
  },
  { key: 'node.name', kind: nodeText, summary: 'name of the node; the host name when absent' },
  { key: 'node.pool', kind: textOf(nodePoolName), default: 'default', summary: 'node pool' },
  { key: 'node.datacenter', kind: nodeText, default: 'dc1', summary: 'datacenter of the node' },
  { key: 'node.class', kind: nodeText, summary: 'class of the node, for constraints of jobs' },
  { key: 'node.meta', kind: listKind(pair), default: [], summary: 'metadata of the node, for constraints of jobs' },
  { key: 'node.cpu', kind: amount, summary: 'CPU capacity of the node in MHz; all cores when absent' },
  { key: 'node.memory', kind: amount, summary: "memory of the node in MiB; the host's when absent" },
  { key: 'node.disk', kind: amount, summary: 'disk of the node in MiB; the free space when absent' },
  { key: 'node.reserved.cpu', kind: amount, default: 0, summary: 'MHz reserved for other programs' },
  { key: 'node.reserved.memory', kind: amount, default: 0, summary: 'MiB of memory reserved for other programs' },
  { key: 'node.reserved.disk', kind: amount, default: 0, summary: 'MiB of disk reserved for other programs' },
  {
    key: 'node.keepFinished',
    kind: amount,
    default: 50,
    summary: 'number of ended allocations whose files and logs are kept, newest first',
  },
  {
    key: 'node.keepFailedFor',
    kind: durationKind(),
    default: 86_400_000,
    summary: 'how long files and logs of failed allocations are kept in addition',
  },
  {
    key: 'node.keepFailedRuns',
    kind: amount,
    default: 200,
    summary: 'files and logs of a failed allocation may be removed earlier after this many later runs of its job',
  },
];

/** The node options that come from settings. */
export type NodeOptions = HostOptions &
  Pick<RunnerOptions, 'nodeId' | 'keepFinished' | 'keepFailedFor' | 'keepFailedRuns'>;

/** `read` returns the effective value. */
export function nodeOptionsFrom(read: <T>(key: string) => T): NodeOptions {
  const meta = read<readonly string[]>('node.meta').map((text): readonly [string, string] => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const reserved = { cpu: read<number>('node.reserved.cpu'), memory: read<number>('node.reserved.memory') };
  return {
    ...optional('nodeId', read<string | undefined>('node.id')),
    ...optional('name', read<string | undefined>('node.name')),
    nodePool: read('node.pool'),
    datacenter: read('node.datacenter'),
    ...optional('nodeClass', read<string | undefined>('node.class')),
    ...(meta.length === 0 ? {} : { meta: Object.fromEntries(meta) }),
    ...optional('cpu', read<number | undefined>('node.cpu')),
    ...optional('memory', read<number | undefined>('node.memory')),
    ...optional('disk', read<number | undefined>('node.disk')),
    keepFinished: read('node.keepFinished'),
    keepFailedFor: read('node.keepFailedFor'),
    keepFailedRuns: read('node.keepFailedRuns'),
    volumes: hostVolumesFrom(read('volumes')),
    reserved: { ...reserved, disk: read<number>('node.reserved.disk') },
  };
}
