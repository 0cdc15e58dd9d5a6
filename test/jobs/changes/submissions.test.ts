import { expect, test } from 'vitest';
import { droppedSourceWarning } from '../../../src/jobs/changes/submissions.js';

test('a source that is too long by one byte is told so', () => {
  expect(droppedSourceWarning(1_000_001, 1_000_000)).toBe(
    'job source was not stored: it has 1,000,001 bytes, at most 1,000,000 are kept',
  );
});
