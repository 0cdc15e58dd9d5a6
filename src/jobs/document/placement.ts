import { block, int8, integerOf, integerOrNullOf, many, oneOf, text, uint8 } from './field-table.js';

/** A rule that a node must satisfy. The stored form of `ConstraintInput`, which describes the fields. */
export interface Constraint {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
}

/** A rule that a node should satisfy; `Weight` -100..100. The stored form of `AffinityInput`, which describes the fields. */
export interface Affinity {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
  readonly Weight: number;
}

/** An attribute over which allocations are spread. The stored form of `SpreadInput`, which describes the fields. */
export interface Spread {
  readonly Attribute: string;
  readonly Weight: number;
  readonly SpreadTarget: readonly SpreadTarget[] | null;
}

/** The stored form of `SpreadTargetInput`, which describes the fields. */
export interface SpreadTarget {
  readonly Value: string;
  readonly Percent: number;
}

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
