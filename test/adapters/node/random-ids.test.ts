import { describe, expect, it } from 'vitest';
import { randomIds } from '../../../adapters/node/random-ids.js';
import { idsConformance } from '../../conformance/ids/index.js';

describe('randomIds', () => {
  idsConformance(it, randomIds);

  it('uses every base58 character about equally often', () => {
    const ids = randomIds();
    const counts = new Map<string, number>();
    const made = 20_000;
    for (let count = 0; count < made; count += 1) {
      for (const character of ids.next('run').slice(4)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(58);
    const expected = (made * 16) / 58;
    // Six standard deviations are 8 %; taking bytes modulo 58 would give the first 24 characters 25 % more than the rest.
    for (const seen of counts.values()) expect(Math.abs(seen - expected) / expected).toBeLessThan(0.09);
  });

  it('spreads fractions over the whole range', () => {
    const ids = randomIds();
    const tenths = new Set<number>();
    for (let count = 0; count < 1000; count += 1) tenths.add(Math.floor(ids.fraction() * 10));
    expect(tenths.size).toBe(10);
  });
});
