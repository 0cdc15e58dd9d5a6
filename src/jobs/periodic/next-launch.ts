import { err, ok, type Result } from 'neverthrow';
import { hour } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type CronExpression, parseCron } from './cron-expression.js';
import { nextOffsetChange, type TimeZone, timeZone, utc } from './time-zone.js';
import { nextWallTime } from './wall-time.js';

/** The members of a job's schedule that decide its launches. */
export interface PeriodicSchedule {
  readonly Spec: string;
  readonly Specs: readonly string[] | null;
  readonly SpecType: string;
  readonly TimeZone: string;
}

/**
 * The next launch of the job, strictly after `after`: the earliest of its expressions. Undefined for never. An unknown zone
 * counts as UTC.
 */
export function nextLaunch(periodic: PeriodicSchedule, after: Instant): Result<Instant | undefined, string> {
  if (periodic.SpecType !== 'cron') return ok(undefined);
  const zone = timeZone(periodic.TimeZone) ?? utc;
  let earliest: Instant | undefined;
  for (const spec of specsOf(periodic)) {
    const next = parseCron(spec).andThen((cron) => nextMatch(cron, zone, after));
    if (next.isErr()) return err(`${JSON.stringify(spec)}: ${next.error}`);
    earliest = next.value === undefined || (earliest !== undefined && earliest <= next.value) ? earliest : next.value;
  }
  return ok(earliest);
}

/** The expressions of the schedule; the single one applies if both are given. */
export function specsOf({ Spec, Specs }: PeriodicSchedule): readonly string[] {
  return Spec === '' ? (Specs ?? []) : [Spec];
}

/**
 * The first whole second strictly after `after` whose local time matches the expression. A local time that a clock change skips
 * does not occur on that day; a repeated one occurs twice.
 */
export function nextMatch(cron: CronExpression, zone: TimeZone, after: Instant): Result<Instant | undefined, string> {
  if (!(after < END_OF_YEARS)) return ok(undefined);
  if (cron.months.length === 0) return withoutMonths(cron, zone, after);
  let from = (Math.floor(Math.max(after, START_OF_YEARS) / 1000) + 1) * 1000;
  for (;;) {
    const offset = zone.offsetAt(from);
    const wall = nextWallTime(cron, from / 1000 + offset);
    const match = wall === undefined ? Infinity : (wall - offset) * 1000;
    // Clocks that are set back repeat earlier local times, so a clock change before the match may result in an earlier match.
    const change = nextOffsetChange(zone, from, Math.min(match, from + WINDOW), STEP);
    if (change !== undefined) from = change;
    else if (match <= from + WINDOW) return ok(match);
    else if (wall === undefined) return ok(undefined);
    else from = match - WINDOW + hour;
  }
}

/** An expression without months is an error if any year from `year` on matches. */
function withoutMonths({ years }: CronExpression, zone: TimeZone, after: Instant): Result<undefined, string> {
  const year = new Date(after + zone.offsetAt(after) * 1000).getUTCFullYear();
  return years.some((each) => each >= year) ? err('the month field matches no month') : ok(undefined);
}

/** Longer than the greatest offset change of any zone, which is a day. */
const WINDOW = 27 * hour;

/** No zone has ever changed its offset and reverted it within this time. */
const STEP = 6 * hour;

/** Expressions cover the years 1970 to 2099; a zone may be a day off. */
const START_OF_YEARS = Date.UTC(1969, 11, 30);
const END_OF_YEARS = Date.UTC(2100, 0, 2);
