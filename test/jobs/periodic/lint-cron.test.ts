import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { lintCron, periodicProblems, periodicWarnings } from '../../../src/jobs/periodic/validate-periodic.js';
import { anyText } from '../../support/texts.js';

const start = Date.UTC(2024, 1, 1);
const schedule = (Specs: readonly string[], TimeZone = '') => ({ Spec: '', Specs, SpecType: 'cron', TimeZone });

describe('lint', () => {
  it('lists the next launches as the clocks show them', () => {
    const { launches } = lintCron(
      schedule(['30 2 * * *', '0 2 31 3 *'], 'Europe/Berlin'),
      Date.UTC(2024, 2, 29, 12),
      3,
    );
    expect(launches).toEqual([
      { at: Date.UTC(2024, 2, 30, 1, 30), wallTime: '2024-03-30T02:30:00+01:00', specs: ['30 2 * * *'] },
      { at: Date.UTC(2024, 3, 1, 0, 30), wallTime: '2024-04-01T02:30:00+02:00', specs: ['30 2 * * *'] },
      { at: Date.UTC(2024, 3, 2, 0, 30), wallTime: '2024-04-02T02:30:00+02:00', specs: ['30 2 * * *'] },
    ]);
  });

  it('tells which launches clock changes skip and double', () => {
    const { findings } = lintCron(schedule(['30 2 * * *'], 'Europe/Berlin'), start, 1);
    expect(findings).toEqual([
      {
        kind: 'skipped',
        spec: '30 2 * * *',
        message: '"30 2 * * *", 2024-03-31 02:30:00 in Europe/Berlin: clocks are set forward over it, so it is skipped',
      },
      {
        kind: 'doubled',
        spec: '30 2 * * *',
        message:
          '"30 2 * * *", 2024-10-27 02:30:00 in Europe/Berlin: clocks are set back over it, so it is launched twice',
      },
    ]);
  });

  it.each([
    ['30 4 * * *', 'Europe/Berlin'],
    ['*/20 * * * *', 'Europe/Berlin'],
    ['30 2 * * *', ''],
    ['30 2 * * *', 'Asia/Tokyo'],
  ])('has nothing to tell of %s in %j', (spec, zone) => {
    expect(lintCron(schedule([spec], zone), start, 10).findings).toEqual([]);
  });

  it('tells what is never due, and what is due together', () => {
    const { launches, findings } = lintCron(schedule(['0 0 30 2 *', '0 */2 * * *', '0 */3 * * *']), start, 4);
    expect(launches.map(({ specs }) => specs.length)).toEqual([1, 1, 1, 2]);
    expect(findings).toEqual([
      { kind: 'never', spec: '0 0 30 2 *', message: '"0 0 30 2 *" is not due again before the end of 2099' },
      {
        kind: 'together',
        spec: '0 */2 * * *',
        message: '"0 */2 * * *" and "0 */3 * * *" are both due at 2024-02-01T06:00:00Z, which is one launch',
      },
    ]);
  });

  it('tells a schedule whose times have all passed from one that has none', () => {
    const { findings } = lintCron(schedule(['0 0 1 1 * 2020', '0 0 30 2 *']), start, 1);
    expect(findings).toEqual([
      { kind: 'past', spec: '0 0 1 1 * 2020', message: '"0 0 1 1 * 2020": all times at which it is due have passed' },
      { kind: 'never', spec: '0 0 30 2 *', message: '"0 0 30 2 *" is not due again before the end of 2099' },
    ]);
  });

  it('warns briefly about many expressions, each of which counts once', () => {
    const every = Array.from({ length: 99 }, (_, at) => `* * * * ${' '.repeat(at)}*`);
    expect(periodicWarnings(schedule([...every, '* * * * *'], 'Africa/Casablanca'), start)).toEqual([
      expect.stringMatching(
        /^"\* \* \* \* \*" and ".*" and ".*" and 96 others are both due at .*, which is one launch$/,
      ),
    ]);
    const past = Array.from({ length: 30 }, (_, at) => `${at} 0 1 1 * 2020`);
    expect(periodicWarnings(schedule(past), start).at(-1)).toBe('20 more warnings about the schedule');
  });

  it.each([
    ['0 9 * * 5-7', '"5-7" in the day-of-week field ends with Saturday; add ",0" for Sunday'],
    ['0 9 * * 03', '"03" in the day-of-week field is read as Sunday; write 3'],
    ['0 22-2 * * *', '"22-2" in the hour field ends before it begins, so it matches nothing'],
    ['@daily at noon', 'it has 9 fields: those after the seventh are ignored'],
  ])('tells the trap in %s', (spec, message) => {
    expect(lintCron(schedule([spec]), start, 0).findings).toContainEqual({
      kind: 'trap',
      spec,
      message: `${JSON.stringify(spec)}: ${message}`,
    });
  });

  it.each(['0 0 13 * 5', '*/7 * * * *'])('notes what is often forgotten of %s, and does not warn', (spec) => {
    expect(lintCron(schedule([spec]), start, 1).findings.map(({ kind }) => kind)).toEqual(['note']);
    expect(periodicWarnings(schedule([spec]), start)).toEqual([]);
  });

  test('any schedule is linted', () => {
    const spec = fc.oneof(anyText(), fc.constantFrom('* * * * *', '5-1 * * * *', '0 0 * dec-jan *', '30 2 * * 0-0'));
    const zone = fc.oneof(anyText(), fc.constantFrom('', 'Europe/Berlin', 'Pacific/Apia'));
    fc.assert(
      fc.property(fc.array(spec, { maxLength: 3 }), zone, fc.integer(), (specs, name, from) => {
        expect(lintCron(schedule(specs, name), from, 3).launches.length).toBeLessThanOrEqual(3);
        expect(Array.isArray(periodicProblems(schedule(specs, name)))).toBe(true);
      }),
    );
  });
});

