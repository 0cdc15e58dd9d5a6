import { describe, expect, it } from 'vitest';
import { lowerCase, titleCase, upperCase } from '../../../../src/hcl/functions/texts/case-mapping.js';

const characters = Array.from({ length: 0x30000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code >= 0xe000)
  .map((code) => String.fromCodePoint(code));

describe('case mapping', () => {
  it('maps each character to one character, whatever stands beside it', () => {
    for (const map of [upperCase, lowerCase]) {
      const wrong = characters.filter((character) => {
        const mapped = map(character);
        return [...mapped].length !== 1 || map(`a${character}b`) !== map('a') + mapped + map('b');
      });
      expect(wrong).toEqual([]);
    }
  });

  it('is the platform’s where that keeps the length', () => {
    const differs = (own: (text: string) => string, platform: (text: string) => string) =>
      characters.filter((each) => platform(each).length === each.length && own(each) !== platform(each));
    expect(differs(upperCase, (text) => text.toUpperCase())).toEqual([]);
    expect(differs(lowerCase, (text) => text.toLowerCase())).toEqual([]);
  });

  it.each([
    ['ßﬁŉ', 'ßﬁŉ', 'ßﬁŉ'],
    ['ᾀᾳῃ', 'ᾈᾼῌ', 'ᾀᾳῃ'],
    ['ΑΣ', 'ΑΣ', 'ας'.replace('ς', 'σ')],
    ['İı', 'İI', 'iı'],
    ['𐐨é', '𐐀É', '𐐨é'],
  ])('%s', (text, upper, lower) => {
    expect(upperCase(text)).toBe(upper);
    expect(lowerCase(text)).toBe(lower);
  });

  it.each([
    ["it's a-b c_d 1e", "It'S A-B C_d 1e"],
    ['ǆ ǳ ა éß', 'ǅ ǲ ა Éß'],
    ['a\u2003b\u0085c', 'A\u2003B\u0085C'],
    ['😀a 😀', '😀a 😀'],
  ])('titles of %s', (text, title) => expect(titleCase(text)).toBe(title));
});
