import type { Nanoseconds } from './document-values.js';

/** The unit of a number in a `DurationInput`. */
export type DurationUnit = 'ns' | 'us' | 'µs' | 'ms' | 's' | 'm' | 'h';

/**
 * A length of time as a caller writes it: whole nanoseconds, or a string such as `'30s'`, `'1.5h'`, `'1h30m'`, `'1h30m15s'`.
 */
export type DurationInput =
  | Nanoseconds
  | `${number}${DurationUnit}`
  | `${number}m${number}s`
  | `${number}h${number}m`
  | `${number}h${number}m${number}s`;
