import { describe, expect, it } from 'vitest';
import { failureClasses } from '../../../src/notifications/delivery/classify-failure.js';
import { waitReasons } from '../../../src/notifications/queue/queue-record.js';
import {
  destinationText,
  failureName,
  failureRemedy,
  healthWords,
  notNotified,
  obstacleWords,
  outcomeWords,
  redeliveryText,
  summaryWords,
  waitText,
} from '../../../web/rules/notification-words.js';

const now = Date.parse('2026-11-30T14:00:00.000Z');
const at = (minutes: number): string => new Date(now + minutes * 60_000).toISOString();

const health = {
  paused: false,
  breaker: 'closed',
  breakerSince: null,
  nextProbeAt: null,
  failures: 0,
  failingSince: null,
  hinderedBy: null,
  hinderedSince: null,
  backlog: 0,
} as const;
const response = { url: '', body: '', code: '200', headers: {}, sentAt: at(-60), successful: true };
const working = { enabled: true, kind: 'generic', response, health } as const;

describe('health of a configuration', () => {
  it.each([
    ['works', working, 200, { mark: 'good', word: 'Working', detail: '' }],
    ['works off a queue', { ...working, health: { ...health, backlog: 7 } }, 200, { detail: '7 wait' }],
    [
      'is off and was never verified',
      { ...working, enabled: false, response: null },
      null,
      { mark: 'off', word: 'Off', detail: 'not verified' },
    ],
    [
      'is off after a failed verification',
      { ...working, enabled: false, response: { ...response, successful: false } },
      null,
      { detail: 'not verified' },
    ],
    ['is off', { ...working, enabled: false }, null, { mark: 'off', word: 'Off', detail: '' }],
    [
      'is off: e-mail is verified manually only',
      { ...working, enabled: false, kind: 'email', response: null } as const,
      null,
      { detail: '' },
    ],
    [
      'is off before anything else',
      { ...working, enabled: false, health: { ...health, paused: true } },
      503,
      { word: 'Off' },
    ],
    [
      'is paused',
      { ...working, health: { ...health, paused: true, backlog: 41 } },
      503,
      { mark: 'waiting', word: 'Paused', detail: '41 wait' },
    ],
    [
      'is blocked on this side',
      { ...working, health: { ...health, hinderedBy: 'proxy_failed', hinderedSince: at(-3) } } as const,
      null,
      { mark: 'failed', word: 'Blocked', detail: 'the proxy failed, for 3 min' },
    ],
    [
      'is failing',
      {
        ...working,
        health: {
          ...health,
          breaker: 'open',
          breakerSince: at(-20),
          failingSince: at(-22),
          nextProbeAt: at(7),
          backlog: 41,
        },
      } as const,
      503,
      { mark: 'failed', word: 'Failing', detail: 'for 22 min, last answer 503, 41 wait, next try in 7 min' },
    ],
    [
      'is failing, with more than are counted',
      {
        ...working,
        health: { ...health, breaker: 'half_open', breakerSince: at(-20), nextProbeAt: at(-1), backlog: 1000 },
      } as const,
      null,
      { detail: 'for 20 min, over 1,000 wait, next delivery is a trial' },
    ],
    [
      'is unsteady',
      { ...working, health: { ...health, failures: 2, failingSince: at(-1) } },
      500,
      { mark: 'degraded', word: 'Unsteady', detail: '2 failures in a row, for 1 min, last answer 500' },
    ],
  ])('%s', (_name, configuration, lastStatus, expected) => {
    expect(healthWords(configuration, lastStatus, now)).toMatchObject(expected);
  });

  it('of several is named worst first', () => {
    const of = (mark: 'good' | 'failed' | 'off', word: string) => ({ mark, word, detail: '' });
    const all = [of('good', 'Working'), of('off', 'Off'), of('failed', 'Failing'), of('good', 'Working')];
    expect(summaryWords(all)).toEqual({ mark: 'failed', word: '1 failing, 2 working, 1 off', detail: '' });
    expect(summaryWords([])).toMatchObject({ mark: 'off', word: 'No configurations' });
  });
});

it.each([
  [{ kind: 'generic', url: 'https://hooks.example.net:8443/a?b=c', users: [] }, 'hooks.example.net:8443'],
  [{ kind: 'generic', url: null, users: [] }, 'unreadable: its key is missing'],
  [{ kind: 'generic', url: 'no URL', users: [] }, 'no URL'],
  [{ kind: 'email', url: null, users: [] }, 'no recipients'],
  [{ kind: 'email', url: null, users: ['u-1'] }, '1 recipient'],
  [{ kind: 'email', url: null, users: ['u-1', 'u-2'] }, '2 recipients'],
] as const)('destination %#', (configuration, expected) => {
  expect(destinationText(configuration)).toBe(expected);
});

