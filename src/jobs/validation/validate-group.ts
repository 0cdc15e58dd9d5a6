import type { TaskGroup, VolumeRequest } from '../document/task-group.js';
import { quoted, type Report, within } from './problem-texts.js';
import { noPorts, validateNetworks } from './validate-network.js';
import { type PatternChecks, validateAffinities, validateConstraints, validateSpreads } from './validate-placement.js';
import {
  validateDisconnect,
  validateGroupScaling,
  validateMigrate,
  validateReschedule,
  validateRestart,
  validateUpdate,
} from './validate-policies.js';
import { validateService, validateServicesTogether } from './validate-service.js';
import { validateTask } from './validate-task.js';

export function validateGroup(group: TaskGroup, jobType: string, checks: PatternChecks, report: Report): void {
  if (group.Name === '') report('a name is needed');
  else if (group.Name.includes('\0')) report('the name must not contain NUL');
  if (group.Count < 0) report('the count must not be negative');
  if (jobType === 'system' && group.Count > 1) report('a system job runs at most 1 of each group on a node');
  if (group.ShutdownDelay !== null && group.ShutdownDelay < 0) report('shutdown_delay must not be negative');
  validateRunDuration(group, jobType, report);
  validateGroupPolicies(group, jobType, report);
  validateConstraints(group.Constraints, 'group', checks, report);
  if (jobType === 'system') {
    if (group.Affinities !== null) report('a system job takes no affinities');
    if (group.Spreads !== null) report('a system job takes no spreads');
  } else {
    validateAffinities(group.Affinities, checks, report);
    validateSpreads(group.Spreads, report);
  }
  if (group.EphemeralDisk.SizeMB < 10) report('the ephemeral disk must have at least 10 MB');
  for (const [name, volume] of Object.entries(group.Volumes ?? {})) {
    validateVolume(volume, group, within(report, 'volume', name));
  }
  const ports = noPorts();
  validateNetworks(group.Networks, ports, report);
  for (const service of group.Services ?? []) {
    validateService(service, false, within(report, 'service', service.Name));
  }
  validateServicesTogether(group, report);
  validateTasks(group, jobType, checks, report);
}

function validateRunDuration(group: TaskGroup, jobType: string, report: Report): void {
  if (group.MaxRunDuration === null) return;
  if (group.MaxRunDuration <= 0) report('max_run_duration must be longer than 0');
  if (jobType === 'service' || jobType === 'system') report(`a ${jobType} job takes no max_run_duration`);
}

function validateGroupPolicies(group: TaskGroup, jobType: string, report: Report): void {
  validateRestart(group.RestartPolicy, within(report, 'restart'));
  if (group.ReschedulePolicy !== null)
    validateReschedule(group.ReschedulePolicy, jobType, within(report, 'reschedule'));
  if (group.Update !== null) validateUpdate(group.Update, jobType, within(report, 'update'));
  if (group.Migrate !== null) validateMigrate(group.Migrate, jobType, within(report, 'migrate'));
  if (group.Disconnect !== null) validateDisconnect(group.Disconnect, jobType, within(report, 'disconnect'));
  if (group.Scaling !== null) validateGroupScaling(group.Scaling, group.Count, within(report, 'scaling'));
  if (group.Consul !== null && group.Consul.Cluster !== '' && group.Consul.Cluster !== 'default') {
    report('only the Consul cluster "default" is available in this edition');
  }
}

const accessModes = [
  'single-node-reader-only',
  'single-node-writer',
  'single-node-single-writer',
  'single-node-multi-writer',
  'multi-node-reader-only',
  'multi-node-single-writer',
  'multi-node-multi-writer',
];
const attachmentModes = ['file-system', 'block-device'];

function validateVolume(volume: VolumeRequest, group: TaskGroup, report: Report): void {
  if (volume.Source === '') report('a source is needed');
  if (volume.AccessMode !== '' && !accessModes.includes(volume.AccessMode)) {
    report(`access_mode must be one of ${accessModes.join(', ')}, not ${quoted(volume.AccessMode)}`);
  }
  if (volume.AttachmentMode !== '' && !attachmentModes.includes(volume.AttachmentMode)) {
    report(`attachment_mode must be file-system or block-device, not ${quoted(volume.AttachmentMode)}`);
  }
  if (volume.Type === 'csi') {
    if (volume.AccessMode === '') report('a csi volume needs an access_mode');
    if (volume.AttachmentMode === '') report('a csi volume needs an attachment_mode');
  } else if (volume.MountOptions !== null) {
    report('mount_options are for csi volumes');
  }
  if (volume.PerAlloc && (group.Update?.Canary ?? 0) > 0) report('per_alloc cannot be used with canaries');
  if (volume.PerAlloc && volume.Sticky) report('per_alloc and sticky exclude each other');
}

function validateTasks(group: TaskGroup, jobType: string, checks: PatternChecks, report: Report): void {
  if (group.Tasks.length === 0) {
    report('at least one task is needed');
    return;
  }
  const names = new Set<string>();
  const ports = noPorts();
  let leaders = 0;
  for (const [index, task] of group.Tasks.entries()) {
    const at = within(report, task.Name === '' ? `task ${index + 1}` : `task ${quoted(task.Name)}`);
    if (task.Name !== '' && names.has(task.Name)) at('the name is used twice');
    names.add(task.Name);
    if (task.Leader) leaders++;
    validateTask(task, group, jobType, checks, ports, at);
  }
  if (leaders > 1) report('only one task may be the leader');
  if (group.Tasks.every((task) => task.Lifecycle !== null)) report('at least one task must have no lifecycle block');
}
