import { type ArchiveFormat, archiveEnding, archiveFormat } from './archive-format.js';
import type { WorkloadIdentity } from './document/identity.js';
import type { Task } from './document/task.js';
import type { TaskGroup } from './document/task-group.js';
import type { TaskArtifact, TaskTemplate, VolumeMount } from './document/task-parts.js';

/** Optional node features that a task can require, in addition to a driver and resources. */
export type TaskNeed =
  | 'templates'
  /** Templates that render files, not only environment variables. */
  | 'template_files'
  /** Files over http and https. */
  | 'artifacts'
  /** Artifacts that are unpacked: tar, also with gzip, and zip. */
  | 'archives'
  /** Artifacts in any other archive format. */
  | 'other_archives'
  /** Artifacts from other sources than http and https, such as a version control system. */
  | 'other_artifacts'
  /** Artifacts from servers whose certificate is not checked. */
  | 'insecure_artifacts'
  | 'volumes'
  /** Read-only mounts of writable volumes. */
  | 'read_only_mounts'
  /** Mounts with a propagation mode or a separate label. */
  | 'mount_options'
  | 'user'
  | 'secrets'
  /** Signed identity tokens of the task, in its environment or in a file. */
  | 'identities'
  /** The task is a plugin for volumes, which other tasks then use. */
  | 'storage_plugins';

/** The features that a task requires of its node, without duplicates, in a fixed order. */
export function taskNeeds(
  task: Pick<
    Task,
    'Templates' | 'Artifacts' | 'VolumeMounts' | 'User' | 'Secrets' | 'Identity' | 'Identities' | 'CSIPluginConfig'
  >,
  volumes: TaskGroup['Volumes'],
): TaskNeed[] {
  const needs: TaskNeed[] = [];
  if (task.Templates !== null) needs.push(...templateNeeds(task.Templates));
  if (task.Artifacts !== null) needs.push(...artifactNeeds(task.Artifacts));
  if (task.VolumeMounts !== null) needs.push(...mountNeeds(task.VolumeMounts, volumes));
  if (task.User !== '') needs.push('user');
  if (task.Secrets !== null && task.Secrets.length > 0) needs.push('secrets');
  if (isHanded(task.Identity) || task.Identities?.some(isHanded) === true) needs.push('identities');
  if (task.CSIPluginConfig !== null) needs.push('storage_plugins');
  return needs;
}

/** Whether the task itself gets the token; other identities are meant for other parts of the installation. */
function isHanded(identity: WorkloadIdentity | null): boolean {
  return identity !== null && (identity.Env || identity.File);
}

function templateNeeds(templates: readonly TaskTemplate[]): TaskNeed[] {
  if (templates.length === 0) return [];
  return templates.every(({ Envvars }) => Envvars) ? ['templates'] : ['templates', 'template_files'];
}

/** The needs that a node with this attribute does not meet. */
export function unmetNeeds(needs: readonly TaskNeed[], provides: string | undefined): TaskNeed[] {
  if (provides === undefined) return [];
  const provided = new Set(provides.split(','));
  return needs.filter((need) => !provided.has(need));
}

/** Whether a read-only request is a need depends on the volume of the node. */
function mountNeeds(mounts: readonly VolumeMount[], volumes: TaskGroup['Volumes']): TaskNeed[] {
  const needs: TaskNeed[] = mounts.length === 0 ? [] : ['volumes'];
  if (mounts.some(({ ReadOnly, Volume }) => ReadOnly && volumes?.[Volume]?.ReadOnly !== true)) {
    needs.push('read_only_mounts');
  }
  const isPlain = ({ PropagationMode, SELinuxLabel }: VolumeMount): boolean =>
    (PropagationMode === '' || PropagationMode === 'private') && SELinuxLabel === '';
  if (!mounts.every(isPlain)) needs.push('mount_options');
  return needs;
}

function artifactNeeds(artifacts: readonly TaskArtifact[]): TaskNeed[] {
  const needs: TaskNeed[] = artifacts.length === 0 ? [] : ['artifacts'];
  const archives = artifacts.filter((artifact) => isWeb(artifact)).map((artifact) => archiveOf(artifact));
  if (archives.some((archive) => typeof archive === 'object')) needs.push('archives');
  if (archives.includes('unknown')) needs.push('other_archives');
  if (artifacts.some((artifact) => !isWeb(artifact))) needs.push('other_artifacts');
  if (artifacts.some(({ GetterInsecure }) => GetterInsecure)) needs.push('insecure_artifacts');
  return needs;
}

/** Whether the string has references, so that its final value is not known yet. */
function isOpen(text: string): boolean {
  return text.includes('${');
}

function isWeb({ GetterSource }: TaskArtifact): boolean {
  return isOpen(GetterSource) || /^https?:\/\//i.test(GetterSource);
}

/** How an artifact is unpacked. */
export interface Archive {
  readonly format: ArchiveFormat;
  /** The source without the part that names a folder of the archive. */
  readonly path: string;
  /** The folder of the archive to unpack; empty for all of it. */
  readonly folder: string;
}

/**
 * How existing clients would unpack an artifact, by the ending of its path or the option `archive`: `unknown` for formats that agents of this
 * project do not support; undefined for a file that is not unpacked.
 */
export function archiveOf({ GetterSource, GetterOptions, GetterMode }: TaskArtifact): Archive | 'unknown' | undefined {
  const { path: source, options } = sourceParts(GetterSource, GetterOptions);
  const asked = options.get('archive') ?? '';
  if (isOpen(asked) || asked === 'false' || asked === '0') return undefined;
  const { path, folder } = withoutFolder(source);
  const kind = asked === '' ? archiveEnding(path) : asked;
  if (kind === undefined) return GetterMode === 'dir' || path !== source ? 'unknown' : undefined;
  const format = archiveFormat(kind);
  const isKnown = GetterMode !== 'file' && !/[*?[]/.test(folder);
  return format !== undefined && isKnown ? { format, path, folder } : 'unknown';
}

/** A source with the folder of an archive that it names after `//`. */
function withoutFolder(source: string): { readonly path: string; readonly folder: string } {
  const [, path, folder] = /^([a-z]+:\/\/.*?)\/\/(.*)$/is.exec(source) ?? [];
  return { path: path ?? source, folder: folder ?? '' };
}

/**
 * The path of a source, and its options: those of its query, with those of the block in the place of equal names, and then the rest of
 * the block. `URLSearchParams.set` is not used, because it reads all options again for each name.
 */
export function sourceParts(
  source: string,
  options: TaskArtifact['GetterOptions'],
): { readonly path: string; readonly options: URLSearchParams } {
  const [path = '', query = ''] = source.split(/\?(.*)/s, 2);
  const block = new Map(Object.entries(options ?? {}));
  const all: [name: string, value: string][] = [];
  const replaced = new Set<string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const own = block.get(name);
    if (own === undefined) all.push([name, value]);
    else if (!replaced.has(name)) all.push([name, own]);
    if (own !== undefined) replaced.add(name);
  }
  for (const [name, value] of block) if (!replaced.has(name)) all.push([name, value]);
  return { path, options: new URLSearchParams(all) };
}
