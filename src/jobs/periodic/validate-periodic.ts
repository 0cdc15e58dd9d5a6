import type { Instant } from '../../shared/instant.js';
import { parseCron } from './cron-expression.js';
import { lintCron } from './lint-cron.js';
import type { PeriodicSchedule } from './next-launch.js';
import { timeZone } from './time-zone.js';

/** The problems of a schedule, each a sentence without its location; empty for a valid schedule. */
export function periodicProblems(periodic: PeriodicSchedule): string[] {
  const { Spec, Specs, SpecType, TimeZone } = periodic;
  const specs = [...(Spec === '' ? [] : [Spec]), ...(Specs ?? [])];
  return [
    ...(Spec !== '' && specs.length > 1 ? ['cron and crons cannot be combined'] : []),
    ...(specs.length === 0 ? ['a cron expression is required'] : []),
    ...(SpecType === 'cron' ? specs.flatMap(expressionProblem) : [unknownKind(SpecType)]),
    ...(timeZone(TimeZone) === undefined ? [unknownZone(TimeZone)] : []),
  ];
}

function expressionProblem(spec: string): string[] {
  return parseCron(spec).match(
    () => [],
    (problem) => [`${JSON.stringify(spec)} is not a valid cron expression: ${problem}`],
  );
}

/** The number of times computed to find expressions that are due together; fewer per expression when there are many. */
const computedTimes = 500;
const mostLaunches = 50;
/** The maximum number of listed warnings; the rest are only counted. */
const mostWarnings = 10;

/** Warnings about a valid schedule: all findings except those of the kind `note`. */
export function periodicWarnings(periodic: PeriodicSchedule, now: Instant): string[] {
  const specs = Math.max(1, periodic.Specs?.length ?? 0);
  const { findings } = lintCron(periodic, now, Math.min(mostLaunches, Math.ceil(computedTimes / specs)));
  const warnings = findings.filter(({ kind }) => kind !== 'note').map(({ message }) => message);
  const more = warnings.length - mostWarnings;
  return more > 0 ? [...warnings.slice(0, mostWarnings), `${more} more warnings about the schedule`] : warnings;
}

function unknownKind(type: string): string {
  return `the kind of schedule must be cron, not ${JSON.stringify(type)}`;
}

function unknownZone(name: string): string {
  return `unknown time zone ${JSON.stringify(name)}: use a name of the IANA database, such as Europe/Berlin`;
}
