import { block, int8, integerOf, integerOrNullOf, many, oneOf, text, uint8 } from './field-table.js';

/** Operators that constraints and affinities share. */
const matchers = [
  '=',
  '==',
  'is',
  '!=',
  'not',
  '<',
  '<=',
  '>',
  '>=',
  'regexp',
  'version',
  'semver',
  'set_contains',
  'set_contains_all',
  'set_contains_any',
] as const;

export const constraintBlock = block('Constraint', {
  LTarget: text,
  RTarget: text,
  Operand: oneOf(...matchers, 'is_set', 'is_not_set', 'distinct_hosts', 'distinct_property'),
});

export const affinityBlock = block('Affinity', {
  LTarget: text,
  RTarget: text,
  Operand: oneOf(...matchers),
  Weight: integerOrNullOf(int8),
});

export const spreadTargetBlock = block('SpreadTarget', { Value: text, Percent: integerOf(uint8) });

export const spreadBlock = block('Spread', {
  Attribute: text,
  Weight: integerOrNullOf(int8),
  SpreadTarget: many(spreadTargetBlock),
});
