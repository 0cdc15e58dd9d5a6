import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseCron } from '../../../src/jobs/periodic/cron-expression.js';
import { nextLaunch, nextMatch, timeZone, utc } from '../../../src/jobs/periodic/decide-launch.js';
import { day, hour, minute } from '../../../src/shared/duration.js';
import { processorTimeOf } from '../../support/processor-time.js';

const after = (spec: string, zone: string, from: string): string | undefined => {
  const next = nextLaunch({ Spec: spec, Specs: null, SpecType: 'cron', TimeZone: zone }, Date.parse(from));
  const at = next._unsafeUnwrap();
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe('the next launch', () => {
  it.each([
    // A time that clocks skip does not come on that day.
    ['30 2 * * *', 'Europe/Berlin', '2024-03-30T12:00:00Z', '2024-04-01T00:30:00.000Z'],
    // A time that they show twice comes twice.
    ['30 2 * * *', 'Europe/Berlin', '2024-10-26T23:59:59Z', '2024-10-27T00:30:00.000Z'],
    ['30 2 * * *', 'Europe/Berlin', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00.000Z'],
    // Also when the next one is years away.
    ['30 2 27 10 *', 'Europe/Berlin', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00.000Z'],
    ['30 2 27 10 * 2024', 'Europe/Berlin', '2024-10-27T00:30:00Z', '2024-10-27T01:30:00.000Z'],
    ['30 2 27 10 * 2024', 'Europe/Berlin', '2024-10-27T01:30:00Z', undefined],
    // Half an hour is repeated.
    ['45 1 * * *', 'Australia/Lord_Howe', '2024-04-06T14:45:00Z', '2024-04-06T15:15:00.000Z'],
    // A whole day is left out.
    ['0 12 30 12 *', 'Pacific/Apia', '2011-01-01T00:00:00Z', '2012-12-29T22:00:00.000Z'],
    ['0 0 29 2 *', '', '2096-03-01T00:00:00Z', undefined],
    ['0 0 30 2 *', 'Asia/Tehran', '2024-01-01T00:00:00Z', undefined],
    ['* * * * *', '', '1900-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['* * * * *', '', '2200-01-01T00:00:00Z', undefined],
    ['* * * * * * *', '', '2024-01-01T00:00:00.500Z', '2024-01-01T00:00:01.000Z'],
    ['0 0 29 2 *', '', '2023-03-01T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0 0 1W * *', '', '2024-05-30T00:00:00Z', '2024-06-03T00:00:00.000Z'],
    ['0 0 31W * *', '', '2024-03-20T00:00:00Z', '2024-03-29T00:00:00.000Z'],
    ['0 0 * * 5L', '', '2024-02-01T00:00:00Z', '2024-02-23T00:00:00.000Z'],
    ['0 0 * * 4#5', '', '2024-03-01T00:00:00Z', '2024-05-30T00:00:00.000Z'],
  ])('%s in %j after %s', (spec, zone, from, next) => {
    expect(after(spec, zone, from)).toBe(next);
  });

  it('ignores an expression that is not due any more', () => {
    const periodic = { Spec: '', Specs: ['0 0 1 1 *', '0 0 1 1 * 2000'], SpecType: 'cron', TimeZone: '' };
    expect(nextLaunch(periodic, Date.UTC(2024, 1, 1))._unsafeUnwrap()).toBe(Date.UTC(2025, 0, 1));
  });

  it('is none for times that are none', () => {
    expect(nextMatch(parseCron('* * * * *')._unsafeUnwrap(), utc, Number.NaN)._unsafeUnwrap()).toBeUndefined();
    expect(nextMatch(parseCron('* * * * *')._unsafeUnwrap(), utc, Infinity)._unsafeUnwrap()).toBeUndefined();
  });

  it('looks for impossible dates without end no longer than for others', () => {
    const berlin = timeZone('Europe/Berlin') ?? utc;
    const time = processorTimeOf(() => {
      for (const spec of ['0 0 30 2 *', '0 0 31 4,6,9,11 *', '59-1 * * * * * *', '* * * * 5-1', '* * 31-1 * *']) {
        for (let times = 0; times < 20; times += 1) {
          expect(nextMatch(parseCron(spec)._unsafeUnwrap(), berlin, 0)._unsafeUnwrap()).toBeUndefined();
        }
      }
    });
    expect(time).toBeLessThan(5_000);
  });
});

describe('an expression without a month', () => {
  it.each([
    ['0 0 1 dec-jan * *', 'UTC', '2026-03-01T00:00:00Z'],
    ['0 0 1 dec-jan * 2026', 'UTC', '2026-12-31T23:59:59Z'],
    ['0 0 1 dec-jan * 2026', 'America/New_York', '2027-01-01T04:59:59Z'],
  ])('%j in %s is an error at %s', (Spec, TimeZone, from) => {
    expect(nextLaunch({ Spec, Specs: null, SpecType: 'cron', TimeZone }, Date.parse(from)).isErr()).toBe(true);
  });

  it.each([
    ['0 0 1 dec-jan * 2025', 'UTC', '2026-03-01T00:00:00Z'],
    ['0 0 1 dec-jan * 2026', 'Europe/Berlin', '2026-12-31T23:00:00Z'],
    ['0 0 1 dec-jan *', 'UTC', '2101-01-01T00:00:00Z'],
  ])('%j in %s is merely over at %s', (spec, zone, from) => {
    expect(after(spec, zone, from)).toBeUndefined();
  });
});

/** Fields as sets, printed as a cron expression and matched without one. */
interface Wanted {
  readonly minutes: readonly number[] | null;
  readonly hours: readonly number[] | null;
  readonly days: readonly number[] | null;
  readonly months: readonly number[] | null;
  readonly weekdays: readonly number[] | null;
}

const someOf = (least: number, greatest: number): fc.Arbitrary<readonly number[] | null> =>
  fc.option(
    fc.oneof(
      fc.uniqueArray(fc.integer({ min: least, max: greatest }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: greatest }).map((step) => {
        const count = Math.floor((greatest - least) / step) + 1;
        return Array.from({ length: count }, (_, at) => least + at * step);
      }),
    ),
    { freq: 3 },
  );

const wanted: fc.Arbitrary<Wanted> = fc.record({
  minutes: someOf(0, 59),
  hours: someOf(0, 23),
  days: someOf(1, 31),
  months: someOf(1, 12),
  weekdays: someOf(0, 6),
});

const printed = ({ minutes, hours, days, months, weekdays }: Wanted): string =>
  [minutes, hours, days, months, weekdays].map((field) => field?.join(',') ?? '*').join(' ');

interface ClockFace {
  readonly at: number;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** What a zone's clocks show at each minute of five days. */
function clockFaces(zone: string, from: number): ClockFace[] {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    month: 'numeric',
    day: 'numeric',
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
  });
  return Array.from({ length: (5 * day) / minute }, (_, index) => {
    const at = from + index * minute;
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const number = (type: string): number => Number(parts[type]);
    return {
      at,
      minute: number('minute'),
      hour: number('hour'),
      day: number('day'),
      month: number('month'),
      weekday: weekdays.indexOf(parts['weekday'] ?? ''),
    };
  });
}

function isWanted(face: ClockFace, { minutes, hours, days, months, weekdays: week }: Wanted): boolean {
  const within = (field: readonly number[] | null, value: number): boolean => field === null || field.includes(value);
  const isDay =
    days !== null && week !== null
      ? within(days, face.day) || within(week, face.weekday)
      : within(days, face.day) && within(week, face.weekday);
  return within(minutes, face.minute) && within(hours, face.hour) && within(months, face.month) && isDay;
}

/** Weeks in which clocks change, and one in which they do not. */
const changes: readonly (readonly [string, number])[] = [
  ['Europe/Berlin', Date.UTC(2024, 2, 29)],
  ['Europe/Berlin', Date.UTC(2024, 9, 25)],
  ['America/New_York', Date.UTC(2024, 10, 1)],
  ['America/Sao_Paulo', Date.UTC(2018, 10, 2)],
  ['Australia/Lord_Howe', Date.UTC(2024, 3, 4)],
  ['Australia/Lord_Howe', Date.UTC(2024, 9, 3)],
  ['Pacific/Apia', Date.UTC(2011, 11, 28)],
  ['America/St_Johns', Date.UTC(2010, 10, 5)],
  ['Antarctica/Troll', Date.UTC(2024, 2, 29)],
  ['Asia/Kathmandu', Date.UTC(1985, 11, 29)],
  ['Asia/Tehran', Date.UTC(2021, 2, 19)],
  ['UTC', Date.UTC(2024, 1, 26)],
];

test.each(changes.map(([zone, from]) => [zone, new Date(from).toISOString().slice(0, 10), from] as const))(
  'agrees with a look at the clock in every minute: %s, %s',
  (zone, _, from) => {
    const faces = clockFaces(zone, from);
    fc.assert(
      fc.property(wanted, fc.nat(faces.length - 1), (want, start) => {
        const first = faces.findIndex((face, at) => at > start && isWanted(face, want));
        const cron = parseCron(printed(want))._unsafeUnwrap();
        const found = nextMatch(cron, timeZone(zone) ?? utc, faces[start]?.at ?? 0)._unsafeUnwrap();
        if (first >= 0) expect(found).toBe(faces[first]?.at);
        else expect(found ?? Infinity).toBeGreaterThan(faces.at(-1)?.at ?? 0);
      }),
      { numRuns: 60 },
    );
  },
);

test('agrees with another implementation where clocks do not change', () => {
  const from = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2060, 0) });
  fc.assert(
    fc.property(wanted, from, (want, start) => {
      const spec = printed(want);
      const other = new Cron(spec, { timezone: 'UTC', legacyMode: true }).nextRun(new Date(start));
      const ours = nextMatch(parseCron(spec)._unsafeUnwrap(), utc, start)._unsafeUnwrap();
      // The other one looks beyond 2099.
      if (ours === undefined) expect(other?.getUTCFullYear() ?? 2100).toBeGreaterThanOrEqual(2100);
      else expect(other?.getTime()).toBe(ours);
    }),
    { numRuns: 300 },
  );
});

