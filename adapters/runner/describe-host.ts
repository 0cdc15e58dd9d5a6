import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, hostname, type as osType, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { isoFromInstant, type NodeDescription } from '../../src/index.js';
import type { TaskDriver } from './task-driver.js';

/** What the host offers, where the operator says otherwise than it looks. */
export interface HostOptions {
  readonly name?: string;
  readonly datacenter?: string;
  readonly nodePool?: string;
  readonly nodeClass?: string;
  readonly meta?: Readonly<Record<string, string>>;
  /** MHz, MiB and MiB that allocations may use. */
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
}

/** A processor without a known clock counts as this many MHz. */
const assumedMegahertz = 1000;

/** Describes this host as a node. */
export function describeHost(
  id: string,
  options: HostOptions,
  drivers: Iterable<TaskDriver>,
  directory: string | null,
  now: number,
): NodeDescription {
  const name = options.name ?? hostname();
  const cores = availableParallelism();
  const megahertz = cpus()[0]?.speed || assumedMegahertz;
  const names = [...drivers].map((driver) => driver.name);
  return {
    ID: id,
    Name: name,
    Datacenter: options.datacenter ?? 'dc1',
    NodePool: options.nodePool ?? 'default',
    NodeClass: options.nodeClass ?? '',
    HTTPAddr: '',
    Attributes: {
      'cpu.arch': arch(),
      'cpu.numcores': String(cores),
      'cpu.frequency': String(megahertz),
      'cpu.totalcompute': String(cores * megahertz),
      'kernel.name': osType().toLowerCase(),
      'kernel.version': release(),
      'memory.totalbytes': String(totalmem()),
      'unique.hostname': hostname(),
      ...Object.fromEntries(names.map((driver) => [`driver.${driver}`, '1'])),
    },
    Meta: options.meta ?? null,
    NodeResources: {
      Cpu: { CpuShares: options.cpu ?? cores * megahertz, TotalCpuCores: cores, ReservableCpuCores: null },
      Memory: { MemoryMB: options.memory ?? Math.floor(totalmem() / 1024 / 1024) },
      Disk: { DiskMB: options.disk ?? freeDiskMegabytes(directory) },
    },
    ReservedResources: { Cpu: { CpuShares: 0 }, Memory: { MemoryMB: 0 }, Disk: { DiskMB: 0 } },
    Drivers: Object.fromEntries(
      names.map((driver) => [
        driver,
        {
          Attributes: null,
          Detected: true,
          Healthy: true,
          HealthDescription: 'Healthy',
          UpdateTime: isoFromInstant(now),
        },
      ]),
    ),
    SchedulingEligibility: 'eligible',
  };
}

/** The node's identity, the same at every start from the same directory. */
export function persistentNodeId(directory: string, make: () => string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'node-id');
  if (existsSync(file)) {
    const known = readFileSync(file, 'utf8').trim();
    if (/^[0-9a-f-]{36}$/.test(known)) return known;
  }
  const id = make();
  writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}

/** Half a terabyte where there is no directory to measure: functions in a test need no disk. */
function freeDiskMegabytes(directory: string | null): number {
  if (directory === null) return 512 * 1024;
  const { bavail, bsize } = statfsSync(directory);
  return Math.floor((bavail * bsize) / 1024 / 1024);
}
