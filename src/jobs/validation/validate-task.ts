import { quoted } from '../../shared/values.js';
import { parseTemplate } from '../../templates/template.js';
import { identityBlock, type WorkloadIdentity } from '../document/identity.js';
import type { Job } from '../document/job.js';
import type { Service } from '../document/service.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { type TaskTemplate, templateBlock } from '../document/task-parts.js';
import { choiceProblem, type Report, reportIf, within } from './problems.js';
import { validateTaskName } from './validate-names.js';
import { validateAffinities, validateConstraints } from './validate-placement.js';
import { validateTaskScaling } from './validate-policies.js';
import { validateLogs, validateResources } from './validate-resources.js';
import { validateTaskServices } from './validate-services.js';
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

/** Refuses orders of tasks in which the main tasks never run, never stay up, or never become healthy. */
export function validateLifecycles(group: TaskGroup, job: Pick<Job, 'Type'>, report: Report): void {
  if (group.Tasks.length > 0 && group.Tasks.every((task) => task.Lifecycle !== null)) {
    report('at least one task must have no lifecycle block');
  }
  for (const task of group.Tasks) {
    if (task.Leader) validateLeader(task, job.Type, within(report, 'task', task.Name));
  }
  if (group.Update?.HealthCheck === 'checks') validateHealthChecks(group, report);
}

/** The end of the leader ends the other tasks. A prestart task as leader is accepted, as recorded answers of Nomad have it. */
function validateLeader(task: Task, jobType: string, report: Report): void {
  if (!runsBriefly(task)) return;
  const hook = task.Lifecycle?.Hook;
  if (hook === 'poststop') {
    report('a poststop task cannot be the leader: it starts when the other tasks have ended');
  } else if (hook === 'poststart' && (jobType === 'service' || jobType === 'system')) {
    report('a poststart task without sidecar cannot be the leader: its end would end the main tasks');
  }
}

/** Checks run while their task runs, and a deployment counts on all of them for as long as the main tasks run. */
function validateHealthChecks(group: TaskGroup, report: Report): void {
  const brief = new Set(group.Tasks.filter(runsBriefly).map(({ Name }) => Name));
  if (brief.size === 0) return;
  const validate = (service: Service, owner: string, at: Report): void => {
    for (const check of service.Checks ?? []) {
      const task = owner || check.TaskName || service.TaskName;
      if (check.OnUpdate === 'ignore' || !brief.has(task)) continue;
      within(
        at,
        'check',
        check.Name,
      )(
        `the task ${JSON.stringify(task)} does not run beside the main tasks, so a deployment never becomes healthy: set on_update to "ignore", or health_check of the update to "task_states"`,
      );
    }
  };
  for (const service of group.Services ?? []) validate(service, '', within(report, 'service', service.Name));
  for (const task of group.Tasks) {
    const at = within(report, 'task', task.Name);
    for (const service of task.Services ?? []) validate(service, task.Name, within(at, 'service', service.Name));
  }
}

/** A task that ends before the main tasks do, or begins after them. */
function runsBriefly({ Lifecycle }: Task): boolean {
  return Lifecycle !== null && (Lifecycle.Hook === 'poststop' || !Lifecycle.Sidecar);
}

function validateTemplates(templates: readonly TaskTemplate[] | null, report: Report): void {
  const destinations = new Map<string, number>();
  for (const [index, template] of (templates ?? []).entries()) {
    const at = within(report, `template ${index + 1}`);
    validateTemplate(template, at);
    const other = destinations.get(template.DestPath);
    if (other !== undefined) at(`the destination ${quoted(template.DestPath)} is that of template ${other + 1}`);
    else destinations.set(template.DestPath, index);
  }
}

function validateTemplate(template: TaskTemplate, report: Report): void {
  if (template.SourcePath === '' && template.EmbeddedTmpl === '') report('a source or data is required');
  if (template.DestPath === '') report('a destination is required');
  if (pathEscapes('task', template.DestPath)) report('the destination is outside the allocation directory');
  validateSource(template, report);
  validateTemplateChange(template, report);
  if (template.Splay < 0) report('splay must not be negative');
  if (template.Perms !== '' && !/^0*[0-7]{1,4}$/.test(template.Perms)) {
    report(`perms must be an octal number of at most 7777, not ${quoted(template.Perms)}`);
  }
  const { Min, Max } = template.Wait ?? { Min: null, Max: null };
  if (Min !== null && Max !== null && Min > Max) report('wait: min must not be longer than max');
}

/** An invalid template would prevent its task from starting. A template in a file is read only when the task starts. */
function validateSource({ EmbeddedTmpl, LeftDelim, RightDelim }: TaskTemplate, report: Report): void {
  const parsed = parseTemplate(EmbeddedTmpl, { left: LeftDelim, right: RightDelim });
  if (parsed.isErr()) report(`data, line ${parsed.error.line}, column ${parsed.error.column}: ${parsed.error.message}`);
}

/** Checks the change mode and its options. */
function validateTemplateChange(template: TaskTemplate, report: Report): void {
  switch (template.ChangeMode) {
    case 'noop':
    case 'restart':
      return;
    case 'signal':
      if (template.ChangeSignal === '') report('change_mode signal needs change_signal');
      if (template.Envvars) report('change_mode signal cannot be used with env = true');
      return;
    case 'script':
      if ((template.ChangeScript?.Command ?? '') === '') {
        report('change_mode script needs a change_script with a command');
      }
      return;
    default:
      reportIf(report, choiceProblem('change_mode', templateBlock.fields.ChangeMode, template.ChangeMode));
  }
}

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