test('is strictly later, and never later for a later start than for an earlier one', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia', 'Australia/Lord_Howe', 'Africa/Casablanca');
  const from = fc.integer({ min: Date.UTC(2011, 0), max: Date.UTC(2025, 0) });
  fc.assert(
    fc.property(wanted, zone, from, fc.nat(400 * 24), (want, name, start, hours) => {
      const cron = parseCron(printed(want))._unsafeUnwrap();
      const next = (instant: number): number =>
        nextMatch(cron, timeZone(name) ?? utc, instant)._unsafeUnwrap() ?? Infinity;
      const first = next(start);
      expect(first).toBeGreaterThan(start);
      expect(next(start + hours * hour)).toBeGreaterThanOrEqual(first);
      if (Number.isFinite(first)) expect(next(first - 1)).toBe(first);
    }),
    { numRuns: 200 },
  );
});

describe('names of time zones', () => {
  it.each(['Etc/GMT', 'Etc/GMT0', 'Etc/GMT+1', 'Etc/GMT-14', 'GMT', 'America/Argentina/ComodRivadavia'])(
    '%s',
    (name) => {
      expect(timeZone(name)?.name).toBe(name);
    },
  );

  // Each part that could be read in two ways doubled the time.
  it.each([10, 40, 20_000])('one of %i parts is refused at once', (parts) => {
    expect(timeZone(`Aa${'/GMT'.repeat(parts)}!`)).toBeUndefined();
  });
});
