import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeText } from '../../../src/hcl/values/unicode.js';

const ACUTE = '\u0301';
const DOT_BELOW = '\u0323';

describe('normal form', () => {
  it('is the platform’s for every text with short runs of marks', () => {
    const pieces = fc.constantFrom(
      'a',
      'e',
      ACUTE,
      DOT_BELOW,
      '\u0344',
      '\u1100',
      '\u1161',
      '\ufb2c',
      '\ud834\udd65',
      '漢',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (all) => {
        const text = all.join('');
        expect(normalizeText(text)).toBe(text.normalize('NFC'));
      }),
    );
  });

  it.each([20, 29, 30])('sorts a run of %i marks', (length) => {
    const text = `a${(ACUTE + DOT_BELOW).repeat(length / 2)}`;
    expect(normalizeText(text)).toBe(text.normalize('NFC'));
  });

  it('takes long runs in pieces, without losing or splitting anything', () => {
    for (const mark of [ACUTE + DOT_BELOW, '\ud834\udd65']) {
      const text = `x${mark.repeat(5_000)}y`;
      const normal = normalizeText(text);
      expect([...normal].sort()).toEqual([...text].sort());
      expect(/\p{Surrogate}/u.test(normal)).toBe(false);
      expect(normalizeText(normal)).toBe(normal);
      // Sorting it as a whole would take time quadratic in its length.
      if (mark.length > 1 && mark !== '\ud834\udd65') expect(normal).not.toBe(text.normalize('NFC'));
    }
  });
});
