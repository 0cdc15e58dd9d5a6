import { expect, test } from 'vitest';
import { contradicts } from '../../../src/notifications/events/event-content.js';
import { assessmentEvent, assessmentResult, runEvent } from '../samples.js';

test.each([
  ['the same', runEvent, runEvent, false],
  ['less', { ...runEvent, runUrl: null, runMessage: null }, runEvent, false],
  ['more', runEvent, { ...runEvent, runUrl: null }, true],
  ['another text', { ...runEvent, message: 'other' }, runEvent, true],
  ['another run', { ...runEvent, runId: 'run-2' }, runEvent, true],
  ['another kind', assessmentEvent, runEvent, true],
  [
    'something nested',
    { ...assessmentEvent, newAssessmentResult: { ...assessmentResult, checks_failed: 99 } },
    assessmentEvent,
    true,
  ],
] as const)('%s', (_what, event, other, expected) => {
  expect(contradicts(event, other)).toBe(expected);
});
