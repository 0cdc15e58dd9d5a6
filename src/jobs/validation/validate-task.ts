import type { Resources } from '../document/resources.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import type { LogConfig } from '../document/task-parts.js';
import { type Report, within } from './problem-texts.js';
import { validateIdentities } from './validate-identity.js';
import { type PortUse, validateNetworks } from './validate-network.js';
import { type PatternChecks, validateAffinities, validateConstraints } from './validate-placement.js';
import { validateRestart, validateTaskScaling } from './validate-policies.js';
import { validateService } from './validate-service.js';
import {
  pathEscapes,
  validateActions,
  validateArtifact,
  validateCsiPlugin,
  validateLifecycle,
  validateSecrets,
  validateTemplates,
  validateVault,
  validateVolumeMounts,
} from './validate-task-parts.js';

export function validateTask(
  task: Task,
  group: TaskGroup,
  jobType: string,
  checks: PatternChecks,
  ports: PortUse,
  report: Report,
): void {
  validateTaskName(task.Name, report);
  if (task.Driver === '') report('a driver is needed');
  validateTimes(task, group, jobType, report);
  validateResources(task.Resources, checks, within(report, 'resources'));
  validateNetworks(task.Resources.Networks, ports, report);
  validateLogs(task.LogConfig, group.EphemeralDisk.SizeMB, within(report, 'logs'));
  if (!isSameRestart(task, group)) validateRestart(task.RestartPolicy, within(report, 'restart'));
  validateConstraints(task.Constraints, 'task', checks, report);
  if (jobType === 'system' && task.Affinities !== null) report('a system job takes no affinities');
  else validateAffinities(task.Affinities, checks, report);
  task.Artifacts?.forEach((artifact, index) => {
    validateArtifact(artifact, within(report, `artifact ${index + 1}`));
  });
  validateTemplates(task.Templates, report);
  validateActions(task.Actions, report);
  if (task.DispatchPayload !== null && pathEscapes('task/local', task.DispatchPayload.File)) {
    report('the file of dispatch_payload leaves the allocation');
  }
  if (task.Lifecycle !== null) validateLifecycle(task.Lifecycle, report);
  validateVolumeMounts(task.VolumeMounts, group.Volumes, report);
  if (task.CSIPluginConfig !== null) validateCsiPlugin(task.CSIPluginConfig, within(report, 'csi_plugin'));
  if (task.Vault !== null) validateVault(task.Vault, within(report, 'vault'));
  validateIdentities(task, report);
  validateSecrets(task, report);
  for (const service of task.Services ?? []) {
    validateService(service, true, within(report, 'service', service.Name));
  }
  task.ScalingPolicies?.forEach((policy) => {
    validateTaskScaling(policy, within(report, 'scaling'));
  });
  if (task.Schedule !== null) report('schedule is not available in this edition');
  const partition = task.Consul?.Partition ?? '';
  const ofGroup = group.Consul?.Partition ?? '';
  if (partition !== '' && ofGroup !== '' && partition !== ofGroup) {
    report("the Consul partition differs from the group's");
  }
}

function validateTaskName(name: string, report: Report): void {
  if (name === '') report('a name is needed');
  // The shared directory of an allocation has this name.
  else if (name === 'alloc') report('the name "alloc" is taken');
  else if (/[/\\\0]/.test(name)) report('the name must not contain a slash, a backslash or NUL');
}

function validateTimes(task: Task, group: TaskGroup, jobType: string, report: Report): void {
  if (task.KillTimeout < 0) report('kill_timeout must not be negative');
  const deadline = jobType === 'service' ? (group.Update?.ProgressDeadline ?? 0) : 0;
  if (deadline > 0 && task.KillTimeout > deadline) report("kill_timeout must not exceed the group's progress_deadline");
  if (task.ShutdownDelay < 0) report('shutdown_delay must not be negative');
}

function validateResources(resources: Resources, checks: PatternChecks, report: Report): void {
  if (resources.Cores < 0) report('cores must not be negative');
  if (resources.Cores > 0 && resources.CPU > 0) report('cpu and cores exclude each other');
  if (resources.Cores <= 0 && resources.CPU < 1) report(`cpu must be at least 1 MHz, not ${resources.CPU}`);
  if (resources.MemoryMB < 10) report(`memory must be at least 10 MB, not ${resources.MemoryMB}`);
  if (resources.MemoryMaxMB !== 0 && resources.MemoryMaxMB !== -1 && resources.MemoryMaxMB < resources.MemoryMB) {
    report(`memory_max (${resources.MemoryMaxMB}) must not be below memory (${resources.MemoryMB})`);
  }
  if (resources.SecretsMB < 0) report('secrets must not be negative');
  if (resources.SecretsMB > resources.MemoryMB) report('secrets must not exceed memory');
  if (resources.NUMA !== null && resources.NUMA.Affinity !== '' && resources.NUMA.Affinity !== 'none') {
    report('numa affinity is not available in this edition');
  }
  resources.Devices?.forEach((device, index) => {
    const at = within(report, `device ${index + 1}`);
    if (device.Name === '') at('a name is needed');
    if (device.Count < 1) at('the count must be at least 1');
    validateConstraints(device.Constraints, 'device', checks, at);
    validateAffinities(device.Affinities, checks, at);
  });
}

function validateLogs(logs: LogConfig, diskMb: number, report: Report): void {
  if (logs.Disabled) return;
  if (logs.MaxFiles < 1) report('max_files must be at least 1');
  if (logs.MaxFileSizeMB < 1) report('max_file_size must be at least 1 MB');
  const needed = logs.MaxFiles * logs.MaxFileSizeMB;
  if (needed >= diskMb) report(`the files may take ${needed} MB, which must be less than the disk of ${diskMb} MB`);
}

function isSameRestart(task: Task, group: TaskGroup): boolean {
  const own = task.RestartPolicy;
  const theirs = group.RestartPolicy;
  return (
    own.Mode === theirs.Mode &&
    own.Attempts === theirs.Attempts &&
    own.Interval === theirs.Interval &&
    own.Delay === theirs.Delay
  );
}
