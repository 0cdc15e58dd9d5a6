import type { Instant } from '../../shared/instant.js';
import { remembered } from '../../shared/remembered.js';

/** A zone of the IANA database, with the offset of its clocks. */
export interface TimeZone {
  readonly name: string;
  /** Seconds ahead of UTC. */
  readonly offsetAt: (instant: Instant) => number;
}

export const utc: TimeZone = { name: 'UTC', offsetAt: () => 0 };

/** The zone with this exact name in the IANA database; the empty name and `Local` mean UTC. Undefined when there is none. */
export const timeZone: (name: string) => TimeZone | undefined = remembered(find, 64, 100);

function find(name: string): TimeZone | undefined {
  if (['', 'UTC', 'Local'].includes(name)) return utc;
  const clock = name.length <= LONGEST_NAME && NAME.test(name) ? wallClock(name) : undefined;
  return clock === undefined ? undefined : { name, offsetAt: offsetOf(clock) };
}

/**
 * The first instant after `from` at which the zone's offset changes, to the second; undefined when there is none until `limit`. A
 * change that is reverted within `step` milliseconds may be missed.
 */
export function nextOffsetChange(zone: TimeZone, from: Instant, limit: Instant, step: number): Instant | undefined {
  if (zone === utc) return undefined;
  const offset = zone.offsetAt(from);
  let same = from;
  while (same < limit) {
    const probe = Math.min(same + step, limit);
    if (zone.offsetAt(probe) !== offset) return bisect(zone, offset, same, probe);
    same = probe;
  }
  return undefined;
}

function bisect(zone: TimeZone, offset: number, from: Instant, to: Instant): Instant {
  let [same, different] = [Math.floor(from / 1000), Math.ceil(to / 1000)];
  while (different - same > 1) {
    const middle = Math.floor((same + different) / 2);
    if (zone.offsetAt(middle * 1000) === offset) same = middle;
    else different = middle;
  }
  return different * 1000;
}

/** In characters; the longest name of the database has 32. */
const LONGEST_NAME = 64;

/**
 * The form of names. They are case-sensitive here, whereas `Intl` accepts any case, and also offsets such as `+02:00`. The pattern is
 * unambiguous: otherwise matching would take exponential time in the number of parts.
 */
const NAME = new RegExp(
  [
    '^(?:[A-Z][a-z]{3,}|CET|CST6CDT|EET|EST|EST5EDT|GB|GB-Eire|GMT|GMT[+-]?0|HST|MET|MST|MST7MDT|NZ|NZ-CHAT|PRC|PST8PDT|ROC|ROK',
    'UCT|UTC|W-SU|WET',
    '(?:US|[A-Z][a-z]+)(?:[/_-](?:[A-Z]{2,3}|(?:[A-Z]?[A-Z][a-z]+)+|GMT[+-]?[0-9]{1,2}|of|es|au))+)$',
  ].join('|'),
);

function wallClock(name: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return undefined;
  }
}

function offsetOf(clock: Intl.DateTimeFormat): TimeZone['offsetAt'] {
  return (instant) => {
    const shown: Record<string, number> = {};
    for (const { type, value } of clock.formatToParts(instant)) shown[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - Math.floor(instant / 1000);
  };
}
