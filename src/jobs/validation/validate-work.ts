import { compilingTime, programBound } from '../../shared/regular-expression.js';
import type { Job } from '../document/job.js';
import type { Affinity, Constraint, Spread } from '../document/placement.js';
import type { TaskGroup } from '../document/task-group.js';
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

/** Whether the job stays within the bounds. */
export function validateWork(job: Job, report: Report): boolean {
  const problems = [rulesProblem(job), metaProblem(job), expressionsProblem(job), schedulesProblem(job)];
  const found = problems.filter((problem) => problem !== undefined);
  found.forEach(report);
  return found.length === 0;
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

function rulesIn({ Constraints, Affinities, Spreads }: Rules): number {
  const targets = (Spreads ?? []).reduce((sum, { SpreadTarget }) => sum + (SpreadTarget?.length ?? 0), 0);
  return (Constraints?.length ?? 0) + (Affinities?.length ?? 0) + (Spreads?.length ?? 0) + targets;
}

function metaProblem(job: Job): string | undefined {
  const own = entriesIn(job.Meta);
  let total = 0;
  for (const group of job.TaskGroups) total += group.Tasks.length * (own + entriesIn(group.Meta));
  if (total <= maximumMeta) return undefined;
  return `meta of the job and its groups has at most ${maximumMeta} entries, counted for each task, not ${total}`;
}

function entriesIn(map: Readonly<Record<string, string>> | null): number {
  return map === null ? 0 : Object.keys(map).length;
}

type Matcher = Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>;

function expressionsProblem(job: Job): string | undefined {
  const different = new Set<string>();
  let time = 0;
  for (const { LTarget, RTarget, Operand } of matchersOf(job)) {
    const isPattern = Operand === 'regexp';
    if (!isPattern && Operand !== 'version' && Operand !== 'semver') continue;
    const key = `${Operand} ${RTarget}`;
    if (isPattern && !different.has(key)) time += compilingTime(RTarget);
    // Which text a reference stands for is not known here; matching bounds itself.
    if (isPattern && !LTarget.startsWith('$')) time += (programBound(RTarget) * LTarget.length) / 10;
    different.add(key);
    if (different.size > maximumExpressions) {
      return `at most ${maximumExpressions} different regular expressions and version constraints can be used`;
    }
    if (time > maximumExpressionTime) return 'the regular expressions would take too long to compile';
  }
  return undefined;
}

function* matchersOf(job: Job): Iterable<Matcher> {
  yield* matchersIn(job);
  for (const group of job.TaskGroups) yield* matchersOfGroup(group);
}

function* matchersOfGroup(group: TaskGroup): Iterable<Matcher> {
  yield* matchersIn(group);
  for (const task of group.Tasks) {
    yield* matchersIn(task);
    for (const device of task.Resources.Devices ?? []) yield* matchersIn(device);
  }
}

function* matchersIn({ Constraints, Affinities }: Rules): Iterable<Matcher> {
  yield* Constraints ?? [];
  yield* Affinities ?? [];
}

function schedulesProblem({ Periodic: periodic }: Job): string | undefined {
  const schedules = periodic?.Specs?.length ?? 0;
  return schedules <= maximumSchedules
    ? undefined
    : `a job has at most ${maximumSchedules} cron expressions, not ${schedules}`;
}
