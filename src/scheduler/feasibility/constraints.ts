import type { Constraint } from '../../jobs/document/placement.js';
import { parseBoolean } from '../../shared/text-values.js';
import type { Node } from '../node.js';
import { checkConstraint } from './constraint-operators.js';
import { resolveTarget } from './constraint-targets.js';

export function isDistinctHosts(constraint: Constraint): boolean {
  return constraint.Operand === 'distinct_hosts' && parseBoolean(constraint.RTarget) !== false;
}

/** The text under which a node that fails the constraint is counted. */
export function constraintText(constraint: Constraint): string {
  return `${constraint.LTarget} ${constraint.Operand} ${constraint.RTarget}`;
}

/** The first constraint that the node does not meet. An operand that is not known is never met: a rule is not skipped silently. */
export function firstUnmetConstraint(constraints: readonly Constraint[], node: Node): Constraint | undefined {
  return constraints.find((constraint) => !meets(constraint, node));
}

function meets({ LTarget, RTarget, Operand }: Constraint, node: Node): boolean {
  return checkConstraint(Operand, resolveTarget(LTarget, node), resolveTarget(RTarget, node));
}
