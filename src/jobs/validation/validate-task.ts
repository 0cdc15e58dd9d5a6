import { quoted } from '../../shared/values.js';
import { parseTemplate } from '../../templates/template.js';
import { identityBlock, type WorkloadIdentity } from '../document/identity.js';
import type { Job } from '../document/job.js';
import { numaBlock, type RequestedDevice, type Resources } from '../document/resources.js';
import type { Service } from '../document/service.js';
import type { Task } from '../document/task.js';
import { type TaskGroup, type VolumeRequest, volumeBlock } from '../document/task-group.js';
import {
  artifactBlock,
  type CSIPluginConfig,
  csiPluginBlock,
  type LogConfig,
  lifecycleBlock,
  type TaskAction,
  type TaskArtifact,
  type TaskLifecycle,
  type TaskSecret,
  type TaskTemplate,
  type TaskVault,
  templateBlock,
  type VolumeMount,
  vaultBlock,
  volumeMountBlock,
} from '../document/task-parts.js';
import { choiceProblem, type Report, reportIf, within } from './problems.js';
import { validateTaskServices } from './validate-services.js';
import { validateAffinities, validateConstraints, validateTaskScaling } from './validate-shared-blocks.js';
import { validateTaskName, validateTaskStart } from './validate-strings.js';

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

