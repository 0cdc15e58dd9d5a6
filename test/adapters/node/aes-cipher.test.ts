import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aesCipher } from '../../../adapters/node/aes-cipher.js';

const first = { id: 'k1', key: randomBytes(32) };
const second = { id: '2026-11', key: randomBytes(32) };

describe('aesCipher', () => {
  it('opens what it sealed, whatever the text', () => {
    const cipher = aesCipher({ keys: [first], current: 'k1' });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
        expect(cipher.open(cipher.seal(plain))._unsafeUnwrap()).toBe(plain);
      }),
    );
  });

  it('names the key, and never seals the same twice', () => {
    const cipher = aesCipher({ keys: [first, second], current: '2026-11' });
    const sealed = cipher.seal('secret');
    expect(sealed).toMatch(/^v1\.2026-11\.[A-Za-z0-9_-]+$/);
    expect(sealed).not.toContain('secret');
    expect(cipher.seal('secret')).not.toBe(sealed);
  });

  it('rotates: new texts with the new key, old texts with the old one until it is left out', () => {
    const old = aesCipher({ keys: [first], current: 'k1' }).seal('secret');
    const rotated = aesCipher({ keys: [first, second], current: '2026-11' });
    expect(rotated.open(old)._unsafeUnwrap()).toBe('secret');
    expect(rotated.seal('secret')).toMatch(/^v1\.2026-11\./);
    const retired = aesCipher({ keys: [second], current: '2026-11' });
    const error = retired.open(old)._unsafeUnwrapErr();
    expect(error.type).toBe('undecipherable');
    expect(error.message).toContain('"k1"');
  });

  it('does not open with another key of the same name', () => {
    const sealed = aesCipher({ keys: [first], current: 'k1' }).seal('secret');
    const other = aesCipher({ keys: [{ id: 'k1', key: randomBytes(32) }], current: 'k1' });
    expect(other.open(sealed)._unsafeUnwrapErr().type).toBe('undecipherable');
  });

  it('does not open a text with any one character changed, or sealed under another key id', () => {
    const cipher = aesCipher({ keys: [first, { ...first, id: 'k2' }], current: 'k1' });
    const sealed = cipher.seal('a secret text');
    expect(cipher.open(sealed.replace('v1.k1.', 'v1.k2.')).isErr()).toBe(true);
    for (let position = 0; position < sealed.length - 1; position += 1) {
      const changed = sealed[position] === 'A' ? 'B' : 'A';
      expect(cipher.open(sealed.slice(0, position) + changed + sealed.slice(position + 1)).isErr()).toBe(true);
    }
  });

  it.each(['', 'plain', 'v1', 'v1.k1', 'v1.k1.', 'v1.k1.AAAA', 'v2.k1.AAAA', 'v1.k1.AA.AA', `v1.${'x'.repeat(99)}.AA`])(
    'takes "%s" for nothing that it sealed',
    (text) => {
      expect(
        aesCipher({ keys: [first], current: 'k1' })
          .open(text)
          ._unsafeUnwrapErr().type,
      ).toBe('undecipherable');
    },
  );

  it('takes keys as bytes, base64 and hexadecimal digits', () => {
    const sealed = aesCipher({ keys: [first], current: 'k1' }).seal('secret');
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const cipher = aesCipher({ keys: [{ id: 'k1', key: first.key.toString(encoding) }], current: 'k1' });
      expect(cipher.open(sealed)._unsafeUnwrap()).toBe('secret');
    }
  });

  it('refuses keys that cannot be used, without showing them', () => {
    const wrong = [
      { keys: [], current: 'k1' },
      { keys: [first], current: 'k9' },
      { keys: [first, first], current: 'k1' },
      { keys: [{ id: 'a.b', key: first.key }], current: 'a.b' },
      { keys: [{ id: 'k1', key: 'shortsecret' }], current: 'k1' },
    ];
    for (const settings of wrong) {
      expect(() => aesCipher(settings)).toThrow(TypeError);
      expect(() => aesCipher(settings)).not.toThrow(/shortsecret/);
    }
  });
});
