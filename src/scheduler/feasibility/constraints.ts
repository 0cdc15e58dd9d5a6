import type { Constraint } from '../../jobs/document/placement.js';
import type { Node } from '../node.js';

/** Operands that look at the other allocations of the job and not at the node alone. */
const relational: ReadonlySet<string> = new Set(['distinct_hosts', 'distinct_property']);

export function isDistinctHosts(constraint: Constraint): boolean {
  return constraint.Operand === 'distinct_hosts' && constraint.RTarget !== 'false';
}

/** The text under which a node that fails the constraint is counted. */
export function constraintText(constraint: Constraint): string {
  return `${constraint.LTarget} ${constraint.Operand} ${constraint.RTarget}`;
}

/** The first constraint that the node does not meet. An operand that is not known is never met: a rule is not skipped silently. */
export function firstUnmetConstraint(constraints: readonly Constraint[], node: Node): Constraint | undefined {
  return constraints.find((constraint) => !relational.has(constraint.Operand) && !meets(constraint, node));
}

function meets(constraint: Constraint, node: Node): boolean {
  const left = resolveTarget(constraint.LTarget, node);
  const right = resolveTarget(constraint.RTarget, node);
  switch (constraint.Operand) {
    case '':
    case '=':
    case '==':
    case 'is':
      return left !== undefined && left === right;
    case '!=':
    case 'not':
      return (left ?? '') !== (right ?? '');
    case 'is_set':
      return left !== undefined;
    case 'is_not_set':
      return left === undefined;
    case '<':
      return compare(left, right, (order) => order < 0);
    case '<=':
      return compare(left, right, (order) => order <= 0);
    case '>':
      return compare(left, right, (order) => order > 0);
    case '>=':
      return compare(left, right, (order) => order >= 0);
    case 'set_contains':
    case 'set_contains_all':
      return left !== undefined && right !== undefined && items(right).every((item) => items(left).includes(item));
    case 'set_contains_any':
      return left !== undefined && right !== undefined && items(right).some((item) => items(left).includes(item));
    default:
      return false;
  }
}

function resolveTarget(target: string, node: Node): string | undefined {
  if (!target.startsWith('${')) return target;
  const name = target.slice(2, -1);
  switch (name) {
    case 'node.unique.id':
      return node.ID;
    case 'node.unique.name':
      return node.Name;
    case 'node.datacenter':
      return node.Datacenter;
    case 'node.class':
      return node.NodeClass;
    case 'node.pool':
      return node.NodePool;
    default:
      if (name.startsWith('attr.')) return ownValue(node.Attributes, name.slice('attr.'.length));
      if (name.startsWith('meta.')) return ownValue(node.Meta ?? {}, name.slice('meta.'.length));
      return undefined;
  }
}

function ownValue(record: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function compare(left: string | undefined, right: string | undefined, holds: (order: number) => boolean): boolean {
  if (left === undefined || right === undefined) return false;
  const leftNumber = numberFrom(left);
  const rightNumber = numberFrom(right);
  if (leftNumber !== undefined && rightNumber !== undefined) return holds(leftNumber - rightNumber);
  return holds(left < right ? -1 : left > right ? 1 : 0);
}

function numberFrom(text: string): number | undefined {
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined;
  return Number(text);
}

function items(list: string): string[] {
  return list.split(',').map((item) => item.trim());
}