/** Whether a path, seen from `base` inside the allocation's directory, leaves that directory. */
function pathEscapes(base: string, path: string): boolean {
  if (!path.includes('..') && !base.includes('..')) return false;
  let depth = 0;
  for (const part of `${base}/${path}`.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

function validateArtifact(artifact: TaskArtifact, report: Report): void {
  if (artifact.GetterSource === '') report('a source is required');
  if (artifact.GetterMode !== '') {
    reportIf(report, choiceProblem('the mode', artifactBlock.fields.GetterMode, artifact.GetterMode));
  }
  if (pathEscapes('task', artifact.RelativeDest)) report('the destination is outside the allocation directory');
  const checksum = artifact.GetterOptions?.['checksum'];
  // Interpolated values are unknown at registration.
  if (checksum === undefined || /\$\{[A-Za-z0-9_.-]+\}/.test(checksum)) return;
  if (!isChecksum(checksum.trim())) report('the checksum must be <md5|sha1|sha256|sha512>:<hexadecimal digits>');
}

const checksumLengths = new Map([
  ['md5', 32],
  ['sha1', 40],
  ['sha256', 64],
  ['sha512', 128],
]);

function isChecksum(checksum: string): boolean {
  const [kind = '', digits = '', ...others] = checksum.split(':');
  return others.length === 0 && /^[0-9A-Fa-f]+$/.test(digits) && digits.length === checksumLengths.get(kind);
}

function validateActions(actions: readonly TaskAction[] | null, report: Report): void {
  const names = new Map<string, number>();
  for (const action of actions ?? []) {
    const at = within(report, 'action', action.Name);
    if (action.Command === '') at('a command is required');
    if (!/^[^\s\0]{1,128}$/u.test(action.Name)) at('the name must be 1 to 128 characters without white space');
    const uses = (names.get(action.Name) ?? 0) + 1;
    names.set(action.Name, uses);
    if (uses === 2) at('the name is used more than once');
  }
}

function validateLifecycle(lifecycle: TaskLifecycle, report: Report): void {
  reportIf(report, choiceProblem('the lifecycle hook', lifecycleBlock.fields.Hook, lifecycle.Hook));
}

function validateVolumeMounts(
  mounts: readonly VolumeMount[] | null,
  volumes: TaskGroup['Volumes'],
  report: Report,
): void {
  mounts?.forEach((mount, index) => {
    const at = within(report, `volume_mount ${index + 1}`);
    if (volumes === null || !Object.hasOwn(volumes, mount.Volume)) {
      at(`the group has no volume ${quoted(mount.Volume)}`);
    }
    if (mount.Volume === '') at('a volume is required');
    const { PropagationMode, SELinuxLabel } = volumeMountBlock.fields;
    if (mount.PropagationMode !== '') {
      reportIf(at, choiceProblem('propagation_mode', PropagationMode, mount.PropagationMode));
    }
    if (mount.SELinuxLabel !== '') reportIf(at, choiceProblem('selinux_label', SELinuxLabel, mount.SELinuxLabel));
  });
}

function validateCsiPlugin(plugin: CSIPluginConfig, report: Report): void {
  if (plugin.ID === '') report('an id is required');
  reportIf(report, choiceProblem('the type', csiPluginBlock.fields.Type, plugin.Type));
  if (plugin.HealthTimeout < 0) report('health_timeout must not be negative');
  if (isBelow(plugin.StagePublishBaseDir, plugin.MountDir))
    report('stage_publish_base_dir must not be below mount_dir');
}

/** Whether a directory is the same as another one, or inside it. */
function isBelow(path: string, directory: string): boolean {
  const normal = (text: string): string =>
    `/${text
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/')}`;
  const [inner, outer] = [normal(path), normal(directory)];
  return inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`);
}

function validateVault(vault: TaskVault, report: Report): void {
  reportIf(report, choiceProblem('change_mode', vaultBlock.fields.ChangeMode, vault.ChangeMode));
  if (vault.ChangeMode === 'signal' && vault.ChangeSignal === '') report('change_mode signal needs change_signal');
}

function validateSecrets(task: Task, report: Report): void {
  const names = new Set<string>();
  for (const secret of task.Secrets ?? []) {
    const at = within(report, 'secret', secret.Name);
    if (secret.Name === '') at('a name is required');
    if (!/^[A-Za-z0-9_]{1,128}$/.test(secret.Name)) at('the name must be 1 to 128 letters, digits and underscores');
    if (names.has(secret.Name)) at('the name is used twice');
    names.add(secret.Name);
    if (secret.Provider === '') at('a provider is required');
    if (secret.Path === '') at('a path is required');
    validateProvider(task, secret, at);
  }
}

function validateProvider(task: Task, { Provider, Env, Config }: TaskSecret, report: Report): void {
  const isBuiltIn = Provider === 'nomad' || Provider === 'vault';
  if (Provider === 'vault' && task.Vault === null) report('the provider vault needs a vault block');
  if (isBuiltIn && Env !== null) report(`the provider ${Provider} does not accept env`);
  if (!isBuiltIn && Config !== null) report('config is for the providers nomad and vault');
}

/** The access modes of a host volume; the other modes need several nodes. */
const hostAccessModes = ['', ...volumeBlock.fields.AccessMode.values.filter((mode) => mode.startsWith('single-node-'))];

/** Checks a request for a host volume or for a volume of a plugin. */
export function validateVolume(volume: VolumeRequest, group: TaskGroup, jobType: string, report: Report): void {
  if (volume.Source === '') report('a source is required');
  if (volume.PerAlloc) validatePerAllocation(volume, group, jobType, report);
  if (volume.AttachmentMode !== '') {
    reportIf(report, choiceProblem('attachment_mode', volumeBlock.fields.AttachmentMode, volume.AttachmentMode));
  }
  if (volume.Type === 'csi') validatePluginVolume(volume, group.Count, report);
  else validateHostVolume(volume, report);
}

function validatePerAllocation(volume: VolumeRequest, group: TaskGroup, jobType: string, report: Report): void {
  if (jobType === 'system' || jobType === 'sysbatch') report(`per_alloc cannot be used by a ${jobType} job`);
  if ((group.Update?.Canary ?? 0) > 0) report('per_alloc cannot be used with canaries');
  if (volume.Sticky) report('per_alloc and sticky cannot be combined');
}

function validateHostVolume(volume: VolumeRequest, report: Report): void {
  if (volume.MountOptions !== null) report('mount_options are for csi volumes');
  if (!hostAccessModes.includes(volume.AccessMode)) {
    report(`a host volume cannot be mounted with the access_mode ${quoted(volume.AccessMode)}`);
  }
  if (volume.AccessMode === 'single-node-reader-only') validateReadOnly(volume, report);
}

function validatePluginVolume(volume: VolumeRequest, count: number, report: Report): void {
  if (volume.AttachmentMode === '') report('a csi volume needs an attachment_mode');
  if (volume.AttachmentMode === 'block-device' && volume.MountOptions !== null) {
    report('a block device does not accept mount_options');
  }
  const isShared = count > 1 && !volume.PerAlloc;
  switch (volume.AccessMode) {
    case '':
      report('a csi volume needs an access_mode');
      break;
    case 'single-node-reader-only':
      validateReadOnly(volume, report);
      if (isShared) report('the access_mode single-node-reader-only allows only one reader');
      break;
    case 'multi-node-reader-only':
      validateReadOnly(volume, report);
      break;
    case 'single-node-writer':
      if (isShared) report(`the access_mode ${volume.AccessMode} allows only one writer`);
      break;
    case 'multi-node-single-writer':
      // Several readers may share it.
      if (isShared && !volume.ReadOnly) report(`the access_mode ${volume.AccessMode} allows only one writer`);
      break;
    case 'multi-node-multi-writer':
      break;
    default:
      reportIf(report, choiceProblem('access_mode', volumeBlock.fields.AccessMode, volume.AccessMode));
  }
}

function validateReadOnly(volume: VolumeRequest, report: Report): void {
  if (!volume.ReadOnly) report(`the access_mode ${volume.AccessMode} needs read_only = true`);
}

/** `isFree`: of a function, which may ask for nothing. */
function validateResources(resources: Resources, isFree: boolean, report: Report): void {
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
function validateLogs(logs: LogConfig, diskMb: number | undefined, report: Report): void {
  if (logs.Disabled) return;
  if (logs.MaxFiles < 1) report('max_files must be at least 1');
  if (logs.MaxFileSizeMB < 1) report('max_file_size must be at least 1 MB');
  const needed = logs.MaxFiles * logs.MaxFileSizeMB;
  if (diskMb !== undefined && needed >= diskMb)
    report(`the files may take ${needed} MB, which must be less than the disk of ${diskMb} MB`);
}
