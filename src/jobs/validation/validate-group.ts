import { quoted } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import type { TaskGroup } from '../document/task-group.js';
import { type Report, within } from './problems.js';
import { validateNetworks } from './validate-network.js';
import { validateAffinities, validateConstraints, validateSpreads } from './validate-placement.js';
import {
  validateDisconnect,
  validateGroupScaling,
  validateMigrate,
  validateReschedule,
  validateRestart,
  validateUpdate,
} from './validate-policies.js';
import { validateGroupServices } from './validate-services.js';
import { validateGroupStart } from './validate-start.js';
import { hasNoDisk, validateLifecycles, validateTask } from './validate-task.js';
import { validateVolume } from './validate-task-parts.js';

export function validateGroup(group: TaskGroup, job: Job, report: Report): void {
  const jobType = job.Type;
  if (group.Count < 0) report('the count must not be negative');
  if (group.Tasks.length === 0) report('at least one task is required');
  validateRunDuration(group, jobType, report);
  validatePlacement(group, jobType, report);
  validatePolicies(group, jobType, report);
  if (group.EphemeralDisk.SizeMB < 10 && !hasNoDisk(group)) report('the ephemeral disk must have at least 10 MB');
  validateTaskNames(group, report);
  for (const [name, volume] of Object.entries(group.Volumes ?? {})) {
    validateVolume(volume, group, jobType, within(report, 'volume', name));
  }
  validateNetworks(group, report);
  validateGroupServices(group, report);
  validateGroupStart(group, report);
  validateTasks(group, job, report);
}

function validateRunDuration(group: TaskGroup, jobType: string, report: Report): void {
  if (group.MaxRunDuration === null) return;
  if (group.MaxRunDuration <= 0) report('max_run_duration must be longer than 0');
  if (jobType === 'service' || jobType === 'system') report(`a ${jobType} job cannot have max_run_duration`);
}

function validatePlacement(group: TaskGroup, jobType: string, report: Report): void {
  const at = (location: string): Report => within(report, location);
  validateConstraints(group.Constraints, 'group', at);
  if (jobType === 'system') {
    if (group.Affinities !== null) report('a system job cannot have affinities');
    if (group.Spreads !== null) report('a system job cannot have spreads');
    return;
  }
  validateAffinities(group.Affinities, at);
  validateSpreads(group.Spreads, at);
}

function validatePolicies(group: TaskGroup, jobType: string, report: Report): void {
  validateRestart(group.RestartPolicy, within(report, 'restart'));
  const { ReschedulePolicy, Update, Migrate, Disconnect, Scaling } = group;
  if (ReschedulePolicy !== null) validateReschedule(ReschedulePolicy, jobType, within(report, 'reschedule'));
  if (Update !== null) validateUpdate(Update, jobType, within(report, 'update'));
  if (Migrate !== null) validateMigrate(Migrate, jobType, within(report, 'migrate'));
  if (Disconnect !== null) validateDisconnect(Disconnect, jobType, within(report, 'disconnect'));
  if (Scaling !== null) validateGroupScaling(Scaling, group.Count, within(report, 'scaling'));
}

function validateTaskNames(group: TaskGroup, report: Report): void {
  const names = new Set<string>();
  for (const [index, { Name }] of group.Tasks.entries()) {
    if (Name === '') report(`task ${index + 1} has no name`);
    else if (names.has(Name)) report(`task ${quoted(Name)}: the name is used twice`);
    names.add(Name);
  }
  if (group.Tasks.filter((task) => task.Leader).length > 1) report('only one task may be the leader');
}

function validateTasks(group: TaskGroup, job: Job, report: Report): void {
  for (const [index, task] of group.Tasks.entries()) {
    const at = task.Name === '' ? within(report, `task ${index + 1}`) : within(report, 'task', task.Name);
    validateTask(task, group, job, at);
  }
  validateLifecycles(group, job, report);
}
