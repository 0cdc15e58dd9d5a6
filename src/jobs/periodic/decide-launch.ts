import { err, ok, type Result } from 'neverthrow';
import { hour } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { remembered } from '../../shared/remembered.js';
import { resultOr } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import { type CronExpression, type DaysOfMonth, type DaysOfWeek, parseCron } from './cron-expression.js';
import { isLaunchedByClock, type PeriodicLaunch } from './periodic-launch.js';

/** The decision about a periodic job at one time. */
export type LaunchDecision =
  /** Nothing is due yet. */
  | { readonly kind: 'wait'; readonly until: Instant }
  /** Create the instance for `at`, the latest due time, and store `next` in the same write. */
  | { readonly kind: 'launch'; readonly at: Instant; readonly next: PeriodicLaunch | undefined }
  /** An instance still runs and the job prohibits overlap: the launch is skipped. Store `next`. */
  | { readonly kind: 'skip'; readonly at: Instant; readonly next: PeriodicLaunch | undefined }
  /** The job is no longer launched by the clock: remove the record. */
  | { readonly kind: 'forget' };

/**
 * The job cannot be launched on request: it is not periodic, or it is stopped, disabled or
 * parameterized and therefore not tracked.
 */
export interface ForceRefused {
  readonly type: 'force_refused';
  /** `not_tracked`: the job is stopped, disabled or parameterized. */
  readonly reason: 'not_periodic' | 'not_tracked';
  readonly message: string;
}

/**
 * The record of a job registered at `now`, which replaces an earlier one: launches count from now on. Undefined, meaning no
 * record, when the clock never launches the job again.
 */
export function scheduleLaunches(job: Job, now: Instant): PeriodicLaunch | undefined {
  if (!isLaunchedByClock(job)) return undefined;
  return launchRecord(job, job.Periodic, now, now);
}

/**
 * Decides about a due job. Of several missed times, for example while the process was down, only the
 * last is launched, under its original due time, so that a second process or a retry creates the same instance.
 */
export function decideLaunch(
  job: Job | undefined,
  record: PeriodicLaunch,
  hasRunningInstance: boolean,
  now: Instant,
): LaunchDecision {
  if (job === undefined || !isLaunchedByClock(job)) return { kind: 'forget' };
  if (record.dueAt > now) return { kind: 'wait', until: record.dueAt };
  const at = lastDue(job.Periodic, record.dueAt, now);
  if (job.Periodic.ProhibitOverlap && hasRunningInstance) {
    return { kind: 'skip', at, next: launchRecord(job, job.Periodic, record.launchedAt, now) };
  }
  return { kind: 'launch', at, next: launchRecord(job, job.Periodic, at, now) };
}

/** The time of an instance launched on request, whether or not another instance runs. */
export function decideForcedLaunch(job: Job, now: Instant): Result<Instant, ForceRefused> {
  if (job.Periodic === null) return refuse('not_periodic', "can't force launch non-periodic job");
  if (!isLaunchedByClock(job)) {
    const name = JSON.stringify(job.ID);
    return refuse(
      'not_tracked',
      `force launch for job ${name} failed: can't force run non-tracked job ${name} (${job.Namespace})`,
    );
  }
  return ok(Math.floor(now / 1000) * 1000);
}

/** An invalid expression is never due; registration refuses it. */
function launchRecord(
  { Namespace, ID }: Job,
  periodic: PeriodicSchedule,
  launchedAt: Instant,
  after: Instant,
): PeriodicLaunch | undefined {
  const dueAt = nextLaunch(periodic, after).unwrapOr(undefined);
  return dueAt === undefined ? undefined : { Namespace, ID, launchedAt, dueAt };
}

/** The last due time until `now`, given an earlier one. By bisection, because a job may be due every second and the process down for a year. */
function lastDue(periodic: PeriodicSchedule, due: Instant, now: Instant): Instant {
  const dueAfter = (instant: Instant): Instant => nextLaunch(periodic, instant).unwrapOr(undefined) ?? Infinity;
  let last = due;
  let [before, after] = [Math.floor(due / 1000), Math.floor(now / 1000)];
  while (before < after) {
    const middle = Math.floor((before + after) / 2);
    const next = dueAfter(middle * 1000);
    if (next > now) after = middle;
    else {
      last = next;
      before = Math.floor(next / 1000);
    }
  }
  return last;
}

