import { quoted } from '../../shared/values.js';
import { numaBlock, type RequestedDevice, type Resources } from '../document/resources.js';
import type { LogConfig } from '../document/task-parts.js';
import { choiceProblem, type Report, reportIf, within } from './problems.js';
import { validateAffinities, validateConstraints } from './validate-placement.js';

/** `isFree`: of a function, which may ask for nothing. */
export function validateResources(resources: Resources, isFree: boolean, report: Report): void {
  validateSizes(resources, isFree, report);
  for (const [index, device] of (resources.Devices ?? []).entries()) {
    validateDevice(device, within(report, `device ${index + 1}`));
  }
  validateNuma(resources, report);
}

function validateSizes(resources: Resources, isFree: boolean, report: Report): void {
  const { CPU, Cores, MemoryMB, MemoryMaxMB, SecretsMB } = resources;
  const isEnough = (amount: number, least: number): boolean => amount >= least || (isFree && amount === 0);
  if (Cores > 0 && CPU > 0) report('cpu and cores cannot be combined');
  if (Cores < 0) report('cores must not be negative');
  else if (Cores === 0 && !isEnough(CPU, 1)) report(`cpu must be at least 1 MHz, not ${CPU}`);
  if (!isEnough(MemoryMB, 10)) report(`memory must be at least 10 MB, not ${MemoryMB}`);
  if (MemoryMaxMB !== 0 && MemoryMaxMB !== -1 && MemoryMaxMB < MemoryMB) {
    report(`memory_max (${MemoryMaxMB}) must not be below memory (${MemoryMB})`);
  }
  if (SecretsMB > MemoryMB) report(`secrets (${SecretsMB}) must not exceed memory (${MemoryMB})`);
  if (SecretsMB < 0) report('secrets must not be negative');
}

function validateDevice(device: RequestedDevice, report: Report): void {
  const at = (location: string): Report => within(report, location);
  if (device.Name === '') report('a name is required: a type, vendor/type or vendor/type/name');
  validateConstraints(device.Constraints, 'device', at);
  validateAffinities(device.Affinities, at);
}

function validateNuma({ NUMA, Devices }: Resources, report: Report): void {
  if (NUMA === null) return;
  if (NUMA.Affinity !== '')
    reportIf(report, choiceProblem('numa: the affinity', numaBlock.fields.Affinity, NUMA.Affinity));
  for (const name of NUMA.Devices ?? []) {
    if (Devices?.some((device) => device.Name === name) !== true)
      report(`numa: the task asks for no device ${quoted(name)}`);
  }
}

/** `diskMb`: undefined for a group that asks for no disk, of which the logs are no part. */
export function validateLogs(logs: LogConfig, diskMb: number | undefined, report: Report): void {
  if (logs.Disabled) return;
  if (logs.MaxFiles < 1) report('max_files must be at least 1');
  if (logs.MaxFileSizeMB < 1) report('max_file_size must be at least 1 MB');
  const needed = logs.MaxFiles * logs.MaxFileSizeMB;
  if (diskMb !== undefined && needed >= diskMb)
    report(`the files may take ${needed} MB, which must be less than the disk of ${diskMb} MB`);
}