describe('problems', () => {
  it.each([
    [schedule([]), ['a cron expression is required']],
    [{ ...schedule(['* * * * *']), Spec: '* * * * *' }, ['cron and crons cannot be combined']],
    [{ ...schedule(['* * * * *']), SpecType: 'CRON' }, ['the kind of schedule must be cron, not "CRON"']],
    [
      schedule(['x', '* * * * *', '@reboot'], 'europe/berlin'),
      [
        '"x" is not a valid cron expression: a cron expression has five to seven fields, not 1',
        '"@reboot" is not a valid cron expression: the only names are @yearly, @annually, @monthly, @weekly, @daily and @hourly',
        'unknown time zone "europe/berlin": use a name of the IANA database, such as Europe/Berlin',
      ],
    ],
    [
      { ...schedule(['x'], 'Mars/Base'), Spec: '* * * * *' },
      [
        'cron and crons cannot be combined',
        '"x" is not a valid cron expression: a cron expression has five to seven fields, not 1',
        'unknown time zone "Mars/Base": use a name of the IANA database, such as Europe/Berlin',
      ],
    ],
    [{ ...schedule([]), SpecType: '' }, ['a cron expression is required', 'the kind of schedule must be cron, not ""']],
  ])('of %j', (periodic, problems) => {
    expect(periodicProblems(periodic)).toEqual(problems);
  });

  it.each(['+02:00', 'utc', 'EUROPE/BERLIN', 'Mars/Base', '../etc/passwd', 'Europe/Berlin ', 'Factory'])(
    'time zone %j',
    (zone) => {
      expect(periodicProblems(schedule(['* * * * *'], zone))).toHaveLength(1);
    },
  );

  it.each(['', 'UTC', 'Local', 'EST', 'Etc/GMT+5', 'America/Port-au-Prince', 'W-SU', 'Antarctica/DumontDUrville'])(
    'none of time zone %j',
    (zone) => {
      expect(periodicProblems(schedule(['* * * * *'], zone))).toEqual([]);
    },
  );

  it('knows every zone of the platform', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    expect(zones.filter((zone) => periodicProblems(schedule(['* * * * *'], zone)).length > 0)).toEqual([]);
  });
});
