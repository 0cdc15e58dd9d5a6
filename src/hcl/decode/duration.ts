import { parseDurationNanos } from '../../shared/duration.js';

/**
 * Nanoseconds of a duration such as `1h2m3.5s`: an optional sign, then one or more numbers with a unit; `0` needs no unit.
 * The largest unit is the hour. Undefined for anything else, and beyond 292 years.
 */
export function parseDuration(text: string): number | undefined {
  return parseDurationNanos(text).map(Number).unwrapOr(undefined);
}
