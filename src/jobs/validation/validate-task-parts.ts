import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import type {
  CSIPluginConfig,
  TaskAction,
  TaskArtifact,
  TaskLifecycle,
  TaskTemplate,
  TaskVault,
  VolumeMount,
} from '../document/task-parts.js';
import { quoted, type Report, within } from './problem-texts.js';

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

const checksumLengths: Readonly<Record<string, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };

export function validateArtifact(artifact: TaskArtifact, report: Report): void {
  if (artifact.GetterSource === '') report('a source is needed');
  if (!['any', 'file', 'dir'].includes(artifact.GetterMode)) {
    report(`the mode must be any, file or dir, not ${quoted(artifact.GetterMode)}`);
  }
  if (pathEscapes('task', artifact.RelativeDest)) report('the destination leaves the allocation');
  const checksum = artifact.GetterOptions?.['checksum'];
  if (checksum !== undefined && !checksum.includes('${') && !isChecksum(checksum.trim())) {
    report('the checksum must be <md5|sha1|sha256|sha512>:<hexadecimal digits> or file:<source>');
  }
}

function isChecksum(checksum: string): boolean {
  const [, kind = '', value = ''] = /^([^:]*):(.*)$/.exec(checksum) ?? [];
  if (kind === 'file') return value !== '';
  return /^[0-9A-Fa-f]+$/.test(value) && value.length === checksumLengths[kind.toLowerCase()];
}

export function validateTemplates(templates: readonly TaskTemplate[] | null, report: Report): void {
  const destinations = new Set<string>();
  templates?.forEach((template, index) => {
    const at = within(report, `template ${index + 1}`);
    validateTemplate(template, at);
    if (destinations.has(template.DestPath)) at(`the destination ${quoted(template.DestPath)} is used twice`);
    else if (template.DestPath !== '') destinations.add(template.DestPath);
  });
}

function validateTemplate(template: TaskTemplate, report: Report): void {
  if (template.SourcePath === '' && template.EmbeddedTmpl === '') report('a source or data is needed');
  if (template.DestPath === '') report('a destination is needed');
  else if (pathEscapes('task', template.DestPath)) report('the destination leaves the allocation');
  switch (template.ChangeMode) {
    case 'noop':
    case 'restart':
      break;
    case 'signal':
      if (template.ChangeSignal === '') report('change_mode signal needs change_signal');
      if (template.Envvars) report('change_mode signal cannot be used with env = true');
      break;
    case 'script':
      if ((template.ChangeScript?.Command ?? '') === '')
        report('change_mode script needs a change_script with a command');
      break;
    default:
      report(`change_mode must be noop, restart, signal or script, not ${quoted(template.ChangeMode)}`);
  }
  if (template.Splay < 0) report('splay must not be negative');
  if (template.Perms !== '' && !/^0*[0-7]{1,4}$/.test(template.Perms)) {
    report(`perms must be an octal number, not ${quoted(template.Perms)}`);
  }
  const { Min, Max } = template.Wait ?? { Min: null, Max: null };
  if (Min !== null && Max !== null && Min > Max) report('wait: min must not be longer than max');
}

export function validateActions(actions: readonly TaskAction[] | null, report: Report): void {
  const names = new Set<string>();
  for (const action of actions ?? []) {
    const at = within(report, 'action', action.Name);
    if (action.Command === '') at('a command is needed');
    if (!/^[^\s\0]{1,128}$/u.test(action.Name)) at('the name must be 1 to 128 characters without white space');
    if (names.has(action.Name)) at('the name is used twice');
    names.add(action.Name);
  }
}

export function validateLifecycle(lifecycle: TaskLifecycle, report: Report): void {
  if (!['prestart', 'poststart', 'poststop'].includes(lifecycle.Hook)) {
    report(`the lifecycle hook must be prestart, poststart or poststop, not ${quoted(lifecycle.Hook)}`);
  }
}

export function validateVolumeMounts(
  mounts: readonly VolumeMount[] | null,
  volumes: TaskGroup['Volumes'],
  report: Report,
): void {
  mounts?.forEach((mount, index) => {
    const at = within(report, `volume_mount ${index + 1}`);
    if (mount.Volume === '') at('a volume is needed');
    else if (volumes === null || !Object.hasOwn(volumes, mount.Volume)) {
      at(`the group has no volume ${quoted(mount.Volume)}`);
    }
    if (!['private', 'host-to-task', 'bidirectional'].includes(mount.PropagationMode)) {
      at(`propagation_mode must be private, host-to-task or bidirectional, not ${quoted(mount.PropagationMode)}`);
    }
    if (!['', 'z', 'Z'].includes(mount.SELinuxLabel)) at('selinux_label must be z or Z');
  });
}

export function validateCsiPlugin(plugin: CSIPluginConfig, report: Report): void {
  if (plugin.ID === '') report('an id is needed');
  if (!['node', 'controller', 'monolith'].includes(plugin.Type)) {
    report(`the type must be node, controller or monolith, not ${quoted(plugin.Type)}`);
  }
  if (plugin.HealthTimeout < 0) report('health_timeout must not be negative');
}

export function validateVault(vault: TaskVault, report: Report): void {
  if (!['noop', 'restart', 'signal'].includes(vault.ChangeMode)) {
    report(`change_mode must be noop, restart or signal, not ${quoted(vault.ChangeMode)}`);
  }
  if (vault.ChangeMode === 'signal' && vault.ChangeSignal === '') report('change_mode signal needs change_signal');
  if (vault.Namespace !== '') report('Vault namespaces are not available in this edition');
  if (vault.Cluster !== 'default') report('only the Vault cluster "default" is available in this edition');
}

export function validateSecrets(task: Task, report: Report): void {
  const names = new Set<string>();
  for (const secret of task.Secrets ?? []) {
    const at = within(report, 'secret', secret.Name);
    if (!/^[A-Za-z0-9_]{1,128}$/.test(secret.Name)) at('the name must be 1 to 128 letters, digits and underscores');
    if (names.has(secret.Name)) at('the name is used twice');
    names.add(secret.Name);
    if (secret.Provider === '') at('a provider is needed');
    if (secret.Path === '') at('a path is needed');
    const isBuiltIn = secret.Provider === 'nomad' || secret.Provider === 'vault';
    if (secret.Provider === 'vault' && task.Vault === null) at('the provider vault needs a vault block');
    if (isBuiltIn && secret.Env !== null) at(`the provider ${secret.Provider} takes no env`);
    if (!isBuiltIn && secret.Config !== null) at('config is for the providers nomad and vault');
  }
}
