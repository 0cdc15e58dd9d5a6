import { compilingTime, programBound } from '../../shared/regular-expression.js';
import type { Job } from '../document/job.js';
import type { Affinity, Constraint, Spread } from '../document/placement.js';
import type { Report } from './problems.js';

/*
 * Bounds of the validation, planning and scheduling work of one job where it grows faster than the document: the job's rules
 * apply to each of its groups, and an expression of twenty characters takes milliseconds to compile. Decoding bounds the document
 * itself. A job beyond these bounds is refused before any such work is done.
 */

/** The maximum number of constraints, affinities, spreads and their targets; those of the job count once per group. */
const maximumRules = 50_000;
/** The maximum number of meta entries of all tasks; those of the job and the group count once per task. */
const maximumMeta = 500_000;
/** The maximum number of distinct regular expressions and version constraints, so that the cache of compiled ones holds all of a job's. */
const maximumExpressions = 200;
/** The maximum estimated time, in microseconds, for compiling the regular expressions and matching those with a literal value. */
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
  return `at most ${maximumRules} constraints, affinities and spreads are allowed, counting those of the job for each group, not ${total}`;
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

/** The regular expressions and version constraints of a job, up to the bounds. */
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
    // The value of a reference is unknown here; matching is bounded at run time.
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
