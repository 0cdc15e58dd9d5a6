import type { Instant } from '../../shared/instant.js';
import { parseCron } from './cron-expression.js';
import { lintCron } from './lint-cron.js';
import { type PeriodicSchedule, specsOf } from './next-launch.js';
import { timeZone } from './time-zone.js';

/** What is wrong with a schedule, each problem a sentence without its location; empty for one that can be launched by. */
export function periodicProblems(periodic: PeriodicSchedule): string[] {
  const specs = periodic.Specs ?? [];
  const zone = timeZone(periodic.TimeZone) === undefined ? [unknownZone(periodic.TimeZone)] : [];
  if (periodic.Spec !== '' && specs.length > 0) return ['cron and crons exclude each other', ...zone];
  if (specsOf(periodic).length === 0) return ['a cron expression is needed', ...zone];
  if (periodic.SpecType !== 'cron') {
    return [`the kind of schedule must be cron, not ${JSON.stringify(periodic.SpecType)}`, ...zone];
  }
  const problems = specsOf(periodic).flatMap((spec) =>
    parseCron(spec).match(
      () => [],
      (problem) => [`${JSON.stringify(spec)} is no cron expression: ${problem}`],
    ),
  );
  return [...problems, ...zone];
}

/** How many launches are looked at for warnings. */
const LOOKED_AT = 50;

/** What may surprise about a schedule that can be launched by; nothing that is merely often forgotten. */
export function periodicWarnings(periodic: PeriodicSchedule, now: Instant): string[] {
  return lintCron(periodic, now, LOOKED_AT)
    .findings.filter(({ kind }) => kind !== 'note')
    .map(({ message }) => message);
}

function unknownZone(name: string): string {
  return `unknown time zone ${JSON.stringify(name)}: a name of the IANA database is needed, such as Europe/Berlin`;
}
