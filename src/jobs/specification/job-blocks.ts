import type { DecodedBlock, Report } from '../../hcl/decode/schema.js';
import {
  jobBlock,
  multiregionBlock,
  multiregionRegionBlock,
  multiregionStrategyBlock,
  parameterizedBlock,
  periodicBlock,
  uiBlock,
  uiLinkBlock,
} from '../document/job.js';
import { taskBlock } from '../document/task.js';
import { mountOptionsBlock, taskGroupBlock, volumeBlock } from '../document/task-group.js';
import { service } from './service-blocks.js';
import {
  affinity,
  constraint,
  consul,
  disconnect,
  ephemeralDisk,
  groupScaling,
  migrate,
  network,
  reschedule,
  restart,
  spread,
  taskScaling,
  update,
} from './shared-blocks.js';
import {
  type Draft,
  freeForm,
  inherited,
  keyed,
  many,
  map,
  mapOrAttribute,
  one,
  specified,
} from './specification-table.js';
import {
  action,
  artifact,
  csiPlugin,
  dispatchPayload,
  identity,
  lifecycle,
  logs,
  resources,
  schedule,
  secret,
  template,
  vault,
  volumeMount,
} from './task-part-blocks.js';

const task = specified(taskBlock, 'One unit of work, run by a driver.', {
  label: 'Name',
  blocks: {
    lifecycle: one('Lifecycle', lifecycle),
    config: freeForm('Config'),
    constraint: many('Constraints', constraint),
    affinity: many('Affinities', affinity),
    env: mapOrAttribute('Env'),
    service: many('Services', service),
    resources: one('Resources', resources),
    restart: one('RestartPolicy', restart),
    meta: mapOrAttribute('Meta'),
    logs: one('LogConfig', logs),
    artifact: many('Artifacts', artifact),
    vault: one('Vault', vault),
    consul: one('Consul', consul),
    template: many('Templates', template),
    dispatch_payload: one('DispatchPayload', dispatchPayload),
    volume_mount: many('VolumeMounts', volumeMount),
    csi_plugin: one('CSIPluginConfig', csiPlugin),
    scaling: many('ScalingPolicies', taskScaling),
    secret: many('Secrets', secret),
    identity: many('Identities', identity),
    action: many('Actions', action),
    schedule: one('Schedule', schedule),
  },
  finish: (draft, block, report) => {
    separateIdentity(draft);
    reportRepeatedScaling(block, report);
  },
});

/** The first identity without a name, or with the name `default`, is the task's own. */
function separateIdentity(draft: Draft): void {
  const identities = draft['Identities'] as Draft[] | null;
  const own = identities?.find(({ Name }) => Name === '' || Name === 'default');
  if (identities === null || own === undefined) return;
  draft['Identity'] = own;
  draft['Identities'] = identities.filter((other) => other !== own);
}

function reportRepeatedScaling(block: DecodedBlock, report: Report): void {
  const seen = new Set<string>();
  for (const scaling of block.body.blocks.get('scaling') ?? []) {
    const resource = scaling.labels[0]?.text.toLowerCase() ?? '';
    if (seen.has(resource)) {
      report(scaling.range, { code: 'duplicate_block', message: `The resource "${resource}" is already scaled.` });
    }
    seen.add(resource);
  }
}

const mountOptions = specified(mountOptionsBlock, 'How the volume is mounted.');

const volume = specified(volumeBlock, 'A volume that the tasks of the group may mount.', {
  label: 'Name',
  blocks: { mount_options: one('MountOptions', mountOptions) },
});

const group = specified(taskGroupBlock, 'Tasks that are placed together on one node.', {
  label: 'Name',
  blocks: {
    constraint: many('Constraints', constraint),
    affinity: many('Affinities', affinity),
    task: many('Tasks', task),
    spread: many('Spreads', spread),
    volume: keyed('Volumes', volume),
    restart: one('RestartPolicy', restart),
    disconnect: one('Disconnect', disconnect),
    reschedule: one('ReschedulePolicy', reschedule),
    ephemeral_disk: one('EphemeralDisk', ephemeralDisk),
    update: one('Update', update),
    migrate: one('Migrate', migrate),
    network: many('Networks', network),
    meta: mapOrAttribute('Meta'),
    service: many('Services', service),
    scaling: one('Scaling', groupScaling),
    consul: one('Consul', consul),
    vault: inherited('once', vault),
    secret: inherited('many', secret),
  },
});

const multiregionStrategy = specified(multiregionStrategyBlock, 'How a change is rolled out over the regions.');

const multiregionRegion = specified(multiregionRegionBlock, 'One region of the job.', {
  label: 'Name',
  blocks: { meta: map('Meta') },
});

const multiregion = specified(multiregionBlock, 'Runs the job in several regions.', {
  blocks: { strategy: one('Strategy', multiregionStrategy), region: many('Regions', multiregionRegion) },
});

const periodic = specified(periodicBlock, 'Launches an instance of the job at every time of a schedule.', {
  names: { cron: 'Spec', crons: 'Specs' },
  omitted: ['SpecType'],
  finish: (draft) => {
    if (draft['Spec'] !== null || draft['Specs'] !== null) draft['SpecType'] = 'cron';
  },
});

const parameterized = specified(
  parameterizedBlock,
  'Makes the job a template that is dispatched with a payload and meta.',
);

const uiLink = specified(uiLinkBlock, 'A link on the page of the job.');

const ui = specified(uiBlock, 'A description and links for web interfaces.', {
  blocks: { link: many('Links', uiLink) },
});

const setByServer = [
  ...['Stop', 'ParentID', 'Dispatched', 'DispatchIdempotencyToken', 'Payload', 'ConsulNamespace', 'VaultNamespace'],
  ...['NomadTokenID', 'Status', 'StatusDescription', 'Stable', 'Version', 'SubmitTime'],
  ...['CreateIndex', 'ModifyIndex', 'JobModifyIndex'],
];

/** The one block of a job specification. Its label is the ID and the name, unless these are given as attributes. */
export const jobSpecification = specified(jobBlock, 'A job: the work to run, and its policies.', {
  discardedLabel: 'ID',
  omitted: setByServer,
  blocks: {
    constraint: many('Constraints', constraint),
    affinity: many('Affinities', affinity),
    group: many('TaskGroups', group),
    update: one('Update', update),
    multiregion: one('Multiregion', multiregion),
    spread: many('Spreads', spread),
    periodic: one('Periodic', periodic),
    parameterized: one('ParameterizedJob', parameterized),
    reschedule: one('Reschedule', reschedule),
    migrate: one('Migrate', migrate),
    meta: mapOrAttribute('Meta'),
    ui: one('UI', ui),
    task: inherited('many', task),
    vault: inherited('once', vault),
    secret: inherited('many', secret),
  },
  finish: (draft, block) => {
    const label = block.labels[0]?.text ?? '';
    draft['ID'] ??= label;
    draft['Name'] ??= label;
  },
});
