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
import { type Draft, freeForm, many, map, one, type SpecificationBlock } from './specification-table.js';

/** Fills what is null. */
function fill(draft: Draft, defaults: Draft): void {
  for (const [field, value] of Object.entries(defaults)) draft[field] ??= value;
}

export const lifecycle: SpecificationBlock = {
  about: 'Makes the task run before, beside or after the main tasks.',
  document: lifecycleBlock,
  attributes: { hook: 'Hook', sidecar: 'Sidecar' },
  required: ['hook'],
  blocks: {},
};

const device: SpecificationBlock = {
  about: 'A device that the task needs, such as a GPU.',
  document: deviceBlock,
  label: 'Name',
  attributes: { count: 'Count' },
  blocks: { constraint: many('Constraints', constraint), affinity: many('Affinities', affinity) },
};

const numa: SpecificationBlock = {
  about: 'Placement on the cores of one NUMA node.',
  document: numaBlock,
  attributes: { affinity: 'Affinity', devices: 'Devices' },
  blocks: {},
};

export const resources: SpecificationBlock = {
  about:
    'The resources that the task requests: `cpu` in MHz or whole `cores`, memory in MB. Functions without this block request none if their group has functions only.',
  document: resourcesBlock,
  attributes: {
    cpu: 'CPU',
    cores: 'Cores',
    memory: 'MemoryMB',
    memory_max: 'MemoryMaxMB',
    disk: 'DiskMB',
    iops: 'IOPS',
    secrets: 'SecretsMB',
  },
  blocks: { network: many('Networks', network), device: many('Devices', device), numa: one('NUMA', numa) },
};

export const logs: SpecificationBlock = {
  about: 'Log rotation: how much output of the task is kept.',
  document: logConfigBlock,
  attributes: { max_files: 'MaxFiles', max_file_size: 'MaxFileSizeMB', enabled: 'Enabled', disabled: 'Disabled' },
  blocks: {},
};

export const volumeMount: SpecificationBlock = {
  about: 'Mounts a volume of the group into the task.',
  document: volumeMountBlock,
  attributes: {
    volume: 'Volume',
    destination: 'Destination',
    read_only: 'ReadOnly',
    propagation_mode: 'PropagationMode',
    selinux_label: 'SELinuxLabel',
  },
  blocks: {},
};

export const identity: SpecificationBlock = {
  about: 'A signed token that identifies the task to others.',
  document: identityBlock,
  attributes: {
    name: 'Name',
    aud: 'Audience',
    change_mode: 'ChangeMode',
    change_signal: 'ChangeSignal',
    env: 'Env',
    file: 'File',
    filepath: 'Filepath',
    service_name: 'ServiceName',
    ttl: 'TTL',
    extra_claims: 'ExtraClaims',
  },
  blocks: {},
};

export const artifact: SpecificationBlock = {
  about: 'A file or archive that is fetched before the task starts.',
  document: artifactBlock,
  attributes: {
    source: 'GetterSource',
    mode: 'GetterMode',
    insecure: 'GetterInsecure',
    destination: 'RelativeDest',
    chown: 'Chown',
  },
  blocks: { options: map('GetterOptions'), headers: map('GetterHeaders') },
};

export const vault: SpecificationBlock = {
  about: 'Passes a Vault token to the task.',
  document: vaultBlock,
  attributes: {
    policies: 'Policies',
    role: 'Role',
    namespace: 'Namespace',
    cluster: 'Cluster',
    env: 'Env',
    disable_file: 'DisableFile',
    change_mode: 'ChangeMode',
    change_signal: 'ChangeSignal',
    allow_token_expiration: 'AllowTokenExpiration',
  },
  blocks: {},
  finish: (draft) => fill(draft, { Env: true, DisableFile: false, ChangeMode: 'restart' }),
};

const changeScript: SpecificationBlock = {
  about: 'The script that `change_mode = "script"` runs in the task.',
  document: changeScriptBlock,
  attributes: {
    command: 'Command',
    args: 'Args',
    timeout: 'Timeout',
    fail_on_error: 'FailOnError',
    run_on_first_render: 'RunOnFirstRender',
  },
  blocks: {},
  finish: (draft) => {
    const { Args, Timeout, FailOnError, RunOnFirstRender } = changeScriptDefaults;
    fill(draft, { Args: [...Args], Timeout, FailOnError, RunOnFirstRender });
  },
};

const wait: SpecificationBlock = {
  about: 'How long the inputs of a template must be stable before it is rendered.',
  document: waitBlock,
  attributes: { min: 'Min', max: 'Max' },
  blocks: {},
};

export const template: SpecificationBlock = {
  about: 'A file that is rendered from a template and watched for changes.',
  document: templateBlock,
  attributes: {
    source: 'SourcePath',
    destination: 'DestPath',
    data: 'EmbeddedTmpl',
    change_mode: 'ChangeMode',
    change_signal: 'ChangeSignal',
    once: 'Once',
    splay: 'Splay',
    perms: 'Perms',
    uid: 'Uid',
    gid: 'Gid',
    left_delimiter: 'LeftDelim',
    right_delimiter: 'RightDelim',
    env: 'Envvars',
    vault_grace: 'VaultGrace',
    error_on_missing_key: 'ErrMissingKey',
  },
  blocks: { change_script: one('ChangeScript', changeScript), wait: one('Wait', wait) },
  finish: (draft) =>
    fill(draft, { ChangeMode: 'restart', Perms: '0644', Splay: 5 * secondNanos, ErrMissingKey: false }),
};

export const dispatchPayload: SpecificationBlock = {
  about: 'The file for the payload of a dispatched job.',
  document: dispatchPayloadBlock,
  attributes: { file: 'File' },
  blocks: {},
};

export const csiPlugin: SpecificationBlock = {
  about: 'Makes the task a storage plugin.',
  document: csiPluginBlock,
  attributes: {
    id: 'ID',
    type: 'Type',
    mount_dir: 'MountDir',
    stage_publish_base_dir: 'StagePublishBaseDir',
    health_timeout: 'HealthTimeout',
  },
  blocks: {},
};

export const secret: SpecificationBlock = {
  about: 'A secret that the task reads through a provider.',
  document: secretBlock,
  label: 'Name',
  attributes: { provider: 'Provider', path: 'Path' },
  blocks: { config: freeForm('Config'), env: map('Env') },
};

export const action: SpecificationBlock = {
  about: 'A command that can be run in the task by name.',
  document: actionBlock,
  label: 'Name',
  attributes: { command: 'Command', args: 'Args' },
  required: ['command'],
  blocks: {},
};

const cron: SpecificationBlock = {
  about: 'When the task starts and ends.',
  document: scheduleCronBlock,
  attributes: { start: 'Start', end: 'End', timezone: 'Timezone' },
  blocks: {},
};

export const schedule: SpecificationBlock = {
  about: 'Lets the task run only at certain times.',
  document: scheduleBlock,
  attributes: {},
  blocks: { cron: one('Cron', cron) },
};
