import type { StoreContents } from '../../src/index.js';
import type { Node } from '../../src/scheduler/index.js';

/** Drivers whose tasks a simulated agent starts: it runs none of them. */
const drivers = ['docker', 'exec', 'function', 'java', 'podman', 'qemu', 'raw_exec'];

/** The nodes of an export that were ready, and so many further ones of 4 cores, 8 GiB of memory and 100 GB of disk. */
export function simulatedNodes(contents: StoreContents | undefined, further: number): readonly Node[] {
  const rows = contents?.tables.find(({ table }) => table.name === 'nodes')?.rows ?? [];
  const present = rows.map(({ record }) => record as Node);
  const taken = new Set(present.map(({ ID }) => ID));
  const all = Array.from({ length: further + present.length }, (_, at) => simulatedNode(at + 1));
  const others = all.filter(({ ID }) => !taken.has(ID)).slice(0, further);
  return [...present.filter(({ Status }) => Status === 'ready'), ...others];
}

function simulatedNode(number: number): Node {
  const healthy = { Attributes: null, Detected: true, Healthy: true, HealthDescription: '', UpdateTime: '' };
  return {
    ID: `5151${String(number).padStart(4, '0')}-0000-4000-8000-000000000000`,
    Name: `simulated-${number}`,
    Datacenter: 'dc1',
    NodePool: 'default',
    NodeClass: '',
    HTTPAddr: '',
    Attributes: {
      ...{ 'kernel.name': 'linux', 'os.name': 'debian', 'cpu.arch': 'amd64' },
      ...Object.fromEntries(drivers.map((driver) => [`driver.${driver}`, '1'])),
    },
    Meta: null,
    NodeResources: {
      Cpu: { CpuShares: 10_000, TotalCpuCores: 4, ReservableCpuCores: null },
      Memory: { MemoryMB: 8192 },
      Disk: { DiskMB: 100_000 },
    },
    ReservedResources: { Cpu: { CpuShares: 0 }, Memory: { MemoryMB: 0 }, Disk: { DiskMB: 0 } },
    Drivers: Object.fromEntries(drivers.map((driver) => [driver, healthy])),
    SchedulingEligibility: 'eligible',
    Status: 'ready',
    StatusDescription: '',
    StatusUpdatedAt: 0,
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}
