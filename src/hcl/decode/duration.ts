import { parseDurationNanos } from '../../shared/duration.js';

/**
 * Nanoseconds of a duration text such as `1h2m3.5s`: one or more numbers with a unit, a sign in front allowed; `0` needs no unit.
 * There is no unit longer than an hour. Undefined for anything else, and beyond 292 years.
 */
export function parseDuration(text: string): number | undefined {
  return parseDurationNanos(text).map(Number).unwrapOr(undefined);
}
