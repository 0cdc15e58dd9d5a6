import type { AllocationUse } from '../../../src/scheduler/cluster/capacity.js';
import { ClusterNode } from '../../../src/scheduler/cluster/cluster.js';
import { requirementsOf } from '../../../src/scheduler/feasibility/requirements.js';
import type { Node } from '../../../src/scheduler/node.js';
import { findVictims } from '../../../src/scheduler/preemption/find-victims.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

type Use = Partial<Omit<AllocationUse, 'devices' | 'ports'>> & {
  /** Instances of the device `a`, or of the one named before a colon. */
  readonly gpus?: string;
  readonly ports?: readonly (number | readonly [string, number])[];
};

/** Of another job with priority 20; 100 MHz, 100 MB and 10 MB of disk unless it says otherwise. */
export function use(id: string, { gpus, ports = [], ...more }: Use = {}): AllocationUse {
  const [name = 'a', ids] = gpus?.includes(':') === true ? gpus.split(':') : ['a', gpus];
  return {
    id,
    namespace: 'default',
    jobId: 'other',
    group: 'app',
    priority: 20,
    parallel: 0,
    cpu: 100,
    memory: 100,
    disk: 10,
    cores: [],
    ports: ports.map((port) =>
      typeof port === 'number' ? { address: '10.0.0.1', port } : { address: port[0], port: port[1] },
    ),
    devices: ids === undefined ? [] : [{ Vendor: 'acme', Type: 'gpu', Name: name, DeviceIDs: ids.split(',') }],
    ...more,
  };
}

export interface Asks {
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly gpus?: number;
  readonly device?: string;
  readonly ports?: readonly object[];
  readonly priority?: number;
  readonly preempted?: Readonly<Record<string, number>>;
}

export const gpu = (name: string, count: number) => ({
  Vendor: 'acme',
  Type: 'gpu',
  Name: name,
  Instances: Array.from({ length: count }, (_, at) => ({ ID: String(at), Healthy: true })),
  Attributes: null,
});
const addresses = [
  { Alias: 'default', Address: '10.0.0.1' },
  { Alias: 'public', Address: '192.0.2.1' },
  { Alias: 'public', Address: '192.0.2.2' },
];

export function victimsOf(asks: Asks, uses: readonly AllocationUse[], more: Partial<Node['NodeResources']> = {}) {
  const { cpu = 100, memory = 100, disk = 10, gpus = 0, device = 'gpu', ports = [], priority = 80 } = asks;
  const Devices = gpus === 0 ? null : [{ Name: device, Count: gpus }];
  const task = { Resources: { CPU: cpu, MemoryMB: memory, ...(Devices === null ? {} : { Devices }) } };
  const Networks = ports.length === 0 ? null : [{ ReservedPorts: ports }];
  const job = jobFrom({
    Priority: priority,
    TaskGroups: [groupDocument({ EphemeralDisk: { SizeMB: disk }, ...(Networks === null ? {} : { Networks }) }, task)],
  });
  const [group] = job.TaskGroups;
  if (group === undefined) throw new Error('the job has no group');
  const base = nodeFrom('n').NodeResources;
  const NodeNetworks = [{ Mode: 'host', Device: 'eth0', Addresses: addresses }];
  const node = nodeFrom('n', { NodeResources: { ...base, NodeNetworks, ...more } });
  const preemptor = {
    wanted: requirementsOf(job, group, false),
    preemptedLike: ({ group: name }: AllocationUse) => asks.preempted?.[name] ?? 0,
  };
  return findVictims(preemptor, ClusterNode.of(node, { computed: 'c' }, uses))?.victims.map(({ id }) => id);
}
