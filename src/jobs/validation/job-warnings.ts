import type { WorkloadIdentity } from '../document/identity.js';
import type { Job } from '../document/job.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { quoted, type Report, within } from './problem-texts.js';

/** Things in a valid job that its author should know about (job interface, warnings). */
export function warningsOf(job: Job, allowsMemoryOversubscription: boolean): string[] {
  const warnings: string[] = [];
  const warn: Report = (warning) => {
    warnings.push(warning);
  };
  if (job.Periodic?.Enabled === true && job.Periodic.Spec !== '') {
    warn('periodic: cron is deprecated, use crons');
  }
  const withCanaries = job.TaskGroups.filter((group) => (group.Update?.Canary ?? 0) > 0);
  const promoted = withCanaries.filter((group) => group.Update?.AutoPromote === true);
  if (promoted.length > 0 && promoted.length < withCanaries.length) {
    warn('auto_promote has an effect only when all groups with canaries have it');
  }
  for (const group of job.TaskGroups) {
    warnAboutGroup(group, allowsMemoryOversubscription, within(warn, 'group', group.Name));
  }
  return warnings;
}

/** Keys of a submission that are accepted and have no effect any more. */
export function submissionWarnings(submitted: SubmittedJob): string[] {
  return (submitted.TaskGroups ?? []).flatMap((group) =>
    [
      ['max_client_disconnect', group.MaxClientDisconnect, 'disconnect.lost_after'] as const,
      ['stop_after_client_disconnect', group.StopAfterClientDisconnect, 'disconnect.stop_on_client_after'] as const,
      ['prevent_reschedule_on_lost', group.PreventRescheduleOnLost, 'disconnect.replace'] as const,
    ].flatMap(([name, value, instead]) =>
      value === null ? [] : [`group ${quoted(group.Name)}: ${name} has no effect any more, use ${instead}`],
    ),
  );
}

function warnAboutGroup(group: TaskGroup, allowsMemoryOversubscription: boolean, warn: Report): void {
  if (group.Update !== null && group.Count > 1 && group.Update.MaxParallel > group.Count) {
    warn(`update: max_parallel (${group.Update.MaxParallel}) is above the count (${group.Count})`);
  }
  if (group.Services !== null && group.ShutdownDelay === null) {
    warn('services are deregistered at the moment of the stop; a shutdown_delay gives clients time to notice');
  }
  if (group.Networks?.some((network) => network.MBits !== undefined) === true)
    warn('network: mbits has no effect any more');
  for (const task of group.Tasks) warnAboutTask(task, allowsMemoryOversubscription, within(warn, 'task', task.Name));
}

function warnAboutTask(task: Task, allowsMemoryOversubscription: boolean, warn: Report): void {
  if (task.Services !== null && task.ShutdownDelay === 0) {
    warn('services are deregistered at the moment of the stop; a shutdown_delay gives clients time to notice');
  }
  if (task.Resources.IOPS !== 0) warn('resources: iops has no effect any more');
  if (task.Resources.Networks !== null) warn('resources: networks belong into the group');
  if (task.Resources.Networks?.some((network) => network.MBits !== undefined) === true) {
    warn('network: mbits has no effect any more');
  }
  if (task.Resources.MemoryMaxMB !== 0 && !allowsMemoryOversubscription) {
    warn('resources: memory_max has no effect, because memory oversubscription is off');
  }
  task.Templates?.forEach((template, index) => {
    if (template.ChangeMode !== 'script' && template.ChangeScript !== null) {
      warn(`template ${index + 1}: change_script has an effect only with change_mode script`);
    }
  });
  for (const identity of task.Identities ?? [])
    warnAboutIdentity(identity, task, within(warn, 'identity', identity.Name));
}

function warnAboutIdentity(identity: WorkloadIdentity, task: Task, warn: Report): void {
  const audiences = identity.Audience?.length ?? 0;
  if (audiences === 0) warn('without an audience anyone who accepts the issuer accepts the token');
  if (audiences > 1) warn('several audiences let one recipient use the token at another');
  if (identity.TTL === 0) warn('without a ttl the token never expires');
  if (identity.Env && identity.ChangeMode !== 'restart') {
    warn('env = true needs change_mode restart for the task to see a new token');
  }
  if (identity.Name.startsWith('vault_') && task.Vault === null) warn('has no effect without a vault block');
}
