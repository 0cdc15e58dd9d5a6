import { block, int8, integerOf, integerOrNullOf, many, text, uint8 } from './field-table.js';

export const constraintBlock = block('Constraint', { LTarget: text, RTarget: text, Operand: text });

export const affinityBlock = block('Affinity', {
  LTarget: text,
  RTarget: text,
  Operand: text,
  Weight: integerOrNullOf(int8),
});

export const spreadTargetBlock = block('SpreadTarget', { Value: text, Percent: integerOf(uint8) });

export const spreadBlock = block('Spread', {
  Attribute: text,
  Weight: integerOrNullOf(int8),
  SpreadTarget: many(spreadTargetBlock),
});
