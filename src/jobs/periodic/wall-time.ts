import type { CronExpression } from './cron-expression.js';
import { matchingDays } from './month-days.js';

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
