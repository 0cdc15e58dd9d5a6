import { block, int8, integerOf, integerOrNullOf, many, oneOf, type Stored, text, uint8 } from './field-table.js';

/** A rule that a node must satisfy. The stored form of `ConstraintInput`, which describes the fields. */
export interface Constraint extends Stored<typeof constraintBlock> {}

/** A rule that a node should satisfy; `Weight` -100..100. The stored form of `AffinityInput`, which describes the fields. */
export interface Affinity extends Stored<typeof affinityBlock> {}

/** An attribute over which allocations are spread. The stored form of `SpreadInput`, which describes the fields. */
export interface Spread extends Stored<typeof spreadBlock> {}

/** The stored form of `SpreadTargetInput`, which describes the fields. */
export interface SpreadTarget extends Stored<typeof spreadTargetBlock> {}

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

export const constraintBlock = block<Constraint>()('Constraint', {
  LTarget: text,
  RTarget: text,
  Operand: oneOf(...matchers, 'is_set', 'is_not_set', 'distinct_hosts', 'distinct_property'),
});

export const affinityBlock = block<Affinity>()('Affinity', {
  LTarget: text,
  RTarget: text,
  Operand: oneOf(...matchers),
  Weight: integerOrNullOf(int8),
});

export const spreadTargetBlock = block<SpreadTarget>()('SpreadTarget', { Value: text, Percent: integerOf(uint8) });

export const spreadBlock = block<Spread>()('Spread', {
  Attribute: text,
  Weight: integerOrNullOf(int8),
  SpreadTarget: many(spreadTargetBlock),
});
