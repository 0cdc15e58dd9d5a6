import { expect, test } from 'vitest';
import { contradicts } from '../../../src/notifications/events/event.js';
import { assessmentEvent, assessmentResult, runEvent } from '../samples.js';

const own = {
  kind: 'custom',
  trigger: 'order.created',
  message: 'order.created',
  data: { id: 'o-1' },
  orderKey: null,
  occurredAt: '2026-01-02T03:04:05.000Z',
  body: 'envelope',
} as const;

test.each([
  ['the same', runEvent, runEvent, false],
  ['less', { ...runEvent, runUrl: null, runMessage: null }, runEvent, false],
  ['more', runEvent, { ...runEvent, runUrl: null }, true],
  ['another text', { ...runEvent, message: 'other' }, runEvent, true],
  ['another run', { ...runEvent, runId: 'run-2' }, runEvent, true],
  ['another kind', assessmentEvent, runEvent, true],
  ['own data', { ...own, data: { id: 'o-2' } }, own, true],
  ['a type that has another form of body meanwhile', { ...own, body: 'data' }, own, false],
  [
    'something nested',
    { ...assessmentEvent, newAssessmentResult: { ...assessmentResult, checks_failed: 99 } },
    assessmentEvent,
    true,
  ],
] as const)('%s', (_what, event, other, expected) => {
  expect(contradicts(event, other)).toBe(expected);
});