function refuse(reason: ForceRefused['reason'], message: string): Result<never, ForceRefused> {
  return err({ type: 'force_refused', reason, message });
}

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

/** Local time as seconds since 1970, as if the zone were UTC. */
export type WallTime = number;

/** The first wall time from `from` on, inclusive, at which the expression is due; undefined when there is none until 2099. */
export function nextWallTime(cron: CronExpression, from: WallTime): WallTime | undefined {
  const earliest = nextTimeOfDay(cron, 0);
  if (earliest === undefined) return undefined;
  const today = Math.floor(from / SECONDS_OF_DAY) * SECONDS_OF_DAY;
  const later = isDueOn(cron, today) ? nextTimeOfDay(cron, from - today) : undefined;
  if (later !== undefined) return today + later;
  const next = nextDay(cron, today + SECONDS_OF_DAY);
  return next === undefined ? undefined : next + earliest;
}

const SECONDS_OF_DAY = 86_400;

function isDueOn(cron: CronExpression, day: WallTime): boolean {
  const { year, month, dayOfMonth } = dateOf(day);
  return (
    cron.years.includes(year) && cron.months.includes(month) && matchingDays(cron, year, month).includes(dayOfMonth)
  );
}

/** The start of the first day from `from` on, inclusive, on which the expression is due. */
function nextDay(cron: CronExpression, from: WallTime): WallTime | undefined {
  const start = dateOf(from);
  for (const year of cron.years.filter((each) => each >= start.year)) {
    for (const month of cron.months) {
      if (year === start.year && month < start.month) continue;
      const least = year === start.year && month === start.month ? start.dayOfMonth : 1;
      const found = matchingDays(cron, year, month).find((dayOfMonth) => dayOfMonth >= least);
      if (found !== undefined) return Date.UTC(year, month - 1, found) / 1000;
    }
  }
  return undefined;
}

function dateOf(time: WallTime): { year: number; month: number; dayOfMonth: number } {
  const date = new Date(time * 1000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, dayOfMonth: date.getUTCDate() };
}

/** The first second of the day from `from` on. */
function nextTimeOfDay({ hours, minutes, seconds }: CronExpression, from: number): number | undefined {
  for (const hour of hours) {
    if (hour * 3600 + 3599 < from) continue;
    for (const minute of minutes) {
      const start = hour * 3600 + minute * 60;
      const second = start + 59 < from ? undefined : seconds.find((each) => start + each >= from);
      if (second !== undefined) return start + second;
    }
  }
  return undefined;
}

/** A month of the Gregorian calendar. */
interface Month {
  readonly length: number;
  /** The day of the week of the first, 0 (Sunday) to 6. */
  readonly firstWeekday: number;
}

/**
 * The days of a month, ascending, on which the expression is due. If day of month and day of week are both restricted, days that
 * match either are due.
 */
function matchingDays({ daysOfMonth, daysOfWeek }: CronExpression, year: number, month: number): number[] {
  const of = calendarMonth(year, month);
  const all = Array.from({ length: of.length }, (_, at) => at + 1);
  if (!daysOfMonth.restricted && !daysOfWeek.restricted) return all;
  const due = new Set([
    ...(daysOfMonth.restricted ? byDayOfMonth(daysOfMonth, of) : []),
    ...(daysOfWeek.restricted ? byDayOfWeek(daysOfWeek, of) : []),
  ]);
  return all.filter((day) => due.has(day));
}

function byDayOfMonth({ days, last, lastWorkday, workdaysNear }: DaysOfMonth, month: Month): number[] {
  return [
    ...days,
    ...(last ? [month.length] : []),
    ...(lastWorkday ? [nearestWorkday(month.length, month)] : []),
    ...workdaysNear.filter((day) => day <= month.length).map((day) => nearestWorkday(day, month)),
  ];
}

