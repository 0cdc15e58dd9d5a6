import { accessSync, constants as fileConstants, readFileSync, statfsSync, statSync } from 'node:fs';
import { arch, availableParallelism, constants, cpus, hostname, type as osType, release, totalmem } from 'node:os';
import { isAbsolute } from 'node:path';
import type { NodeDescription } from '../../../src/agent/link/node-work.js';
import type { TaskNeed } from '../../../src/jobs/task-needs.js';
import { dynamicPorts } from '../../../src/scheduler/cluster/host-ports.js';
import { needsAttribute } from '../../../src/scheduler/node.js';
import { isoFromInstant } from '../../../src/shared/instant.js';
import { messageOf } from '../disk/text-file.js';
import type { TaskDriver } from '../drivers/task-driver.js';

/** The node's description; each option overrides a detected or default value. */
export interface HostOptions {
  /** Display name of the node; default: the host name. */
  readonly name?: string;
  /** Datacenter of the node, which jobs select; default: `dc1`. */
  readonly datacenter?: string;
  /** Node pool, which jobs select; default: `default`. */
  readonly nodePool?: string;
  /** Class of the node, for constraints; default: none. */
  readonly nodeClass?: string;
  /** Names and values about the node, for constraints (`${meta.rack}`). */
  readonly meta?: Readonly<Record<string, string>>;
  /** CPU of the node in MHz; default: the sum of the host's cores. */
  readonly cpu?: number;
  /** Memory of the node in MiB; default: the host's memory. */
  readonly memory?: number;
  /** Disk of the node in MiB; default: the free space. */
  readonly disk?: number;
  /** The part of these three that is reserved from allocations, in the same units; default: 0. */
  readonly reserved?: { readonly cpu?: number; readonly memory?: number; readonly disk?: number };
  /** Host and port where clients reach the server that speaks for this node; default: none. */
  readonly address?: string;
  /** Folders that allocations may mount, by name. */
  readonly volumes?: Readonly<Record<string, HostVolume>>;
}

/** A folder of the host. Volumes are links: a volume can be read-only only if this process cannot write to the folder. */
export interface HostVolume {
  /** Absolute path. */
  readonly path: string;
  readonly readOnly?: boolean;
}

/** The runner's properties that its node reports. */
interface DescribedRunner {
  readonly id: string;
  readonly drivers: Iterable<TaskDriver>;
  readonly directory: string | null;
  /** Whether it can fetch artifacts. */
  readonly downloads: boolean;
  /** Whether it can unpack them. */
  readonly archives: boolean;
  readonly now: number;
}

/** A processor without a known clock counts as this many MHz. */
export const assumedMegahertz = 1000;

/** The version of the job interface that the node supports: constraints of jobs compare it. */
const interfaceVersion = '2.0.6';

/** Processor architectures by the names that job files use. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Describes this host as a node. */
export function describeHost(options: HostOptions, runner: DescribedRunner): NodeDescription {
  const drivers = [...runner.drivers].map((driver) => driver.name);
  return {
    ID: runner.id,
    Name: options.name ?? hostname(),
    Datacenter: options.datacenter ?? 'dc1',
    NodePool: options.nodePool ?? 'default',
    NodeClass: options.nodeClass ?? '',
    HTTPAddr: options.address ?? '',
    Attributes: attributesOf(runner, drivers),
    Meta: options.meta ?? null,
    ...resourcesOf(options, runner.directory),
    Drivers: Object.fromEntries(drivers.map((driver) => [driver, healthyDriver(runner.now)])),
    HostVolumes: Object.fromEntries(
      Object.entries(options.volumes ?? {}).map(([volume, { path, readOnly = false }]) => [
        volume,
        { Name: volume, Path: path, ReadOnly: readOnly },
      ]),
    ),
    SchedulingEligibility: 'eligible',
  };
}

