import { compilingTime, programBound } from '../../shared/regular-expression.js';
import type { Job } from '../document/job.js';
import type { Affinity, Constraint, Spread } from '../document/placement.js';
import type { Report } from './problems.js';

/*
 * Bounds of the work that one job makes for those who validate, plan and schedule it, where it grows faster than the document: the rules
 * of a job hold for each of its groups, an expression of twenty characters takes milliseconds to compile. The document itself is bounded
 * where it is decoded. A job beyond these bounds is refused before any such work is done.
 */

/** Constraints, affinities, spreads and their targets; those of the job count for each of its groups. */
const maximumRules = 50_000;
/** Entries of meta that reach a task; those of the job and the group count for each of their tasks. */
const maximumMeta = 500_000;
/** Different regular expressions and version constraints, so that the most recent ones that are kept compiled hold all of a job's. */
const maximumExpressions = 200;
/** Estimated microseconds for compiling the regular expressions, and for matching those whose text is given as well. */
const maximumExpressionTime = 100_000;
const maximumSchedules = 100;

const bounds = [rulesProblem, metaProblem, expressionsProblem, schedulesProblem];

/** Whether the job stays within the bounds. */
export function validateWork(job: Job, report: Report): boolean {
  let fits = true;
  for (const problemOf of bounds) {
    const problem = problemOf(job);
    if (problem === undefined) continue;
    report(problem);
    fits = false;
  }
  return fits;
}

interface Rules {
  readonly Constraints: readonly Constraint[] | null;
  readonly Affinities: readonly Affinity[] | null;
  readonly Spreads?: readonly Spread[] | null;
}

function rulesProblem(job: Job): string | undefined {
  let total = job.TaskGroups.length * rulesIn(job);
  for (const group of job.TaskGroups) {
    total += rulesIn(group);
    for (const task of group.Tasks) total += rulesIn(task);
  }
  if (total <= maximumRules) return undefined;
  return `at most ${maximumRules} constraints, affinities and spreads can be looked at, those of the job for each group, not ${total}`;
}

function rulesIn({ Constraints, Affinities, Spreads = null }: Rules): number {
  let total = (Constraints?.length ?? 0) + (Affinities?.length ?? 0);
  if (Spreads !== null) for (const { SpreadTarget } of Spreads) total += 1 + (SpreadTarget?.length ?? 0);
  return total;
}

function metaProblem(job: Job): string | undefined {
  const own = entriesIn(job.Meta);
  let total = 0;
  for (const group of job.TaskGroups) total += group.Tasks.length * (own + entriesIn(group.Meta));
  if (total <= maximumMeta) return undefined;
  return `meta of the job and its groups has at most ${maximumMeta} entries, counted for each task, not ${total}`;
}

function entriesIn(map: Readonly<Record<string, string>> | null): number {
  let entries = 0;
  for (const _ in map) entries += 1;
  return entries;
}

type Matcher = Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>;

function expressionsProblem(job: Job): string | undefined {
  const found = new Expressions();
  found.addAll(job);
  for (const group of job.TaskGroups) {
    found.addAll(group);
    for (const task of group.Tasks) {
      found.addAll(task);
      for (const device of task.Resources.Devices ?? []) found.addAll(device);
    }
  }
  if (found.different > maximumExpressions) {
    return `at most ${maximumExpressions} different regular expressions and version constraints can be used`;
  }
  return found.time > maximumExpressionTime ? 'the regular expressions would take too long to compile' : undefined;
}

/** The regular expressions and version constraints of a job, as far as they are within the bounds. */
class Expressions {
  /** Microseconds. */
  time = 0;
  #seen: Set<string> | undefined;

  get different(): number {
    return this.#seen?.size ?? 0;
  }

  addAll({ Constraints, Affinities }: Rules): void {
    if (Constraints !== null) for (const constraint of Constraints) this.#add(constraint);
    if (Affinities !== null) for (const affinity of Affinities) this.#add(affinity);
  }

  #add({ LTarget, RTarget, Operand }: Matcher): void {
    const isPattern = Operand === 'regexp';
    if (!isPattern && Operand !== 'version' && Operand !== 'semver') return;
    if (this.different > maximumExpressions || this.time > maximumExpressionTime) return;
    this.#seen ??= new Set();
    const key = `${Operand} ${RTarget}`;
    if (isPattern && !this.#seen.has(key)) this.time += compilingTime(RTarget);
    // Which text a reference stands for is not known here; matching bounds itself.
    if (isPattern && !LTarget.startsWith('$')) this.time += (programBound(RTarget) * LTarget.length) / 10;
    this.#seen.add(key);
  }
}

function schedulesProblem({ Periodic: periodic }: Job): string | undefined {
  const schedules = periodic?.Specs?.length ?? 0;
  return schedules <= maximumSchedules
    ? undefined
    : `a job has at most ${maximumSchedules} cron expressions, not ${schedules}`;
}