describe('every reason has words', () => {
  it.each(failureClasses)('failure %s', (name) => {
    expect(failureName(name)).not.toBe(name);
    expect(failureRemedy(name)).toMatch(/^[A-Z].*\.$/);
  });

  it('a class of a later version is shown as it is', () => {
    expect(failureName('quantum_noise')).toBe('quantum noise');
    expect(failureName('toString')).toBe('toString');
    expect(failureRemedy('toString')).toBe('');
  });

  it('a forbidden address names the setting that allows it', () => {
    expect(failureRemedy('address_forbidden')).toContain('--allow-outbound');
  });

  it.each(waitReasons)('wait %s', (reason) => {
    expect(waitText({ reason, until: null })).toMatch(/ /);
    expect(outcomeWords({ outcome: 'pending', waitsFor: { reason, until: null } })).toMatchObject({ mark: 'waiting' });
  });

  it.each([
    [{ outcome: 'dead', reason: 'exhausted' }, 'Given up', 'every try of the schedule failed'],
    [{ outcome: 'cancelled', reason: 'configuration_disabled' }, 'Cancelled', 'the configuration was disabled'],
    [{ outcome: 'cancelled', reason: 'some_new_reason' }, 'Cancelled', 'some new reason'],
    [{ outcome: 'delivered', reason: null }, 'Delivered', ''],
  ] as const)('outcome %j', (delivery, word, detail) => {
    expect(outcomeWords(delivery)).toMatchObject({ word, detail });
  });

  it.each([
    ['disabled', 'enable'],
    ['trigger_off', 'trigger'],
    ['filtered', 'filter'],
    ['no_recipients', 'recipients'],
    ['local_execution', undefined],
    ['speculative_run', undefined],
    ['feature_off', undefined],
    ['about_itself', undefined],
  ] as const)('obstacle %s', (obstacle, fix) => {
    const { words, field, fix: offered } = obstacleWords(obstacle);
    expect(words).not.toBe('');
    expect(field).not.toBe('');
    expect(offered).toBe(fix);
  });
});

describe('one more try', () => {
  const breaker = { reason: 'breaker', until: null } as const;
  it.each([
    [{ outcome: 'dead', waitsFor: null }, /^Sends it once more, now\..*stays given up\.$/],
    [{ outcome: 'delivered', waitsFor: null }, /^Sends it once more, now\./],
    [
      { outcome: 'pending', waitsFor: breaker },
      /^Makes one extra try now, although the destination is failing\. .*the schedule continues as before\./,
    ],
    [{ outcome: 'pending', waitsFor: { reason: 'paused', until: null } }, /although the configuration is paused/],
    [{ outcome: 'pending', waitsFor: null }, /ahead of the others/],
  ] as const)('%j', (delivery, expected) => {
    expect(redeliveryText(delivery)).toMatch(expected);
    expect(redeliveryText(delivery)).toContain('same event ID');
  });
});

describe('who was not notified of an event', () => {
  const explained = (configurationId: string, ...obstacles: Parameters<typeof obstacleWords>[0][]) => ({
    ...{ configurationId, name: `name of ${configurationId}`, fires: obstacles.length === 0, obstacles },
  });
  const deliveries = [{ configurationId: 'told' }];
  const off = obstacleWords('disabled').words;
  const trigger = obstacleWords('trigger_off').words;

  it.each([
    ['the same as then', [explained('a', 'disabled')], [explained('a', 'disabled')], off, ''],
    ['mended since', [explained('a', 'disabled')], [explained('a')], off, 'now it would be notified'],
    ['another reason now', [explained('a', 'disabled')], [explained('a', 'trigger_off')], off, `now: ${trigger}`],
    [
      'two reasons',
      [explained('a', 'disabled', 'trigger_off')],
      [explained('a')],
      `${off}; ${trigger}`,
      'now it would be notified',
    ],
    ['deleted', [explained('a', 'disabled')], [], off, 'it was deleted since'],
    ['made later', [], [explained('a')], 'it was made later', ''],
    ['not known, as now', null, [explained('a', 'disabled')], off, ''],
    [
      'not known, now none',
      null,
      [explained('a')],
      'it would be notified now, but was not when the event was accepted',
      '',
    ],
  ])('%s', (_what, then, explanations, reason, changed) => {
    const known = then === null ? null : [explained('told'), ...then];
    const event = { deliveries, explanations: [explained('told'), ...explanations], explanationsAtAcceptance: known };
    expect(notNotified(event)).toEqual([{ configurationId: 'a', name: 'name of a', reason, now: changed }]);
  });

  it('nobody, if all were notified', () => {
    expect(
      notNotified({
        deliveries,
        explanations: [explained('told', 'disabled')],
        explanationsAtAcceptance: [explained('told')],
      }),
    ).toEqual([]);
  });
});
