import { regularExpression } from '../../shared/regular-expression.js';
import { quoted } from '../../shared/values.js';
import { parseVersionConstraint } from '../../versions/version-constraint.js';
import type { Affinity, Constraint, Spread } from '../document/placement.js';
import type { Report } from './problems.js';

/** A report for one element of a list. */
type At = (place: string) => Report;

const comparisons = new Set(['=', '==', 'is', '!=', 'not', '<', '<=', '>', '>=']);
const sets = new Set(['set_contains', 'set_contains_all', 'set_contains_any']);

/** `where` is the level: only jobs and groups may require distinct nodes. */
export function validateConstraints(
  constraints: readonly Constraint[] | null,
  where: 'job' | 'group' | 'task' | 'device',
  at: At,
): void {
  constraints?.forEach((constraint, index) => {
    const report = at(`constraint ${index + 1}`);
    const isDistinct = constraint.Operand === 'distinct_hosts' || constraint.Operand === 'distinct_property';
    if (isDistinct && where === 'device') {
      report(`${constraint.Operand} is for jobs and groups, not for a device`);
      return;
    }
    validateConstraint(constraint, report);
    if (isDistinct && where === 'task') report(`${constraint.Operand} is for jobs and groups, not for a task`);
  });
}

function validateConstraint(constraint: Constraint, report: Report): void {
  const { Operand, LTarget, RTarget } = constraint;
  if (Operand === '') report('an operator is required');
  if (Operand === 'distinct_hosts') return;
  if (Operand === 'distinct_property') validateLimit(RTarget, report);
  else if (Operand === 'is_set' || Operand === 'is_not_set') {
    if (RTarget !== '') report(`${Operand} does not accept a value`);
  } else validateMatcher(Operand, RTarget, report);
  validateTarget(LTarget, report);
}

/** How many allocations may share a value of the property; 1 when not given. */
function validateLimit(text: string, report: Report): void {
  if (text === '') return;
  if (!/^[0-9]{1,20}$/.test(text) || BigInt(text) >= 2n ** 64n) {
    report(`distinct_property needs a whole number of at least 1, not ${quoted(text)}`);
  } else if (BigInt(text) === 0n) report('distinct_property needs a number of at least 1');
}

/** Operators that constraints and affinities share. */
function validateMatcher(operand: string, value: string, report: Report): void {
  if (comparisons.has(operand) || sets.has(operand)) {
    if (value === '') report(`the operator ${operand} needs a value`);
  } else if (operand === 'regexp') {
    const expression = regularExpression(value);
    if (expression.isErr()) report(`the value is not a regular expression: ${expression.error}`);
  } else if (operand === 'version' || operand === 'semver') {
    const constraint = parseVersionConstraint(value, operand === 'version' ? 'loose' : 'semver');
    if (constraint.isErr()) report(`${quoted(value)} is not a valid ${operand} constraint such as ">= 1.2.0"`);
  } else {
    report(`unknown operator ${quoted(operand)}`);
  }
}

const knownTargets = new Set(['node.unique.id', 'node.unique.name', 'node.datacenter', 'node.class', 'node.pool']);
const targetPrefixes = ['attr.', 'meta.', 'device.'];

/** A string that begins with `$` must be an interpolation of a node attribute; any other string is a literal. */
function validateTarget(target: string, report: Report): void {
  if (target === '') report('an attribute is required');
  else if (target.startsWith('$')) {
    const name = target.startsWith('${') && target.endsWith('}') ? target.slice(2, -1) : undefined;
    const isKnown =
      name !== undefined && (targetPrefixes.some((prefix) => name.startsWith(prefix)) || knownTargets.has(name));
    if (!isKnown) report(`${quoted(target)} is not an attribute of a node`);
  }
}

export function validateAffinities(affinities: readonly Affinity[] | null, at: At): void {
  affinities?.forEach((affinity, index) => {
    const report = at(`affinity ${index + 1}`);
    if (affinity.Operand === '') report('an operator is required');
    validateMatcher(affinity.Operand, affinity.RTarget, report);
    validateTarget(affinity.LTarget, report);
    if (affinity.Weight === 0) report('a weight of 0 has no effect');
    else if (Math.abs(affinity.Weight) > 100) report(`the weight must be from -100 to 100, not ${affinity.Weight}`);
  });
}

export function validateSpreads(spreads: readonly Spread[] | null, at: At): void {
  spreads?.forEach((spread, index) => {
    const report = at(`spread ${index + 1}`);
    if (spread.Attribute === '') report('an attribute is required');
    if (spread.Weight < 1 || spread.Weight > 100) report(`the weight must be from 1 to 100, not ${spread.Weight}`);
    const seen = new Set<string>();
    let sum = 0;
    for (const target of spread.SpreadTarget ?? []) {
      if (seen.has(target.Value)) report(`the target ${quoted(target.Value)} is named twice`);
      seen.add(target.Value);
      if (target.Percent > 100) report(`the target ${quoted(target.Value)} has more than 100 percent`);
      sum += target.Percent;
    }
    if (sum > 100) report(`the targets add up to ${sum} percent, more than 100`);
  });
}
