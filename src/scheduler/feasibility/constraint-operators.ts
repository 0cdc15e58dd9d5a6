import { regularExpression } from '../../shared/regular-expression.js';
import { compareBytes, parseFloat64, parseInt64, trimWhiteSpace } from '../../shared/values.js';
import { parseVersion, type VersionSyntax } from '../../versions/version.js';
import { parseVersionConstraint, satisfies } from '../../versions/version-constraint.js';
import type { Node } from '../node.js';

/** The value of one side of a constraint on a node. `value` is empty when nothing is found. */
export interface ResolvedTarget {
  readonly value: string;
  readonly found: boolean;
}

/** The properties of a node that constraints can name. */
export type ConstraintSubject = Pick<
  Node,
  'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta'
>;

const NOT_FOUND: ResolvedTarget = { value: '', found: false };

/** The names as written after `${`, including the closing brace. */
const NODE_MEMBERS = new Map([
  ['node.unique.id}', 'ID'],
  ['node.unique.name}', 'Name'],
  ['node.datacenter}', 'Datacenter'],
  ['node.class}', 'NodeClass'],
  ['node.pool}', 'NodePool'],
] as const) as ReadonlyMap<string, 'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool'>;

/**
 * Resolves a target such as `${node.datacenter}`, `${attr.kernel.name}` or `${meta.rack}` on the node. A value that does not begin with
 * `${` is a literal; any other name is not found. The closing brace may be missing after `attr` and `meta`.
 */
export function resolveTarget(target: string, node: ConstraintSubject): ResolvedTarget {
  if (!target.startsWith('${')) return { value: target, found: true };
  const name = target.slice('${'.length);
  const member = NODE_MEMBERS.get(name);
  if (member !== undefined) return { value: node[member], found: true };
  if (name.startsWith('attr.')) return entry(node.Attributes, name.slice('attr.'.length));
  if (name.startsWith('meta.')) return entry(node.Meta, name.slice('meta.'.length));
  return NOT_FOUND;
}

function entry(entries: Readonly<Record<string, string>> | null, braced: string): ResolvedTarget {
  const name = braced.endsWith('}') ? braced.slice(0, -1) : braced;
  if (entries === null || !Object.hasOwn(entries, name)) return NOT_FOUND;
  return { value: entries[name] ?? '', found: true };
}

/** Whether a constraint or affinity with this operand is met; both sides as `resolveTarget` returns them. */
type Operator = (left: ResolvedTarget, right: ResolvedTarget) => boolean;

const equal = whenBothFound((left, right) => left === right);
const containsAll = whenBothFound((left, right) => isSubset(items(right), items(left)));

/** `!=` compares values only. A side that is not found counts as the empty string, so two missing sides are equal. */
const different: Operator = (left, right) => left.value !== right.value;

const always: Operator = () => true;

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['=', equal],
  ['==', equal],
  ['is', equal],
  ['!=', different],
  ['not', different],
  ['<', whenBothFound((left, right) => isOrdered(left, right, (order) => order < 0))],
  ['<=', whenBothFound((left, right) => isOrdered(left, right, (order) => order <= 0))],
  ['>', whenBothFound((left, right) => isOrdered(left, right, (order) => order > 0))],
  ['>=', whenBothFound((left, right) => isOrdered(left, right, (order) => order >= 0))],
  ['regexp', whenBothFound(matchesPattern)],
  ['version', whenBothFound((left, right) => matchesVersion(left, right, 'loose'))],
  ['semver', whenBothFound((left, right) => matchesVersion(left, right, 'semver'))],
  ['set_contains', containsAll],
  ['set_contains_all', containsAll],
  ['set_contains_any', whenBothFound((left, right) => hasCommonItem(items(left), items(right)))],
  ['is_set', (left) => left.found],
  ['is_not_set', (left) => !left.found],
  // Both compare with other allocations, so another rule checks them.
  ['distinct_hosts', always],
  ['distinct_property', always],
]);

/** Whether a node with these values meets the constraint. An unknown operand is never met. */
export function checkConstraint(operand: string, left: ResolvedTarget, right: ResolvedTarget): boolean {
  return OPERATORS.get(operand)?.(left, right) ?? false;
}

/** Limit of instructions × characters of one match, about 20 ms at worst. Low because a pattern is matched for many nodes. */
const MAX_MATCH_WORK = 200_000;

/** An unanchored search in RE2's syntax; false for an invalid pattern, and for a value that is too long. */
export function matchesPattern(text: string, pattern: string): boolean {
  return regularExpression(pattern).match(
    ({ size, matches }) => size * text.length <= MAX_MATCH_WORK && matches(text),
    () => false,
  );
}

/**
 * Whether the value is a version that meets the constraint; false when one of them cannot be parsed. The constraint's syntax is strict,
 * that of reported versions is not: `1.2.3rc1` is accepted as well.
 */
export function matchesVersion(text: string, constraintText: string, syntax: VersionSyntax): boolean {
  const constraint = parseVersionConstraint(constraintText, syntax).unwrapOr(undefined);
  if (constraint === undefined) return false;
  return parseVersion(text, 'loose').match(
    (version) => satisfies(version, constraint),
    () => false,
  );
}

/** The items of a comma-separated list, trimmed; an empty item counts. */
export function items(list: string): ReadonlySet<string> {
  return new Set(list.split(',').map(trimWhiteSpace));
}

export function isSubset(part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean {
  for (const item of part) if (!whole.has(item)) return false;
  return true;
}

export function hasCommonItem(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  for (const item of right) if (left.has(item)) return true;
  return false;
}

function whenBothFound(holds: (left: string, right: string) => boolean): Operator {
  return (left, right) => left.found && right.found && holds(left.value, right.value);
}

/** As 64-bit integers if both are, otherwise as doubles if both are, otherwise by bytes. Comparisons with `nan` are false. */
function isOrdered(left: string, right: string, holds: (order: number) => boolean): boolean {
  const leftInteger = parseInt64(left);
  const rightInteger = leftInteger === undefined ? undefined : parseInt64(right);
  if (leftInteger !== undefined && rightInteger !== undefined) {
    return holds(leftInteger < rightInteger ? -1 : leftInteger > rightInteger ? 1 : 0);
  }
  const leftNumber = parseFloat64(left);
  const rightNumber = leftNumber === undefined ? undefined : parseFloat64(right);
  if (leftNumber === undefined || rightNumber === undefined) return holds(compareBytes(left, right));
  // Infinities are equal, yet their difference is NaN.
  return holds(leftNumber === rightNumber ? 0 : leftNumber - rightNumber);
}
