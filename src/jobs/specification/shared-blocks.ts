import type { DecodedBlock, Report } from '../../hcl/decode/schema.js';
import { cniBlock, dnsBlock, networkBlock, portBlock } from '../document/network.js';
import { affinityBlock, constraintBlock, spreadBlock, spreadTargetBlock } from '../document/placement.js';
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
import { type Draft, freeForm, many, one, type Shorthand, type SpecificationBlock } from './specification-table.js';

const operatorShorthand = (operator: string): Shorthand => ({
  is: 'string',
  about: `\`operator = "${operator}"\`${comparesNothing(operator) ? '' : ' with this `value`'}`,
});

/** Whether the operator only tests that the attribute is set, so that it has no value. */
function comparesNothing(operator: string): boolean {
  return operator === 'is_set' || operator === 'is_not_set';
}

/** Operators that may be written as a separate attribute; if several are given, the last one applies. */
const constraintOperators = [
  'version',
  'semver',
  'regexp',
  'set_contains',
  'set_contains_any',
  'set_contains_all',
  'is_set',
  'is_not_set',
];
const affinityOperators = ['version', 'semver', 'regexp', 'set_contains_any', 'set_contains_all', 'set_contains'];

function shorthandsOf(operators: readonly string[]): Record<string, Shorthand> {
  return Object.fromEntries(operators.map((operator) => [operator, operatorShorthand(operator)]));
}

export const constraint: SpecificationBlock = {
  about: 'A rule that a node must satisfy.',
  document: constraintBlock,
  attributes: { attribute: 'LTarget', value: 'RTarget', operator: 'Operand' },
  shorthands: {
    ...shorthandsOf(constraintOperators),
    distinct_hosts: { is: 'bool', about: '`operator = "distinct_hosts"`: no two allocations on one node' },
    distinct_property: { is: 'string', about: '`operator = "distinct_property"` with this `attribute`' },
  },
  blocks: {},
  finish: (draft, block) => {
    applyOperator(draft, block, constraintOperators);
    const hosts = block.body.attributes.get('distinct_hosts')?.value;
    if (typeof hosts === 'boolean') Object.assign(draft, { Operand: 'distinct_hosts', RTarget: String(hosts) });
    const property = block.body.attributes.get('distinct_property')?.value;
    if (typeof property === 'string' && property !== '') {
      Object.assign(draft, { Operand: 'distinct_property', LTarget: property });
    }
    if (draft['Operand'] === '') draft['Operand'] = '=';
  },
};

export const affinity: SpecificationBlock = {
  about: 'A rule that a node should satisfy, with a weight from -100 (avoid) to 100 (prefer).',
  document: affinityBlock,
  attributes: { attribute: 'LTarget', value: 'RTarget', operator: 'Operand' },
  shorthands: {
    ...shorthandsOf(affinityOperators),
    weight: { is: 'number', about: 'from -100 to 100; fractions are truncated' },
  },
  blocks: {},
  finish: (draft, block, report) => {
    applyOperator(draft, block, affinityOperators);
    if (draft['Operand'] === '') draft['Operand'] = '=';
    const weight = block.body.attributes.get('weight');
    if (weight === undefined || typeof weight.value !== 'number') return;
    const whole = Math.trunc(weight.value) + 0;
    if (whole < -128 || whole > 127) {
      report(weight.valueStart, { code: 'out_of_range', message: 'The weight must be between -100 and 100.' });
    }
    draft['Weight'] = whole;
  },
};

/** An operator given as an attribute overrides `operator` and `value`; the empty string counts as not given. */
function applyOperator(draft: Draft, block: DecodedBlock, operators: readonly string[]): void {
  for (const operator of operators) {
    const value = block.body.attributes.get(operator)?.value;
    if (typeof value !== 'string' || value === '') continue;
    draft['Operand'] = operator;
    draft['RTarget'] = comparesNothing(operator) ? '' : value;
    if (comparesNothing(operator) && draft['LTarget'] === '') draft['LTarget'] = value;
  }
}

const spreadTarget: SpecificationBlock = {
  about: 'The share of allocations that one value of the attribute should get.',
  document: spreadTargetBlock,
  label: 'Value',
  attributes: { percent: 'Percent' },
  blocks: {},
};

export const spread: SpecificationBlock = {
  about: 'An attribute over whose values allocations are spread.',
  document: spreadBlock,
  attributes: { attribute: 'Attribute', weight: 'Weight' },
  blocks: { target: many('SpreadTarget', spreadTarget) },
};

const port: SpecificationBlock = {
  about: 'A port of the network; dynamic unless `static` is given.',
  document: portBlock,
  label: 'Label',
  attributes: { static: 'Value', to: 'To', host_network: 'HostNetwork', ignore_collision: 'IgnoreCollision' },
  blocks: {},
};

const dns: SpecificationBlock = {
  about: 'Name resolution inside the network.',
  document: dnsBlock,
  attributes: { servers: 'Servers', searches: 'Searches', options: 'Options' },
  blocks: {},
};

const cni: SpecificationBlock = {
  about: 'Arguments for the network plugin.',
  document: cniBlock,
  attributes: { args: 'Args' },
  blocks: {},
};

export const network: SpecificationBlock = {
  about: 'The network of a group (or, deprecated, of a task).',
  document: networkBlock,
  attributes: {
    mode: 'Mode',
    device: 'Device',
    cidr: 'CIDR',
    ip: 'IP',
    hostname: 'Hostname',
    mbits: 'MBits',
  },
  blocks: {
    dns: one('DNS', dns),
    reserved_ports: many('ReservedPorts', port),
    port: many('DynamicPorts', port),
    cni: one('CNI', cni),
  },
  finish: splitPorts,
};

/** A `port` block with a static number is a reserved port. */
function splitPorts(draft: Draft): void {
  const ports = draft['DynamicPorts'] as Draft[] | null;
  if (ports === null) return;
  const isReserved = ({ Value }: Draft): boolean => typeof Value === 'number' && Value > 0;
  const reserved = [...((draft['ReservedPorts'] as Draft[] | null) ?? []), ...ports.filter(isReserved)];
  const dynamic = ports.filter((candidate) => !isReserved(candidate));
  draft['ReservedPorts'] = reserved.length === 0 ? null : reserved;
  draft['DynamicPorts'] = dynamic.length === 0 ? null : dynamic;
}

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
