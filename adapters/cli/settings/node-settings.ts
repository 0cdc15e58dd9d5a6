import { nodeName, nodePoolName, recordId } from '../../../src/options/node-kinds.js';
import { durationKind, listKind, numberKind, textKind, textOf } from './kind.js';
import type { Setting } from './setting.js';

const nodeText = textOf(nodeName);
const pair = textKind('takes KEY=VALUE', (text) => (/^[^=\0]{1,255}=[^\0]{0,4096}$/.test(text) ? text : undefined));
const amount = numberKind(0, 1_000_000_000);

/** The node of this host: for the runner of a server, and for an agent. */
export const nodeSettings: readonly Setting[] = [
  { key: 'node.id', kind: textOf(recordId), summary: 'ID of the node; made at the first start, and kept, when absent' },
  { key: 'node.name', kind: nodeText, summary: 'name of the node; that of the host when absent' },
  { key: 'node.pool', kind: textOf(nodePoolName), default: 'default', summary: 'node pool' },
  { key: 'node.datacenter', kind: nodeText, default: 'dc1', summary: 'datacenter of the node' },
  { key: 'node.class', kind: nodeText, summary: 'class of the node, which jobs may ask for' },
  { key: 'node.meta', kind: listKind(pair), default: [], summary: 'words about the node, which jobs may ask for' },
  { key: 'node.cpu', kind: amount, summary: 'MHz of the node; all cores when absent' },
  { key: 'node.memory', kind: amount, summary: 'MiB of memory of the node; that of the host when absent' },
  { key: 'node.disk', kind: amount, summary: 'MiB of disk of the node; what is free when absent' },
  { key: 'node.reserved.cpu', kind: amount, default: 0, summary: 'MHz that jobs do not get' },
  { key: 'node.reserved.memory', kind: amount, default: 0, summary: 'MiB of memory that jobs do not get' },
  { key: 'node.reserved.disk', kind: amount, default: 0, summary: 'MiB of disk that jobs do not get' },
  {
    key: 'node.keepFinished',
    kind: amount,
    default: 50,
    summary: 'newest ended allocations whose files and logs are kept',
  },
  {
    key: 'node.keepFailedFor',
    kind: durationKind(),
    default: 86_400_000,
    summary: 'how long files and logs of allocations that failed are kept besides',
  },
  {
    key: 'node.keepFailedRuns',
    kind: amount,
    default: 200,
    summary: 'later runs of the same job after which those of one that failed may go earlier',
  },
];
