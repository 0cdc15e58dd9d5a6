import type { DecodedBlock } from '../../hcl/decode/schema.js';
import { affinityBlock, constraintBlock, spreadBlock, spreadTargetBlock } from '../document/placement.js';
import { type Draft, many, type Shorthand, type SpecificationBlock } from './specification-table.js';

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
