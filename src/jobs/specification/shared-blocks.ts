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
import { type Draft, freeForm, many, one, type Shorthand, specified } from './specification-table.js';

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

export const constraint = specified(constraintBlock, 'A rule that a node must satisfy.', {
  names: { attribute: 'LTarget', value: 'RTarget', operator: 'Operand' },
  shorthands: {
    ...shorthandsOf(constraintOperators),
    distinct_hosts: { is: 'bool', about: '`operator = "distinct_hosts"`: no two allocations on one node' },
    distinct_property: { is: 'string', about: '`operator = "distinct_property"` with this `attribute`' },
  },
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
});

export const affinity = specified(
  affinityBlock,
  'A rule that a node should satisfy, with a weight from -100 (avoid) to 100 (prefer).',
  {
    omitted: ['Weight'],
    names: { attribute: 'LTarget', value: 'RTarget', operator: 'Operand' },
    shorthands: {
      ...shorthandsOf(affinityOperators),
      weight: { is: 'number', about: 'from -100 to 100; fractions are truncated' },
    },
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
  },
);

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

const spreadTarget = specified(
  spreadTargetBlock,
  'The share of allocations that one value of the attribute should get.',
  {
    label: 'Value',
  },
);

export const spread = specified(spreadBlock, 'An attribute over whose values allocations are spread.', {
  blocks: { target: many('SpreadTarget', spreadTarget) },
});

const port = specified(portBlock, 'A port of the network; dynamic unless `static` is given.', {
  label: 'Label',
  names: { static: 'Value' },
});

const dns = specified(dnsBlock, 'Name resolution inside the network.');

const cni = specified(cniBlock, 'Arguments for the network plugin.');

export const network = specified(networkBlock, 'The network of a group (or, deprecated, of a task).', {
  names: { mbits: 'MBits' },
  blocks: {
    dns: one('DNS', dns),
    reserved_ports: many('ReservedPorts', port),
    port: many('DynamicPorts', port),
    cni: one('CNI', cni),
  },
  finish: splitPorts,
});

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

export const update = specified(
  updateBlock,
  'How a changed group is replaced: a rolling update, with canaries and automatic rollback on request.',
);

export const migrate = specified(migrateBlock, 'How allocations leave a draining node.');

export const restart = specified(restartBlock, 'How often a failed task is restarted on its node.');

export const reschedule = specified(
  rescheduleBlock,
  'How often a failed allocation is replaced, possibly on another node.',
);

export const disconnect = specified(disconnectBlock, 'What happens to allocations on a disconnected node.');

export const ephemeralDisk = specified(ephemeralDiskBlock, 'The disk that the tasks of the group share.', {
  names: { size: 'SizeMB' },
});

export const consul = specified(consulBlock, 'Settings for the service catalogue Consul.');

export const checkRestart = specified(checkRestartBlock, 'When a failing check restarts the task.');

const scalingOfServer = ['ID', 'Namespace', 'Target', 'CreateIndex', 'ModifyIndex'];

export const groupScaling = specified(scalingBlock, "Bounds for the group's count, and a policy for an autoscaler.", {
  omitted: scalingOfServer,
  required: ['max'],
  blocks: { policy: freeForm('Policy') },
  finish: (draft, block, report) => requireType(draft, block, 'horizontal', report),
});

const verticalTypes: ReadonlyMap<string, string> = new Map([
  ['cpu', 'vertical_cpu'],
  ['mem', 'vertical_mem'],
]);

/** Its label names the scaled resource and is not stored. */
export const taskScaling = specified(
  scalingBlock,
  'Bounds for one resource of the task (`cpu` or `mem`), and a policy for an autoscaler.',
  {
    discardedLabel: 'resource',
    omitted: scalingOfServer,
    blocks: { policy: freeForm('Policy') },
    finish: (draft, block, report) => {
      const label = block.labels[0];
      const type = verticalTypes.get(label?.text.toLowerCase() ?? '');
      if (label === undefined) return;
      if (type === undefined)
        report(label.range, { message: 'The label of a scaling block of a task is "cpu" or "mem".' });
      else requireType(draft, block, type, report);
    },
  },
);

function requireType(draft: Draft, block: DecodedBlock, type: string, report: Report): void {
  const given = block.body.attributes.get('type');
  if (given !== undefined && given.value !== '' && given.value !== type) {
    report(given.valueStart, { message: `The type of this scaling policy is "${type}"; leave the attribute out.` });
  }
  draft['Type'] = type;
}