function byDayOfWeek({ days, last, nth }: DaysOfWeek, month: Month): number[] {
  const first = (weekday: number): number => 1 + ((weekday - month.firstWeekday + 7) % 7);
  return [
    ...days.flatMap((weekday) => [0, 7, 14, 21, 28].map((later) => first(weekday) + later)),
    ...last.map((weekday) => (first(weekday) + 28 <= month.length ? first(weekday) + 28 : first(weekday) + 21)),
    ...nth.map(({ day, week }) => first(day) + 7 * (week - 1)),
  ];
}

/** The nearest day from Monday to Friday within the month. */
function nearestWorkday(day: number, month: Month): number {
  const weekday = (month.firstWeekday + day - 1) % 7;
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < month.length ? day + 1 : day - 2;
  return day;
}

function calendarMonth(year: number, month: number): Month {
  return {
    length: new Date(Date.UTC(year, month, 0)).getUTCDate(),
    firstWeekday: new Date(Date.UTC(year, month - 1, 1)).getUTCDay(),
  };
}

/** A zone of the IANA database, with the offset of its clocks. */
export interface TimeZone {
  readonly name: string;
  /** Seconds ahead of UTC. */
  readonly offsetAt: (instant: Instant) => number;
}

export const utc: TimeZone = { name: 'UTC', offsetAt: () => 0 };

/** The zone with this exact name in the IANA database; the empty name and `Local` mean UTC. Undefined when there is none. */
export const timeZone: (name: string) => TimeZone | undefined = remembered(find, 64, 100);

function find(name: string): TimeZone | undefined {
  if (['', 'UTC', 'Local'].includes(name)) return utc;
  const clock = name.length <= LONGEST_NAME && NAME.test(name) ? wallClock(name) : undefined;
  return clock === undefined ? undefined : { name, offsetAt: offsetOf(clock) };
}

/**
 * The first instant after `from` at which the zone's offset changes, to the second; undefined when there is none until `limit`. A
 * change that is reverted within `step` milliseconds may be missed.
 */
export function nextOffsetChange(zone: TimeZone, from: Instant, limit: Instant, step: number): Instant | undefined {
  if (zone === utc) return undefined;
  const offset = zone.offsetAt(from);
  let same = from;
  while (same < limit) {
    const probe = Math.min(same + step, limit);
    if (zone.offsetAt(probe) !== offset) return bisect(zone, offset, same, probe);
    same = probe;
  }
  return undefined;
}

function bisect(zone: TimeZone, offset: number, from: Instant, to: Instant): Instant {
  let [same, different] = [Math.floor(from / 1000), Math.ceil(to / 1000)];
  while (different - same > 1) {
    const middle = Math.floor((same + different) / 2);
    if (zone.offsetAt(middle * 1000) === offset) same = middle;
    else different = middle;
  }
  return different * 1000;
}

/** In characters; the longest name of the database has 32. */
const LONGEST_NAME = 64;

/**
 * The form of names. They are case-sensitive here, whereas `Intl` accepts any case, and also offsets such as `+02:00`. The pattern is
 * unambiguous: otherwise matching would take exponential time in the number of parts.
 */
const NAME = new RegExp(
  [
    '^(?:[A-Z][a-z]{3,}|CET|CST6CDT|EET|EST|EST5EDT|GB|GB-Eire|GMT|GMT[+-]?0|HST|MET|MST|MST7MDT|NZ|NZ-CHAT|PRC|PST8PDT|ROC|ROK',
    'UCT|UTC|W-SU|WET',
    '(?:US|[A-Z][a-z]+)(?:[/_-](?:[A-Z]{2,3}|(?:[A-Z]?[A-Z][a-z]+)+|GMT[+-]?[0-9]{1,2}|of|es|au))+)$',
  ].join('|'),
);

function wallClock(name: string): Intl.DateTimeFormat | undefined {
  return resultOr(
    undefined,
    () =>
      new Intl.DateTimeFormat('en-US', {
        timeZone: name,
        calendar: 'gregory',
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
  );
}

function offsetOf(clock: Intl.DateTimeFormat): TimeZone['offsetAt'] {
  return (instant) => {
    const shown: Record<string, number> = {};
    for (const { type, value } of clock.formatToParts(instant)) shown[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - Math.floor(instant / 1000);
  };
}
