import { describe, expect, test } from 'vitest';
import { instantFromRfc3339 } from '../../src/shared/instant.js';

describe('instantFromRfc3339', () => {
  test.each<[string, string]>([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05.678901234Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(instantFromRfc3339(text)).toBe(Date.parse(iso));
  });

  // Without an offset the moment would depend on the time zone of the process.
  test.each(['2026-01-02T03:04:05', '2026-01-02T03:04Z', '2026-01-02', '2026-13-02T03:04:05Z', 'soon', '2', ''])(
    '%j is no moment',
    (text) => {
      expect(instantFromRfc3339(text)).toBeUndefined();
    },
  );
});
