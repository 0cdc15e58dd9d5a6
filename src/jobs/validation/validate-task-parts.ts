import { quoted } from '../../shared/values.js';
import type { Task } from '../document/task.js';
import { type TaskGroup, type VolumeRequest, volumeBlock } from '../document/task-group.js';
import {
  artifactBlock,
  type CSIPluginConfig,
  csiPluginBlock,
  lifecycleBlock,
  type TaskAction,
  type TaskArtifact,
  type TaskLifecycle,
  type TaskSecret,
  type TaskVault,
  type VolumeMount,
  vaultBlock,
  volumeMountBlock,
} from '../document/task-parts.js';
import { choiceProblem, type Report, reportIf, within } from './problems.js';

/** Whether a path, seen from `base` inside the allocation's directory, leaves that directory. */
export function pathEscapes(base: string, path: string): boolean {
  if (!path.includes('..') && !base.includes('..')) return false;
  let depth = 0;
  for (const part of `${base}/${path}`.split('/')) {
    if (part === '..') depth--;
    else if (part !== '' && part !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}

export function validateArtifact(artifact: TaskArtifact, report: Report): void {
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

export function validateActions(actions: readonly TaskAction[] | null, report: Report): void {
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

export function validateLifecycle(lifecycle: TaskLifecycle, report: Report): void {
  reportIf(report, choiceProblem('the lifecycle hook', lifecycleBlock.fields.Hook, lifecycle.Hook));
}

export function validateVolumeMounts(
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

export function validateCsiPlugin(plugin: CSIPluginConfig, report: Report): void {
  if (plugin.ID === '') report('an id is required');
  reportIf(report, choiceProblem('the type', csiPluginBlock.fields.Type, plugin.Type));
  if (plugin.HealthTimeout < 0) report('health_timeout must not be negative');
  if (isBelow(plugin.StagePublishBaseDir, plugin.MountDir))
    report('stage_publish_base_dir must not be below mount_dir');
}

/** Whether a directory is the same as another one, or inside it. */
function isBelow(path: string, directory: string): boolean {
  const [inner, outer] = [path, directory].map(
    (text) =>
      `/${text
        .split('/')
        .filter((part) => part !== '' && part !== '.')
        .join('/')}`,
  ) as [string, string];
  return inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`);
}

export function validateVault(vault: TaskVault, report: Report): void {
  reportIf(report, choiceProblem('change_mode', vaultBlock.fields.ChangeMode, vault.ChangeMode));
  if (vault.ChangeMode === 'signal' && vault.ChangeSignal === '') report('change_mode signal needs change_signal');
}

export function validateSecrets(task: Task, report: Report): void {
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
