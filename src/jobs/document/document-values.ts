/** A duration in whole nanoseconds, as the job document stores it. */
export type Nanoseconds = number;

/** A time in Unix nanoseconds; beyond 2^53, so exact only to about 100 ns. */
export type UnixNanoseconds = number;

export const secondNanos: Nanoseconds = 1_000_000_000;
export const minuteNanos: Nanoseconds = 60 * secondNanos;
export const hourNanos: Nanoseconds = 60 * minuteNanos;
