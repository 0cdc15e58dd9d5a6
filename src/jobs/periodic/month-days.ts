import type { CronExpression } from './cron-expression.js';
import type { DaysOfMonth, DaysOfWeek } from './cron-fields.js';

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
export function matchingDays({ daysOfMonth, daysOfWeek }: CronExpression, year: number, month: number): number[] {
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
