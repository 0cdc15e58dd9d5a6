import { computed, effect, signal } from '@preact/signals';
import { durationText, relativeText } from '../rules/durations.js';
import { isShown } from './live.js';
import { preferences } from './preferences.js';
import { clockSkew } from './rights.js';

const ticks = signal(Date.now());
let timer: ReturnType<typeof setInterval> | undefined;
effect(() => {
  clearInterval(timer);
  if (!isShown.value) return;
  ticks.value = Date.now();
  timer = setInterval(() => (ticks.value = Date.now()), 1000);
});

/** Where a virtual clock is, in Unix milliseconds; undefined for a server in real time. */
export const virtualNow = signal<number | undefined>(undefined);

/** The server's time, in milliseconds; changes once a second while the tab is shown. */
export const serverNow = computed(() => virtualNow.value ?? ticks.value + clockSkew.value);

/** The server's time now, for what is asked of it: `serverNow` is up to a second behind. */
export const exactServerNow = (): number => virtualNow.peek() ?? Date.now() + clockSkew.peek();

/** The time zone in which times are shown; a schedule has its own. */
export const zone = computed(() => preferences.value.zone || Intl.DateTimeFormat().resolvedOptions().timeZone);

const formats = new Map<string, Intl.DateTimeFormat>();

function format(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([timeZone, options]);
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', { timeZone, ...options });
  formats.set(key, made);
  return made;
}

/** Date, time and offset: `2026-11-28 14:02:11 GMT+1`. */
export function exactTime(at: number, timeZone = zone.value): string {
  const parts = Object.fromEntries(
    format(timeZone, {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'shortOffset',
    })
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts['year']}-${parts['month']}-${parts['day']} ${parts['hour']}:${parts['minute']}:${parts['second']} ${parts['timeZoneName']}`;
}

export function dayOf(at: number, timeZone = zone.value): string {
  return format(timeZone, { weekday: 'short', day: '2-digit', month: 'short' }).format(at);
}

/** Times of records: milliseconds, Unix nanoseconds, or RFC 3339. Undefined for none. */
export function millisecondsOf(time: number | string | null | undefined): number | undefined {
  if (time === null || time === undefined || time === 0 || time === '') return undefined;
  if (typeof time === 'string') {
    const parsed = Date.parse(time);
    return Number.isNaN(parsed) || parsed <= 0 ? undefined : parsed;
  }
  return time > 1e15 ? time / 1e6 : time;
}

interface TimeProps {
  readonly at: number | string | null | undefined;
  /** Shown instead when there is no time. */
  readonly none?: string;
}

/** A time: its distance up to a day, else the date; the exact time is the tip. */
export function Time({ at, none = '–' }: TimeProps) {
  const time = millisecondsOf(at);
  if (time === undefined) return <span class="secondary">{none}</span>;
  const now = serverNow.value;
  const exact = exactTime(time);
  const isNear = Math.abs(time - now) < 86_400_000;
  return (
    <time dateTime={new Date(time).toISOString()} title={exact}>
      {isNear ? relativeText(time, now) : exact.slice(0, 16)}
    </time>
  );
}

/** Time until or since, in two units, as it counts. */
export function Countdown({ until }: { readonly until: number }) {
  return <span>{durationText(Math.max(0, until - serverNow.value))}</span>;
}