/** The attributes that constraints can test. */
function attributesOf(runner: DescribedRunner, drivers: readonly string[]): Readonly<Record<string, string>> {
  const { cores, megahertz } = processors();
  return {
    'cpu.arch': architectures[arch()] ?? arch(),
    'cpu.numcores': String(cores),
    'cpu.frequency': String(megahertz),
    'cpu.totalcompute': String(cores * megahertz),
    // Required by implicit constraints of jobs with built-in services or with signals.
    'nomad.service_discovery': 'true',
    'nomad.version': interfaceVersion,
    ...operatingSystem(),
    'os.signals': Object.keys(constants.signals).sort().join(','),
    'kernel.name': osType().toLowerCase(),
    'kernel.version': release(),
    'memory.totalbytes': String(totalmem()),
    'unique.hostname': hostname(),
    [needsAttribute]: provisionOf(runner).join(','),
    ...Object.fromEntries(drivers.map((driver) => [`driver.${driver}`, '1'])),
  };
}

/** The host's resources or those of the options, and the part reserved from allocations. */
function resourcesOf(
  options: HostOptions,
  directory: string | null,
): Pick<NodeDescription, 'NodeResources' | 'ReservedResources'> {
  const { reserved = {} } = options;
  const { cores, megahertz } = processors();
  return {
    NodeResources: {
      Cpu: { CpuShares: options.cpu ?? cores * megahertz, TotalCpuCores: cores, ReservableCpuCores: null },
      Memory: { MemoryMB: options.memory ?? Math.floor(totalmem() / 1024 / 1024) },
      Disk: { DiskMB: options.disk ?? freeDiskMegabytes(directory) },
      MinDynamicPort: dynamicPorts.first,
      MaxDynamicPort: dynamicPorts.last,
    },
    ReservedResources: {
      Cpu: { CpuShares: reserved.cpu ?? 0 },
      Memory: { MemoryMB: reserved.memory ?? 0 },
      Disk: { DiskMB: reserved.disk ?? 0 },
    },
  };
}

/** The number of processors that this process may use, and the clock rate of one. */
export function processors(): { readonly cores: number; readonly megahertz: number } {
  return { cores: availableParallelism(), megahertz: cpus()[0]?.speed || assumedMegahertz };
}

function healthyDriver(now: number) {
  return {
    Attributes: null,
    Detected: true,
    Healthy: true,
    HealthDescription: 'Healthy',
    UpdateTime: isoFromInstant(now),
  };
}

/** The complete list of the runner's capabilities for tasks. */
function provisionOf({ directory, downloads, archives }: DescribedRunner): TaskNeed[] {
  const provided: TaskNeed[] = ['templates'];
  if (directory !== null) provided.push('template_files', 'volumes');
  if (directory !== null && downloads) provided.push('artifacts', ...(archives ? (['archives'] as const) : []));
  return provided;
}

/** Name and version of the operating system's distribution. */
function operatingSystem(): Readonly<Record<string, string>> {
  const osRelease = readOsRelease();
  const name = osRelease['ID'] ?? osType().toLowerCase();
  return { 'os.name': name, 'os.version': osRelease['VERSION_ID'] ?? release() };
}

/** The file that names the distribution: lines of `NAME=value`, some quoted. */
function readOsRelease(): Readonly<Record<string, string>> {
  try {
    const text = readFileSync('/etc/os-release', 'utf8').slice(0, 4096);
    return Object.fromEntries(
      [...text.matchAll(/^(ID|VERSION_ID)="?([^"\n]*)"?$/gm)].map(([, name, value]) => [name, value]),
    );
  } catch {
    return {};
  }
}

/** Half a terabyte if there is no directory to measure: functions need no disk. */
function freeDiskMegabytes(directory: string | null): number {
  if (directory === null) return 512 * 1024;
  const { bavail, bsize } = statfsSync(directory);
  return Math.floor((bavail * bsize) / 1024 / 1024);
}

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
    accessSync(path, fileConstants.W_OK);
    return true;
  } catch {
    return false;
  }
}
