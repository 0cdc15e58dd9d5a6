import type { Instant } from '../../shared/instant.js';
import { quoted } from '../../shared/values.js';
import { hasSidecar } from '../admission/service-mesh.js';
import type { WorkloadIdentity } from '../document/identity.js';
import type { Job } from '../document/job.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { unknownFields } from '../document/unknown-fields.js';
import { periodicProblems, periodicWarnings } from '../periodic/validate-periodic.js';
import { type TaskNeed, taskNeeds } from '../task-needs.js';
import { type Problems, type Report, within } from './problems.js';

/** The facts about the installation that warnings depend on. */
export interface WarningContext {
  /** Whether tasks may use more memory than they request; false when absent. */
  readonly allowsMemoryOversubscription?: boolean;
  /** The time from which launches of a periodic job are checked; absent: no check. */
  readonly now?: Instant;
  /** The needs that the most suitable node does not meet; absent: no warnings about needs. */
  readonly unmetByNodes?: (needsOf: () => readonly TaskNeed[]) => readonly TaskNeed[];
}

/** Warnings about a job for its author (job interface, warnings). */
export function warnAboutJob(job: Job, context: WarningContext, warnings: Problems): void {
  for (const group of job.TaskGroups) warnAboutGroup(group, warnings.within('group', group.Name));
  const promoting = job.TaskGroups.filter((group) => group.Update?.AutoPromote === true);
  const waiting = job.TaskGroups.filter(
    (group) => (group.Update?.Canary ?? 0) > 0 && group.Update?.AutoPromote !== true,
  );
  if (promoting.length > 0 && waiting.length > 0) {
    warnings.report('auto_promote has an effect only when all groups with canaries have it');
  }
  warnAboutLaunches(job, context.now, warnings.report);
  warnAboutIdentityNames(job, warnings.report);
  if (context.allowsMemoryOversubscription !== true) warnAboutMemory(job, warnings.report);
  for (const group of job.TaskGroups) warnAboutShutdown(group, warnings.report);
  const { unmetByNodes } = context;
  if (unmetByNodes !== undefined) {
    for (const group of job.TaskGroups) warnAboutNeeds(group, unmetByNodes, warnings.within('group', group.Name));
  }
}

function warnAboutLaunches(job: Job, now: Instant | undefined, warn: Report): void {
  if (job.Periodic?.Enabled !== true) return;
  const at = within(warn, 'periodic');
  if (job.Periodic.Spec !== '') at('cron is deprecated, use crons');
  if (now !== undefined && periodicProblems(job.Periodic).length === 0) {
    for (const warning of periodicWarnings(job.Periodic, now)) at(warning);
  }
}

function warnAboutGroup(group: TaskGroup, warn: Report): void {
  if (group.Update !== null && group.Count > 1 && group.Update.MaxParallel > group.Count) {
    warn(`update: max_parallel (${group.Update.MaxParallel}) is above the count (${group.Count})`);
  }
  if ((group.Networks?.[0]?.MBits ?? 0) > 0) warn('network: mbits has no effect');
  for (const task of group.Tasks) warnAboutTask(task, within(warn, 'task', task.Name));
  for (const { Name, Identity } of group.Services ?? []) {
    if (Identity !== null) warnAboutIdentity(Identity, within(warn, 'service', Name));
  }
}

/** Needs that no node of the installation meets. A group with a count of 0 needs nothing. */
function warnAboutNeeds(group: TaskGroup, unmet: NonNullable<WarningContext['unmetByNodes']>, warn: Report): void {
  if (group.Count === 0) return;
  if (group.EphemeralDisk.Migrate) {
    warn('ephemeral_disk: migrate carries the data over on the same node only; on another node the disk is empty');
  }
  for (const task of group.Tasks) {
    const missing = unmet(() => taskNeeds(task, group.Volumes));
    if (missing.length > 0) within(warn, 'task', task.Name)(`no node provides what it needs: ${missing.join(', ')}`);
  }
}

