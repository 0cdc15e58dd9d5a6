/** A time as whole or fractional milliseconds since 1970-01-01T00:00:00Z: what a `Clock` returns. */
export type Instant = number;

/** The write that a decision becomes part of: its time, and its index. */
export interface WriteStamp {
  readonly now: Instant;
  readonly index: number;
}

/** RFC 3339 in UTC with milliseconds and a literal `Z`: the one form that every client of the two interfaces reads. */
export function isoFromInstant(instant: Instant): string {
  return new Date(instant).toISOString();
}

/**
 * The time of an RFC 3339 timestamp, cut to milliseconds; undefined for any other string. A string without an offset is rejected: it
 * would depend on the time zone of the process.
 */
export function instantFromRfc3339(text: string): Instant | undefined {
  const instant = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : instant;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Unix nanoseconds as the job interface prints them. Beyond 2^53, but a double built from milliseconds prints its exact
 * decimal digits, because JSON prints the shortest digits that read back as the same double.
 */
export function unixNanosFromInstant(instant: Instant): number {
  return Math.trunc(instant) * 1_000_000;
}

/** Milliseconds from Unix nanoseconds, cut to whole milliseconds. */
export function instantFromUnixNanos(nanos: number): Instant {
  return Math.floor(nanos / 1_000_000);
}

/** Whole Unix seconds, rounded down. */
export function unixSecondsFromInstant(instant: Instant): number {
  return Math.floor(instant / 1000);
}
