import { err, ok, type Result } from 'neverthrow';
import { hour } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type CronExpression, parseCron } from './cron-expression.js';
import { nextOffsetChange, type TimeZone, timeZone, utc } from './time-zone.js';
import { nextWallTime } from './wall-time.js';

/** What a job says about its launches. */
export interface PeriodicSchedule {
  readonly Spec: string;
  readonly Specs: readonly string[] | null;
  readonly SpecType: string;
  readonly TimeZone: string;
}

/**
 * When the job is launched next, strictly after `after`: the earliest of its expressions. Undefined when never again. A zone that is
 * not known counts as UTC.
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

/** The expressions of the schedule; the single one wins where both are given. */
export function specsOf({ Spec, Specs }: PeriodicSchedule): readonly string[] {
  return Spec === '' ? (Specs ?? []) : [Spec];
}

/**
 * The first whole second strictly after `after` at which the zone's wall clocks show a time that the expression wants. A time that
 * clocks skip does not come on that day; one that they show twice comes twice.
 */
export function nextMatch(cron: CronExpression, zone: TimeZone, after: Instant): Result<Instant | undefined, string> {
  if (!(after < END_OF_YEARS)) return ok(undefined);
  if (cron.months.length === 0) return withoutMonths(cron, zone, after);
  let from = (Math.floor(Math.max(after, START_OF_YEARS) / 1000) + 1) * 1000;
  for (;;) {
    const offset = zone.offsetAt(from);
    const wall = nextWallTime(cron, from / 1000 + offset);
    const match = wall === undefined ? Infinity : (wall - offset) * 1000;
    // Clocks that are put back show times again that had passed, so a change that comes first may bring an earlier match.
    const change = nextOffsetChange(zone, from, Math.min(match, from + WINDOW), STEP);
    if (change !== undefined) from = change;
    else if (match <= from + WINDOW) return ok(match);
    else if (wall === undefined) return ok(undefined);
    else from = match - WINDOW + hour;
  }
}

/** An error as long as there are years in which a month is looked for. */
function withoutMonths({ years }: CronExpression, zone: TimeZone, after: Instant): Result<undefined, string> {
  const year = new Date(after + zone.offsetAt(after) * 1000).getUTCFullYear();
  return years.some((each) => each >= year) ? err('the month field names no month') : ok(undefined);
}

/** Longer than the greatest step that the clocks of a zone have made: a day. */
const WINDOW = 27 * hour;

/** No zone has changed its offset and changed it back within this time. */
const STEP = 6 * hour;

/** Expressions know the years from 1970 to 2099; a zone may be a day off. */
const START_OF_YEARS = Date.UTC(1969, 11, 30);
const END_OF_YEARS = Date.UTC(2100, 0, 2);
