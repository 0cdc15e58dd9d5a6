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
import { type Draft, freeForm, many, map, one, specificationBlock } from './specification-table.js';

/** Fills what is null. */
function fill(draft: Draft, defaults: Draft): void {
  for (const [field, value] of Object.entries(defaults)) draft[field] ??= value;
}

export const lifecycle = specificationBlock({
  about: 'Makes the task run before, beside or after the main tasks.',
  document: lifecycleBlock,
  required: ['hook'],
});

const device = specificationBlock({
  about: 'A device that the task needs, such as a GPU.',
  document: deviceBlock,
  label: 'Name',
  blocks: { constraint: many('Constraints', constraint), affinity: many('Affinities', affinity) },
});

const numa = specificationBlock({
  about: 'Placement on the cores of one NUMA node.',
  document: numaBlock,
});

export const resources = specificationBlock({
  about:
    'The resources that the task requests: `cpu` in MHz or whole `cores`, memory in MB. Functions without this block request none if their group has functions only.',
  document: resourcesBlock,
  names: { memory: 'MemoryMB', memory_max: 'MemoryMaxMB', disk: 'DiskMB', secrets: 'SecretsMB' },
  blocks: { network: many('Networks', network), device: many('Devices', device), numa: one('NUMA', numa) },
});

export const logs = specificationBlock({
  about: 'Log rotation: how much output of the task is kept.',
  document: logConfigBlock,
  names: { max_file_size: 'MaxFileSizeMB' },
});

export const volumeMount = specificationBlock({
  about: 'Mounts a volume of the group into the task.',
  document: volumeMountBlock,
  names: { selinux_label: 'SELinuxLabel' },
});

export const identity = specificationBlock({
  about: 'A signed token that identifies the task to others.',
  document: identityBlock,
  names: { aud: 'Audience' },
});

export const artifact = specificationBlock({
  about: 'A file or archive that is fetched before the task starts.',
  document: artifactBlock,
  names: { source: 'GetterSource', mode: 'GetterMode', insecure: 'GetterInsecure', destination: 'RelativeDest' },
  blocks: { options: map('GetterOptions'), headers: map('GetterHeaders') },
});

export const vault = specificationBlock({
  about: 'Passes a Vault token to the task.',
  document: vaultBlock,
  finish: (draft) => fill(draft, { Env: true, DisableFile: false, ChangeMode: 'restart' }),
});

const changeScript = specificationBlock({
  about: 'The script that `change_mode = "script"` runs in the task.',
  document: changeScriptBlock,
  finish: (draft) => {
    const { Args, Timeout, FailOnError, RunOnFirstRender } = changeScriptDefaults;
    fill(draft, { Args: [...Args], Timeout, FailOnError, RunOnFirstRender });
  },
});

const wait = specificationBlock({
  about: 'How long the inputs of a template must be stable before it is rendered.',
  document: waitBlock,
});

export const template = specificationBlock({
  about: 'A file that is rendered from a template and watched for changes.',
  document: templateBlock,
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

export const dispatchPayload = specificationBlock({
  about: 'The file for the payload of a dispatched job.',
  document: dispatchPayloadBlock,
});

export const csiPlugin = specificationBlock({
  about: 'Makes the task a storage plugin.',
  document: csiPluginBlock,
});

export const secret = specificationBlock({
  about: 'A secret that the task reads through a provider.',
  document: secretBlock,
  label: 'Name',
  blocks: { config: freeForm('Config'), env: map('Env') },
});

export const action = specificationBlock({
  about: 'A command that can be run in the task by name.',
  document: actionBlock,
  label: 'Name',
  required: ['command'],
});

const cron = specificationBlock({
  about: 'When the task starts and ends.',
  document: scheduleCronBlock,
});

export const schedule = specificationBlock({
  about: 'Lets the task run only at certain times.',
  document: scheduleBlock,
  blocks: { cron: one('Cron', cron) },
});
