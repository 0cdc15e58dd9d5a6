import type { Affinity, Constraint, Spread } from '../document/placement.js';
import { quoted, type Report, within } from './problem-texts.js';

/** What the host contributes to the checks; whatever is left out is not checked. */
export interface PatternChecks {
  /** Why the text is no regular expression of the scheduler's dialect. */
  readonly regexpError?: (pattern: string) => string | undefined;
}

const comparisons = new Set(['=', '==', 'is', '!=', 'not', '<', '<=', '>', '>=']);
const sets = new Set(['set_contains', 'set_contains_all', 'set_contains_any']);

/** `where` is the level: only jobs and groups may ask for distinct nodes. */
export function validateConstraints(
  constraints: readonly Constraint[] | null,
  where: 'job' | 'group' | 'task' | 'device',
  checks: PatternChecks,
  report: Report,
): void {
  constraints?.forEach((constraint, index) => {
    const at = within(report, `constraint ${index + 1}`);
    validateConstraint(constraint, checks, at);
    if (where !== 'job' && where !== 'group' && constraint.Operand.startsWith('distinct_')) {
      at(`${constraint.Operand} is for jobs and groups, not for a ${where}`);
    }
  });
}

function validateConstraint(constraint: Constraint, checks: PatternChecks, report: Report): void {
  const { Operand, LTarget, RTarget } = constraint;
  if (Operand === '') {
    report('an operator is needed');
    return;
  }
  if (Operand !== 'distinct_hosts') {
    if (LTarget === '') report('an attribute is needed');
    else validateTarget(LTarget, report);
  }
  if (Operand === 'distinct_hosts') return;
  if (Operand === 'distinct_property') {
    if (RTarget !== '' && !/^\+?0*[1-9][0-9]*$/.test(RTarget)) {
      report(`distinct_property needs a whole number of at least 1, not ${quoted(RTarget)}`);
    }
    return;
  }
  if (Operand === 'is_set' || Operand === 'is_not_set') {
    if (RTarget !== '') report(`${Operand} takes no value`);
    return;
  }
  validateMatcher(Operand, RTarget, checks, report);
}

/** Operators that constraints and affinities share. */
function validateMatcher(operand: string, value: string, checks: PatternChecks, report: Report): void {
  if (comparisons.has(operand) || sets.has(operand)) {
    if (value === '') report(`the operator ${operand} needs a value`);
  } else if (operand === 'regexp') {
    const problem = checks.regexpError?.(value);
    if (problem !== undefined) report(`the value is no regular expression: ${problem}`);
  } else if (operand === 'version' || operand === 'semver') {
    if (!isVersionRange(value, operand)) report(`${quoted(value)} is no ${operand} constraint such as ">= 1.2.0"`);
  } else {
    report(`unknown operator ${quoted(operand)}`);
  }
}

const knownTargets = new Set(['node.unique.id', 'node.unique.name', 'node.datacenter', 'node.class', 'node.pool']);
const targetPrefixes = ['attr.', 'meta.', 'device.'];

/** A text that begins with `$` must be an interpolation of something that a node has; any other text is a literal. */
function validateTarget(target: string, report: Report): void {
  if (!target.startsWith('$')) return;
  const name = /^\$\{(.*)\}$/.exec(target)?.[1];
  if (name !== undefined && (knownTargets.has(name) || targetPrefixes.some((prefix) => name.startsWith(prefix))))
    return;
  report(`${quoted(target)} names no attribute of a node`);
}

const versionPattern =
  'v?[0-9]+(?:\\.[0-9]+)*(?:-[0-9]+[0-9A-Za-z-]*(?:\\.[0-9A-Za-z-]+)*|-?[A-Za-z][0-9A-Za-z-]*(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?';
const versionTerm = new RegExp(`^\\s*(?:=|!=|>|<|>=|<=|~>)?\\s*${versionPattern}\\s*$`);
const semverTerm = new RegExp(`^\\s*(?:=|!=|>|<|>=|<=)?\\s*${versionPattern}\\s*$`);

/** A comma-separated list of comparisons with versions. */
function isVersionRange(text: string, operand: 'version' | 'semver'): boolean {
  if (text.length > 512) return false;
  const term = operand === 'version' ? versionTerm : semverTerm;
  return text.split(',').every((part) => term.test(part));
}

export function validateAffinities(
  affinities: readonly Affinity[] | null,
  checks: PatternChecks,
  report: Report,
): void {
  affinities?.forEach((affinity, index) => {
    const at = within(report, `affinity ${index + 1}`);
    if (affinity.Operand === '') at('an operator is needed');
    else validateMatcher(affinity.Operand, affinity.RTarget, checks, at);
    if (affinity.LTarget === '') at('an attribute is needed');
    else validateTarget(affinity.LTarget, at);
    if (affinity.Weight === 0) at('a weight of 0 has no effect');
    else if (Math.abs(affinity.Weight) > 100) at(`the weight must be from -100 to 100, not ${affinity.Weight}`);
  });
}

export function validateSpreads(spreads: readonly Spread[] | null, report: Report): void {
  spreads?.forEach((spread, index) => {
    const at = within(report, `spread ${index + 1}`);
    if (spread.Attribute === '') at('an attribute is needed');
    if (spread.Weight < 1 || spread.Weight > 100) at(`the weight must be from 1 to 100, not ${spread.Weight}`);
    const seen = new Set<string>();
    let sum = 0;
    for (const target of spread.SpreadTarget ?? []) {
      if (seen.has(target.Value)) at(`the target ${quoted(target.Value)} is named twice`);
      seen.add(target.Value);
      if (target.Percent > 100) at(`the target ${quoted(target.Value)} has more than 100 percent`);
      sum += target.Percent;
    }
    if (sum > 100) at(`the targets sum up to ${sum} percent, more than 100`);
  });
}
