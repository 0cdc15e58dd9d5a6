import { quoted } from '../../shared/values.js';
import { identityBlock, type WorkloadIdentity } from '../document/identity.js';
import type { Job } from '../document/job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { choiceProblem, type Report, reportIf, within } from './problems.js';
import { validateTaskServices } from './services/validate-services.js';
import { validateTaskName } from './validate-names.js';
import { validateAffinities, validateConstraints } from './validate-placement.js';
import { validateTaskScaling } from './validate-policies.js';
import { validateLogs, validateResources } from './validate-resources.js';
import { validateTaskStart } from './validate-start.js';
import {
  pathEscapes,
  validateActions,
  validateArtifact,
  validateCsiPlugin,
  validateLifecycle,
  validateSecrets,
  validateVault,
  validateVolumeMounts,
} from './validate-task-parts.js';
import { validateTemplates } from './validate-template.js';

/** A group with functions may ask for no disk. */
export const hasNoDisk = ({ EphemeralDisk, Tasks }: TaskGroup): boolean =>
  EphemeralDisk.SizeMB === 0 && Tasks.some(({ Driver }) => Driver === 'function');

export function validateTask(task: Task, group: TaskGroup, job: Job, report: Report): void {
  validateTaskName(task.Name, report);
  if (task.Driver === '') report('a driver is required');
  validateTimes(task, group, job.Type, report);
  validateResources(task.Resources, task.Driver === 'function', within(report, 'resources'));
  validateLogs(task.LogConfig, hasNoDisk(group) ? undefined : group.EphemeralDisk.SizeMB, within(report, 'logs'));
  validatePlacement(task, job.Type, report);
  validateTaskServices(task, group, report);
  validateParts(task, group, report);
  validateProxy(task, group, report);
  validateTaskStart(task, group, job, report);
}

function validateTimes(task: Task, group: TaskGroup, jobType: string, report: Report): void {
  const deadline = jobType === 'service' ? (group.Update?.ProgressDeadline ?? 0) : 0;
  if (task.KillTimeout < 0) report('kill_timeout must not be negative');
  else if (deadline > 0 && task.KillTimeout > deadline) {
    report("kill_timeout must not exceed the group's progress_deadline");
  }
  if (task.ShutdownDelay < 0) report('shutdown_delay must not be negative');
}

function validatePlacement(task: Task, jobType: string, report: Report): void {
  const at = (location: string): Report => within(report, location);
  validateConstraints(task.Constraints, 'task', at);
  if (jobType !== 'system') validateAffinities(task.Affinities, at);
  else if (task.Affinities !== null) report('a system job cannot have affinities');
}

function validateParts(task: Task, group: TaskGroup, report: Report): void {
  for (const [index, artifact] of (task.Artifacts ?? []).entries()) {
    validateArtifact(artifact, within(report, `artifact ${index + 1}`));
  }
  if (task.Vault !== null) validateVault(task.Vault, within(report, 'vault'));
  validateTemplates(task.Templates, report);
  validateActions(task.Actions, report);
  if (task.DispatchPayload !== null && pathEscapes('task/local', task.DispatchPayload.File)) {
    report('the file of dispatch_payload is outside the allocation directory');
  }
  if (task.Lifecycle !== null) validateLifecycle(task.Lifecycle, report);
  validateVolumeMounts(task.VolumeMounts, group.Volumes, report);
  if (task.CSIPluginConfig !== null) validateCsiPlugin(task.CSIPluginConfig, within(report, 'csi_plugin'));
  validateIdentities(task, report);
  validateSecrets(task, report);
  for (const policy of task.ScalingPolicies ?? []) validateTaskScaling(policy, within(report, 'scaling'));
}

const proxyKind = 'connect-proxy:';

/** The proxy task of a mesh service cannot have services, and its service must be in the group. */
function validateProxy(task: Task, group: TaskGroup, report: Report): void {
  if (!task.Kind.startsWith(proxyKind)) return;
  const name = task.Kind.slice(proxyKind.length);
  if ((task.Services?.length ?? 0) > 0) report('the proxy of a service cannot have services');
  if (task.Leader) report('the proxy of a service cannot be the leader');
  const isThere = group.Services?.some((service) => service.Connect?.SidecarService != null && service.Name === name);
  if (isThere !== true) report(`the group has no service ${quoted(name)} with a sidecar, whose proxy this task is`);
}

function validateIdentities(task: Task, report: Report): void {
  if (task.Identity !== null) validateIdentity(task.Identity, within(report, 'identity "default"'));
  for (const identity of task.Identities ?? []) {
    const at = within(report, 'identity', identity.Name);
    validateIdentity(identity, at);
    if (identity.Name === 'default') at('is given twice');
  }
}

function validateIdentity(identity: WorkloadIdentity, report: Report): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(identity.Name)) {
    report('the name must be 1 to 128 letters, digits, dashes and underscores');
  }
  for (const [index, audience] of (identity.Audience ?? []).entries()) {
    if (audience === '') report(`audience ${index + 1} must not be empty`);
  }
  validateChange(identity, report);
  if (identity.TTL < 0) report('ttl must not be negative');
  if (identity.Name === 'default' && identity.TTL > 0) report('the default identity cannot have a ttl');
  if (identity.Filepath !== '' && !identity.File) report('filepath needs file = true');
}

/** What happens to the task when a new token is made. */
function validateChange(identity: WorkloadIdentity, report: Report): void {
  switch (identity.ChangeMode) {
    case '':
    case 'noop':
    case 'restart':
      if (identity.ChangeSignal !== '') report('change_signal needs change_mode signal');
      return;
    case 'signal':
      if (identity.ChangeSignal === '') report('change_mode signal needs change_signal');
      return;
    default:
      reportIf(report, choiceProblem('change_mode', identityBlock.fields.ChangeMode, identity.ChangeMode));
  }
}
