import type { DecodedBlock, Report } from '../../hcl/decode/schema.js';
import {
  checkRestartBlock,
  consulBlock,
  disconnectBlock,
  ephemeralDiskBlock,
  migrateBlock,
  rescheduleBlock,
  restartBlock,
  scalingBlock,
  updateBlock,
} from '../document/policies.js';
import { type Draft, freeForm, type SpecificationBlock } from './specification-table.js';

export const update: SpecificationBlock = {
  about: 'How a changed group is replaced: a rolling update, with canaries and automatic rollback on request.',
  document: updateBlock,
  attributes: {
    stagger: 'Stagger',
    max_parallel: 'MaxParallel',
    health_check: 'HealthCheck',
    min_healthy_time: 'MinHealthyTime',
    healthy_deadline: 'HealthyDeadline',
    progress_deadline: 'ProgressDeadline',
    canary: 'Canary',
    auto_revert: 'AutoRevert',
    auto_promote: 'AutoPromote',
  },
  blocks: {},
};

export const migrate: SpecificationBlock = {
  about: 'How allocations leave a draining node.',
  document: migrateBlock,
  attributes: {
    max_parallel: 'MaxParallel',
    health_check: 'HealthCheck',
    min_healthy_time: 'MinHealthyTime',
    healthy_deadline: 'HealthyDeadline',
  },
  blocks: {},
};

export const restart: SpecificationBlock = {
  about: 'How often a failed task is restarted on its node.',
  document: restartBlock,
  attributes: {
    interval: 'Interval',
    attempts: 'Attempts',
    delay: 'Delay',
    mode: 'Mode',
    render_templates: 'RenderTemplates',
  },
  blocks: {},
};

export const reschedule: SpecificationBlock = {
  about: 'How often a failed allocation is replaced, possibly on another node.',
  document: rescheduleBlock,
  attributes: {
    attempts: 'Attempts',
    interval: 'Interval',
    delay: 'Delay',
    delay_function: 'DelayFunction',
    max_delay: 'MaxDelay',
    unlimited: 'Unlimited',
  },
  blocks: {},
};

export const disconnect: SpecificationBlock = {
  about: 'What happens to allocations on a disconnected node.',
  document: disconnectBlock,
  attributes: {
    lost_after: 'LostAfter',
    stop_on_client_after: 'StopOnClientAfter',
    replace: 'Replace',
    reconcile: 'Reconcile',
  },
  blocks: {},
};

export const ephemeralDisk: SpecificationBlock = {
  about: 'The disk that the tasks of the group share.',
  document: ephemeralDiskBlock,
  attributes: { sticky: 'Sticky', migrate: 'Migrate', size: 'SizeMB' },
  blocks: {},
};

export const consul: SpecificationBlock = {
  about: 'Settings for the service catalogue Consul.',
  document: consulBlock,
  attributes: { namespace: 'Namespace', cluster: 'Cluster', partition: 'Partition' },
  blocks: {},
};

export const checkRestart: SpecificationBlock = {
  about: 'When a failing check restarts the task.',
  document: checkRestartBlock,
  attributes: { limit: 'Limit', grace: 'Grace', ignore_warnings: 'IgnoreWarnings' },
  blocks: {},
};

const scalingAttributes = { min: 'Min', max: 'Max', enabled: 'Enabled', type: 'Type' };

export const groupScaling: SpecificationBlock = {
  about: "Bounds for the group's count, and a policy for an autoscaler.",
  document: scalingBlock,
  attributes: scalingAttributes,
  required: ['max'],
  blocks: { policy: freeForm('Policy') },
  finish: (draft, block, report) => requireType(draft, block, 'horizontal', report),
};

const verticalTypes: ReadonlyMap<string, string> = new Map([
  ['cpu', 'vertical_cpu'],
  ['mem', 'vertical_mem'],
]);

/** Its label names the scaled resource and is not stored. */
export const taskScaling: SpecificationBlock = {
  about: 'Bounds for one resource of the task (`cpu` or `mem`), and a policy for an autoscaler.',
  document: scalingBlock,
  discardedLabel: 'resource',
  attributes: scalingAttributes,
  blocks: { policy: freeForm('Policy') },
  finish: (draft, block, report) => {
    const label = block.labels[0];
    const type = verticalTypes.get(label?.text.toLowerCase() ?? '');
    if (label === undefined) return;
    if (type === undefined)
      report(label.range, { message: 'The label of a scaling block of a task is "cpu" or "mem".' });
    else requireType(draft, block, type, report);
  },
};

function requireType(draft: Draft, block: DecodedBlock, type: string, report: Report): void {
  const given = block.body.attributes.get('type');
  if (given !== undefined && given.value !== '' && given.value !== type) {
    report(given.valueStart, { message: `The type of this scaling policy is "${type}"; leave the attribute out.` });
  }
  draft['Type'] = type;
}
