/** A point of wall-clock time as RFC 3339 writes it: local fields, and how far they are ahead of UTC. */
export interface ZonedTime {
  /** Milliseconds since 1970 of the local fields read as UTC, whole seconds only. */
  readonly local: number;
  /** Nanoseconds within the second. */
  readonly nanoseconds: number;
  readonly offsetMinutes: number;
}

/** Parses an RFC 3339 timestamp; undefined for anything else. Impossible dates, a 24th hour and leap seconds are rejected. */
export function parseTimestamp(text: string): ZonedTime | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = match.map(
    (part) => part,
  );
  const local = localTime([year, month, day, hour, minute, second].map(Number));
  const ahead = Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0);
  if (local === undefined || Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined;
  return {
    local,
    nanoseconds: Number(fraction.slice(0, 9).padEnd(9, '0')),
    offsetMinutes: sign === '-' ? -ahead : ahead,
  };
}

/** RFC 3339 with whole seconds; undefined when the year does not fit into four digits. */
export function timestampText({ local, offsetMinutes }: ZonedTime): string | undefined {
  const iso = Number.isFinite(local) && Math.abs(local) <= 8.64e15 ? new Date(local).toISOString() : '';
  if (!/^\d{4}-/.test(iso)) return undefined;
  return `${iso.slice(0, 19)}${offsetMinutes === 0 ? 'Z' : offsetText(offsetMinutes, ':')}`;
}

/** `+02:00`, or `+0200` with no separator. */
export function offsetText(minutes: number, separator: string): string {
  const absolute = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(absolute / 60))}${separator}${twoDigits(absolute % 60)}`;
}

export function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Upper bounds of year, month, day, hour, minute and second; a day is also checked against its month. */
const LARGEST: readonly number[] = [9999, 12, 31, 23, 59, 59];

/** Milliseconds since 1970 of year, month (1 to 12), day, hour, minute and second; undefined when one is out of range. */
export function localTime(fields: readonly number[]): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields;
  if (month < 1 || fields.some((field, at) => field > (LARGEST[at] ?? 0))) return undefined;
  const date = new Date(0);
  // Date.UTC would interpret a two-digit year as one of the twentieth century.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
