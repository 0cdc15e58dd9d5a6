import { quoted } from '../../shared/values.js';
import { type TaskGroup, type VolumeRequest, volumeBlock } from '../document/task-group.js';
import { choiceProblem, type Report, reportIf } from './problems.js';

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
