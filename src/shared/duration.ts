import { err, ok, type Result } from 'neverthrow';

/** Milliseconds, except where a name ends in `Nanos` (the job document stores whole nanoseconds). */
export type Milliseconds = number;

export const second: Milliseconds = 1000;
export const minute: Milliseconds = 60 * second;
export const hour: Milliseconds = 60 * minute;
export const day: Milliseconds = 24 * hour;

/** The longest delay of the platform's timers: a longer one would fire at once. 24.8 days. */
const longestTimer: Milliseconds = 2 ** 31 - 1;

/** A duration for `setTimeout` and `AbortSignal.timeout`: whole milliseconds, rounded up, and 24.8 days at most. */
export function timerOf(duration: Milliseconds): Milliseconds {
  return Math.min(Math.ceil(duration), longestTimer);
}

/** The string is an invalid duration. */
export interface DurationError {
  readonly type: 'invalid_duration';
  /** The string, cut to 64 characters. */
  readonly text: string;
  readonly message: string;
}

const nanosPerUnit: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const maximumNanos = 9_223_372_036_854_775_807n;
const longestText = 200;
const component = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Whole nanoseconds of a duration such as `1h30m`, `250ms`, `-1.5s` or a bare `0` (units ns us µs ms s m h), the notation
 * of the job interface. Errors on anything else and beyond 63 bits.
 */
export function parseDurationNanos(text: string): Result<bigint, DurationError> {
  const invalid = (message: string): Result<bigint, DurationError> =>
    err({ type: 'invalid_duration', text: text.slice(0, 64), message });
  if (text.length > longestText) return invalid('the string is too long for a duration');
  const negative = text.startsWith('-');
  const parts = negative || text.startsWith('+') ? text.slice(1) : text;
  if (parts === '0') return ok(0n);
  if (parts === '') return invalid('a number with a unit is needed, for example 30s or 1h30m');
  const total = sumOfParts(parts);
  if (total === undefined) {
    return invalid('each part needs a number and one of the units ns, us, ms, s, m, h, for example 1h30m');
  }
  if (total > maximumNanos) return invalid('the duration is longer than 292 years');
  return ok(negative ? -total : total);
}

/** Nanoseconds of a sequence of numbers with units; digits beyond a nanosecond are cut off. */
function sumOfParts(parts: string): bigint | undefined {
  let total = 0n;
  let position = 0;
  while (position < parts.length) {
    component.lastIndex = position;
    const match = component.exec(parts);
    if (match === null) return undefined;
    const [, whole = '', fraction = '', name = ''] = match;
    if (whole + fraction === '') return undefined;
    const unit = nanosPerUnit[name] ?? 0n;
    total += BigInt(whole || '0') * unit + (BigInt(fraction || '0') * unit) / 10n ** BigInt(fraction.length);
    position = component.lastIndex;
  }
  return total;
}

/** Milliseconds from nanoseconds, keeping the fraction. */
export function millisecondsFromNanos(nanos: number): Milliseconds {
  return nanos / 1_000_000;
}

/**
 * Formats nanoseconds, rounded to whole ones, in the notation of the job interface: `1h30m0s`, `1.5s`, `250ms`, `100ns`, `0s`.
 * Below a second it uses the largest unit with a whole part, and a fraction.
 */
export function durationTextFromNanos(nanos: number): string {
  const whole = Math.round(Math.abs(nanos));
  if (whole === 0) return '0s';
  const sign = nanos < 0 ? '-' : '';
  const total = BigInt(whole);
  if (total < 1_000n) return `${sign}${total}ns`;
  if (total < 1_000_000n) return `${sign}${decimal(total, 1_000n)}µs`;
  if (total < 1_000_000_000n) return `${sign}${decimal(total, 1_000_000n)}ms`;
  const minutes = total / 60_000_000_000n;
  const seconds = `${decimal(total % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** The quotient of a value and a power of ten, without trailing zeros. */
function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return (value / unit).toString();
  const digits = rest.toString().padStart(unit.toString().length - 1, '0');
  return `${value / unit}.${digits.replace(/0+$/, '')}`;
}
