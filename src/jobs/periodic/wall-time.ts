import type { CronExpression } from './cron-expression.js';
import type { DaysOfMonth, DaysOfWeek } from './cron-fields.js';

/** Local time as seconds since 1970, as if the zone were UTC. */
export type WallTime = number;

/** The first wall time from `from` on, inclusive, at which the expression is due; undefined when there is none until 2099. */
export function nextWallTime(cron: CronExpression, from: WallTime): WallTime | undefined {
  const earliest = nextTimeOfDay(cron, 0);
  if (earliest === undefined) return undefined;
  const today = startOfDay(from);
  const later = isDueOn(cron, today) ? nextTimeOfDay(cron, from - today) : undefined;
  if (later !== undefined) return today + later;
  const next = nextDay(cron, today + SECONDS_OF_DAY);
  return next === undefined ? undefined : next + earliest;
}

const SECONDS_OF_DAY = 86_400;

function startOfDay(time: WallTime): WallTime {
  return Math.floor(time / SECONDS_OF_DAY) * SECONDS_OF_DAY;
}

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
