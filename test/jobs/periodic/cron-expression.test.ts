import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseCron } from '../../../src/jobs/periodic/cron-expression.js';
import { anyText } from '../../support/texts.js';

describe('cron expressions', () => {
  it('reads five, six and seven fields', () => {
    const five = parseCron('1 2 3 4 5')._unsafeUnwrap();
    expect(five).toMatchObject({ seconds: [0], minutes: [1], hours: [2], months: [4] });
    expect(five.years).toHaveLength(130);
    expect(parseCron('1 2 3 4 5 2030')._unsafeUnwrap()).toMatchObject({ seconds: [0], minutes: [1], years: [2030] });
    expect(parseCron('9 1 2 3 4 5 2030 x y')._unsafeUnwrap()).toMatchObject({
      seconds: [9],
      minutes: [1],
      years: [2030],
    });
  });

  it('replaces words inside the text', () => {
    expect(parseCron('@daily')).toEqual(parseCron('0 0 0 * * * *'));
    expect(parseCron('@hourly ignored')).toEqual(parseCron('0 0 * * * * *'));
  });

  it.each([
    ['*/20', [0, 20, 40]],
    ['5/20', [5, 25, 45]],
    ['7-9', [7, 8, 9]],
    ['50-59/4', [50, 54, 58]],
    ['5,,5,03', [3, 5]],
    ['59-1', []],
    ['*/7,1', [0, 1, 7, 14, 21, 28, 35, 42, 49, 56]],
  ])('minutes %s', (field, minutes) => {
    expect(parseCron(`${field} * * * *`)._unsafeUnwrap().minutes).toEqual(minutes);
  });

  it.each([
    ['sun', [0]],
    ['SUNDAY', [0]],
    ['7', [0]],
    ['0-0', [0, 1, 2, 3, 4, 5, 6]],
    ['5-7', [5, 6]],
    ['7-2', [0, 1, 2]],
    ['sat-sun', [6]],
    ['MON-fri/2', [1, 3, 5]],
    ['05', [0]],
  ])('days of the week %s', (field, days) => {
    expect(parseCron(`* * * * ${field}`)._unsafeUnwrap().daysOfWeek.days).toEqual(days);
  });

  it.each([
    ['* * * *', 'a cron expression has five to seven fields, not 4'],
    ['@every 1h', 'the only names are @yearly, @annually, @monthly, @weekly, @daily and @hourly'],
    ['60 * * * *', 'invalid value "60" in the minute field'],
    ['* * L-3 * *', 'invalid value "L-3" in the day-of-month field'],
    ['* * * * L', 'invalid value "L" in the day-of-week field'],
    ['* * * * 1#6', 'invalid value "1#6" in the day-of-week field'],
    ['* * * foo *', 'invalid value "foo" in the month field'],
    ['* * ?/2 * *', 'invalid value "?/2" in the day-of-month field'],
    ['*/0 * * * *', 'the interval of "*/0" in the minute field must be from 1 to 59'],
    ['*/007 * * * *', 'the interval of "*/007" in the minute field must be from 1 to 59'],
    ['* * * * */7', 'the interval of "*/7" in the day-of-week field must be from 1 to 6'],
    [', * * * *', 'the minute field is empty'],
    ['* * * * * 1969', 'invalid value "1969" in the year field'],
    ['\u00a0* * * * *', 'invalid value "\u00a0*" in the minute field'],
    ['x'.repeat(1001), 'a cron expression may have at most 1000 characters'],
  ])('refuses %j', (text, problem) => {
    expect(parseCron(text)._unsafeUnwrapErr()).toBe(problem);
  });

  test('any text is read or refused', () => {
    const field = fc.stringMatching(/^[*?0-9LWlw#,/a-z-]{1,8}$/);
    const text = fc.oneof(
      anyText(),
      fc.array(field, { minLength: 4, maxLength: 8 }).map((fields) => fields.join(' ')),
    );
    fc.assert(
      fc.property(text, (written) => {
        const read = parseCron(written);
        if (read.isErr()) return;
        const { minutes, hours, months, years, daysOfMonth, daysOfWeek } = read.value;
        expect(minutes.every((each) => each >= 0 && each <= 59)).toBe(true);
        expect(hours.every((each) => each >= 0 && each <= 23)).toBe(true);
        expect(months.every((each) => each >= 1 && each <= 12)).toBe(true);
        expect(years.every((each) => each >= 1970 && each <= 2099)).toBe(true);
        expect(daysOfMonth.days.every((each) => each >= 1 && each <= 31)).toBe(true);
        expect(daysOfWeek.days.every((each) => each >= 0 && each <= 6)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
