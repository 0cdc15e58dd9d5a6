/** Milliseconds, or a string such as `30s`, `1h30m`, `7d` or `1y` (units ms s m h d w y; a year has 365 days). */
export type Duration = number | string;

const units: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1000, m: 60_000, h: 3_600_000 },
  ...{ d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 },
};
const durationShape = /^(?:\d{1,12}(?:\.\d{1,6})?(?:ms|s|m|h|d|w|y))+$/;

/** Whether a value is a duration of at least 0. */
export function isDuration(value: unknown): value is Duration {
  if (typeof value === 'number') return value >= 0 && Number.isFinite(value);
  return typeof value === 'string' && value.length <= 64 && durationShape.test(value);
}

/** A valid duration in milliseconds. */
export function milliseconds(value: Duration): number {
  if (typeof value === 'number') return value;
  let total = 0;
  for (const [, number, unit = ''] of value.matchAll(/([\d.]+)(ms|s|m|h|d|w|y)/g))
    total += Number(number) * (units[unit] ?? 0);
  return total;
}
