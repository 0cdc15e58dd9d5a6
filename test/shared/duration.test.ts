import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationTextFromNanos, parseDurationNanos, timerOf } from '../../src/shared/duration.js';

test('a timer takes what fits, and never ends early', () => {
  expect([0, 1.5, 2 ** 31 - 1].map(timerOf)).toEqual([0, 2, 2 ** 31 - 1]);
  expect([2 ** 31, 31_536_000_000, Number.POSITIVE_INFINITY].map(timerOf)).toEqual(Array(3).fill(2 ** 31 - 1));
});

describe('durationTextFromNanos', () => {
  test.each<[number, string]>([
    [0, '0s'],
    [7, '7ns'],
    [1_500, '1.5µs'],
    [250_000_000, '250ms'],
    [1_000_000_000, '1s'],
    [1_500_000_000, '1.5s'],
    [95_000_000_000, '1m35s'],
    [3_600_000_000_000, '1h0m0s'],
    [5_400_000_000_001, '1h30m0.000000001s'],
    [-15_000_000_000, '-15s'],
    // What comes of nanoseconds that were kept as milliseconds.
    [535_461_483_205.999_94, '8m55.461483206s'],
    [0.4, '0s'],
  ])('%d is %s', (nanos, text) => {
    expect(durationTextFromNanos(nanos)).toBe(text);
  });

  test('reads back as the same duration', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (nanos) => {
        expect(parseDurationNanos(durationTextFromNanos(nanos))._unsafeUnwrap()).toBe(BigInt(nanos));
      }),
    );
  });
});
