import { err, ok, type Result } from 'neverthrow';
import { allows, allowsArea, allowsHostVolume } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import type { Task } from '../../../jobs/document/task.js';
import type { TaskGroup, VolumeRequest } from '../../../jobs/document/task-group.js';
import type { PermissionDenied } from '../../authorise.js';

/**
 * Passes when the caller may mount the volumes of the job, and run its plugins for volumes. A job without any needs no
 * such right.
 */
export function authoriseVolumes(caller: Principal, job: Job): Result<void, PermissionDenied> {
  const allowed = caller.management || job.TaskGroups.every((group) => allowsGroup(caller, job.Namespace, group));
  return allowed ? ok(undefined) : err({ type: 'permission_denied' });
}

function allowsGroup(caller: Principal, namespace: string, { Volumes, Tasks }: TaskGroup): boolean {
  return (
    Object.values(Volumes ?? {}).every((volume) => allowsVolume(caller, namespace, volume)) &&
    Tasks.every((task) => allowsMounts(caller, Volumes ?? {}, task) && allowsPlugin(caller, namespace, task))
  );
}

function allowsVolume(caller: Principal, namespace: string, { Type, Source, ReadOnly }: VolumeRequest): boolean {
  if (Type === 'csi') return allowsArea(caller, 'plugin', 'read') && allows(caller, namespace, ['csi-mount-volume']);
  return (
    allowsHostVolume(caller, Source, 'mount-readwrite') ||
    (ReadOnly && allowsHostVolume(caller, Source, 'mount-readonly'))
  );
}

/** What is mounted within a volume in both directions also appears on the host, even if the volume is mounted to be read only. */
function allowsMounts(caller: Principal, volumes: NonNullable<TaskGroup['Volumes']>, { VolumeMounts }: Task): boolean {
  return (VolumeMounts ?? []).every(({ Volume, PropagationMode }) => {
    if (PropagationMode !== 'bidirectional') return true;
    const source = Object.hasOwn(volumes, Volume) ? volumes[Volume]?.Source : undefined;
    return allowsHostVolume(caller, source ?? '', 'mount-readwrite');
  });
}

function allowsPlugin(caller: Principal, namespace: string, { CSIPluginConfig }: Task): boolean {
  return CSIPluginConfig === null || allows(caller, namespace, ['csi-register-plugin']);
}
