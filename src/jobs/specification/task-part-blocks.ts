import { changeScriptDefaults } from '../canonical/canonicalise-blocks.js';
import { secondNanos } from '../document/document-values.js';
import { identityBlock } from '../document/identity.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../document/resources.js';
import {
  actionBlock,
  artifactBlock,
  changeScriptBlock,
  csiPluginBlock,
  dispatchPayloadBlock,
  lifecycleBlock,
  logConfigBlock,
  scheduleBlock,
  scheduleCronBlock,
  secretBlock,
  templateBlock,
  vaultBlock,
  volumeMountBlock,
  waitBlock,
} from '../document/task-parts.js';
import { affinity, constraint, network } from './shared-blocks.js';
import { type Draft, freeForm, many, map, one, specified } from './specification-table.js';

/** Fills what is null. */
function fill(draft: Draft, defaults: Draft): void {
  for (const [field, value] of Object.entries(defaults)) draft[field] ??= value;
}

export const lifecycle = specified(lifecycleBlock, 'Makes the task run before, beside or after the main tasks.', {
  required: ['hook'],
});

const device = specified(deviceBlock, 'A device that the task needs, such as a GPU.', {
  label: 'Name',
  blocks: { constraint: many('Constraints', constraint), affinity: many('Affinities', affinity) },
});

const numa = specified(numaBlock, 'Placement on the cores of one NUMA node.');

export const resources = specified(
  resourcesBlock,
  'The resources that the task requests: `cpu` in MHz or whole `cores`, memory in MB. Functions without this block request none if their group has functions only.',
  {
    names: { memory: 'MemoryMB', memory_max: 'MemoryMaxMB', disk: 'DiskMB', secrets: 'SecretsMB' },
    blocks: { network: many('Networks', network), device: many('Devices', device), numa: one('NUMA', numa) },
  },
);

export const logs = specified(logConfigBlock, 'Log rotation: how much output of the task is kept.', {
  names: { max_file_size: 'MaxFileSizeMB' },
});

export const volumeMount = specified(volumeMountBlock, 'Mounts a volume of the group into the task.', {
  names: { selinux_label: 'SELinuxLabel' },
});

export const identity = specified(identityBlock, 'A signed token that identifies the task to others.', {
  names: { aud: 'Audience' },
});

export const artifact = specified(artifactBlock, 'A file or archive that is fetched before the task starts.', {
  names: { source: 'GetterSource', mode: 'GetterMode', insecure: 'GetterInsecure', destination: 'RelativeDest' },
  blocks: { options: map('GetterOptions'), headers: map('GetterHeaders') },
});

export const vault = specified(vaultBlock, 'Passes a Vault token to the task.', {
  finish: (draft) => fill(draft, { Env: true, DisableFile: false, ChangeMode: 'restart' }),
});

const changeScript = specified(changeScriptBlock, 'The script that `change_mode = "script"` runs in the task.', {
  finish: (draft) => {
    const { Args, Timeout, FailOnError, RunOnFirstRender } = changeScriptDefaults;
    fill(draft, { Args: [...Args], Timeout, FailOnError, RunOnFirstRender });
  },
});

const wait = specified(waitBlock, 'How long the inputs of a template must be stable before it is rendered.');

export const template = specified(templateBlock, 'A file that is rendered from a template and watched for changes.', {
  names: {
    source: 'SourcePath',
    destination: 'DestPath',
    data: 'EmbeddedTmpl',
    left_delimiter: 'LeftDelim',
    right_delimiter: 'RightDelim',
    env: 'Envvars',
    error_on_missing_key: 'ErrMissingKey',
  },
  blocks: { change_script: one('ChangeScript', changeScript), wait: one('Wait', wait) },
  finish: (draft) =>
    fill(draft, { ChangeMode: 'restart', Perms: '0644', Splay: 5 * secondNanos, ErrMissingKey: false }),
});

export const dispatchPayload = specified(dispatchPayloadBlock, 'The file for the payload of a dispatched job.');

export const csiPlugin = specified(csiPluginBlock, 'Makes the task a storage plugin.');

export const secret = specified(secretBlock, 'A secret that the task reads through a provider.', {
  label: 'Name',
  blocks: { config: freeForm('Config'), env: map('Env') },
});

export const action = specified(actionBlock, 'A command that can be run in the task by name.', {
  label: 'Name',
  required: ['command'],
});

const cron = specified(scheduleCronBlock, 'When the task starts and ends.');

export const schedule = specified(scheduleBlock, 'Lets the task run only at certain times.', {
  blocks: { cron: one('Cron', cron) },
});
