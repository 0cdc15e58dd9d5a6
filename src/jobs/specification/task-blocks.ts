import type { DecodedBlock, Report } from '../../hcl/decode/schema.js';
import { taskBlock } from '../document/task.js';
import { affinity, constraint } from './placement-blocks.js';
import { consul, restart, taskScaling } from './policy-blocks.js';
import { service } from './service-blocks.js';
import { type Draft, freeForm, many, mapOrAttribute, one, type SpecificationBlock } from './specification-table.js';
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

export const task: SpecificationBlock = {
  about: 'One unit of work, run by a driver.',
  document: taskBlock,
  label: 'Name',
  attributes: {
    driver: 'Driver',
    user: 'User',
    kill_timeout: 'KillTimeout',
    leader: 'Leader',
    shutdown_delay: 'ShutdownDelay',
    kill_signal: 'KillSignal',
    kind: 'Kind',
  },
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
};

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
