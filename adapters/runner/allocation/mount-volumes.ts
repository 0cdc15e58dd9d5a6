import { lstat, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { VolumeMount } from '../../../src/jobs/document/task-parts.js';
import { indexFromName } from '../../../src/scheduler/reconcile/names.js';
import type { TaskPaths } from '../disk/task-paths.js';
import { folderForFile, PathRefused, targetOf } from '../disk/task-target.js';
import { isWritable } from '../node/host-volumes.js';
import type { RunnerContext, TaskAssignment } from './runner-context.js';

/** Links the node's volumes into the task's folder at the destinations of its `volume_mount` blocks. Throws `PathRefused`. */
export async function mountVolumes(
  assignment: TaskAssignment,
  node: RunnerContext['node'],
  paths: TaskPaths,
  fill: (text: string) => string,
): Promise<void> {
  for (const mount of assignment.task.VolumeMounts ?? []) {
    const folder = await folderOf(mount, assignment, node);
    const destination = fill(mount.Destination);
    await link(folder, paths, destination);
  }
}

/** The host folder of a mount. */
async function folderOf(
  mount: VolumeMount,
  { group, allocation }: TaskAssignment,
  node: RunnerContext['node'],
): Promise<string> {
  const { Volume, ReadOnly } = mount;
  const request = group.Volumes?.[Volume];
  if (request === undefined || request.Type !== 'host') throw new PathRefused(`The group has no host volume ${Volume}`);
  refuseOwnMount(mount);
  const source = request.PerAlloc ? `${request.Source}[${indexFromName(allocation.Name)}]` : request.Source;
  const offered = offeredVolume(node, source);
  if ((ReadOnly || request.ReadOnly || offered.ReadOnly) && isWritable(offered.Path)) {
    throw new PathRefused(
      `The volume ${Volume} cannot be mounted read-only: volumes are linked, and the runner can write to the folder`,
    );
  }
  if (!(await stat(offered.Path)).isDirectory())
    throw new PathRefused(`The volume ${source} of this node is no longer a directory`);
  return offered.Path;
}

function offeredVolume({ HostVolumes }: RunnerContext['node'], source: string) {
  const offered = Object.hasOwn(HostVolumes ?? {}, source) ? HostVolumes?.[source] : undefined;
  if (offered === undefined) throw new PathRefused(`This node has no host volume ${source}`);
  return offered;
}

/** Propagation modes and SELinux labels need a real mount; volumes are links here. */
function refuseOwnMount({ Volume, PropagationMode, SELinuxLabel }: VolumeMount): void {
  if (SELinuxLabel === '' && (PropagationMode === '' || PropagationMode === 'private')) return;
  throw new PathRefused(`The volume ${Volume} is a link: propagation_mode and selinux_label are not supported`);
}

/** Replaced atomically at each preparation: the task may have changed it. */
async function link(folder: string, paths: TaskPaths, destination: string): Promise<void> {
  const file = await folderForFile(targetOf(paths, destination));
  const target = join(file.folder, file.name);
  const there = await lstat(target).catch(() => undefined);
  if (there !== undefined && !there.isSymbolicLink()) {
    throw new PathRefused(`The destination ${destination} already exists and is not a volume`);
  }
  const draft = join(file.folder, `.${file.name}.new`);
  await rm(draft, { force: true });
  await symlink(folder, draft);
  await rename(draft, target);
}