function warnAboutTask(task: Task, warn: Report): void {
  if (task.Resources.IOPS !== 0) warn('resources: iops has no effect');
  if (task.Resources.Networks !== null) warn('resources: networks belong in the group');
  for (const [index, template] of (task.Templates ?? []).entries()) {
    if (template.VaultGrace !== 0) warn(`template ${index + 1}: vault_grace has no effect`);
  }
  for (const identity of task.Identities ?? []) {
    warnAboutIdentity(identity, within(warn, 'identity', identity.Name));
  }
  for (const { Name, Identity } of task.Services ?? []) {
    if (Identity !== null) warnAboutIdentity(Identity, within(warn, 'service', Name));
  }
}

function warnAboutIdentity(identity: WorkloadIdentity, warn: Report): void {
  const audiences = identity.Audience?.length ?? 0;
  if (audiences === 0) warn('without an audience anyone who accepts the issuer accepts the token');
  if (audiences > 1) warn('several audiences let one recipient use the token at another');
  if (identity.TTL === 0) warn('without a ttl the token never expires');
  if (identity.Env && identity.ChangeMode !== 'restart') {
    warn('env = true needs change_mode restart for the task to see a new token');
  }
}

function warnAboutIdentityNames(job: Job, warn: Report): void {
  for (const { Tasks } of job.TaskGroups) for (const task of Tasks) warnAboutIdentityNamesOf(task, warn);
}

function warnAboutIdentityNamesOf(task: Task, warn: Report): void {
  if (task.Vault !== null) return;
  for (const { Name } of task.Identities ?? []) {
    if (Name.startsWith('vault_')) {
      warn(`task ${quoted(task.Name)}: the identity ${quoted(Name)} has no effect without a vault block`);
    }
  }
}

function warnAboutMemory(job: Job, warn: Report): void {
  for (const group of job.TaskGroups) {
    for (const task of group.Tasks) {
      if (task.Resources.MemoryMaxMB === 0) continue;
      const location = `group ${quoted(group.Name)}: task ${quoted(task.Name)}`;
      warn(
        `${location}: memory_max has no effect, because memory oversubscription is off in the scheduler's configuration`,
      );
    }
  }
}

const noDelay = 'are deregistered only when the task stops; a shutdown_delay gives clients time to notice';

/** Clients may call a service for a while after its deregistration; a shutdown delay waits for them. */
function warnAboutShutdown(group: TaskGroup, warn: Report): void {
  for (const task of group.Tasks) {
    if (task.Services !== null && task.ShutdownDelay === 0) {
      warn(`group ${quoted(group.Name)}: task ${quoted(task.Name)}: services ${noDelay}`);
    }
  }
  const services = group.Services ?? [];
  if (services.length === 0) return;
  const delays = new Map(group.Tasks.map((task) => [task.Name, task.ShutdownDelay]));
  const bound = new Set(services.map((service) => service.TaskName).filter((name) => delays.get(name) === 0));
  for (const name of bound) {
    warn(`group ${quoted(group.Name)}: services of the task ${quoted(name)} ${noDelay}`);
  }
  const isDelayed = (group.ShutdownDelay ?? 0) > 0 || group.Tasks.some((task) => task.ShutdownDelay > 0);
  // A sidecar has a separate delay.
  if (!isDelayed && services.some((service) => service.TaskName === '' && !hasSidecar(service))) {
    warn(`group ${quoted(group.Name)}: services ${noDelay}`);
  }
}

/** Keys of a document that a registration ignores: unknown ones, and ones from older versions of the interface. */
export function documentWarnings(document: unknown, submitted: SubmittedJob): string[] {
  return [...unknownFields(document).map(({ message }) => message), ...replacedFields(submitted)];
}

/** `[name in a job specification, submitted value, what to use]`; the values null, false and 0 are those of a stored job. */
function replacedFields(submitted: SubmittedJob): string[] {
  return (submitted.TaskGroups ?? []).flatMap((group) =>
    [
      ['max_client_disconnect', group.MaxClientDisconnect, 'disconnect.lost_after'] as const,
      ['stop_after_client_disconnect', group.StopAfterClientDisconnect, 'disconnect.stop_on_client_after'] as const,
      ['prevent_reschedule_on_lost', group.PreventRescheduleOnLost, 'disconnect.replace'] as const,
    ].flatMap(([name, value, instead]) =>
      value === null || value === false || value === 0
        ? []
        : [`group ${quoted(group.Name)}: ${name} has no effect, use ${instead}`],
    ),
  );
}
