import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { redactHeaders, secretsSentTo, withoutSecrets } from '../../../src/notifications/delivery/redact.js';

const url = 'https://aladdin:open-sesame@hooks.example.net/services/T0001/abcdef0123456789?key=query-value%2B1&flag';
const secrets = secretsSentTo({
  url,
  tokens: ['signing-token', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', null],
  headers: {
    authorization: 'Bearer bearer-token',
    'x-basic': `Basic ${btoa('user:basic-password')}`,
    'x-pair': 'Token token="pair-token", scope=all',
  },
});

/** How a receiver may spell a secret in its answer. */
const encodings: readonly (readonly [string, (secret: string) => string])[] = [
  ['as it is', (secret) => secret],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded in lower case', (secret) => everyByte(secret, (byte) => `%${byte}`)],
  ['percent-encoded twice', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['JSON', (secret) => JSON.stringify(secret).slice(1, -1)],
  ['JSON within JSON', (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
  ['JSON of PHP', (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
  ['JSON in ASCII', (secret) => everyUnit(secret, (unit) => `\\u${unit.padStart(4, '0')}`)],
  ['HTML', (secret) => secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')],
  ['HTML with numbers', (secret) => everyUnit(secret, (unit) => `&#x${unit};`)],
  ['base64', (secret) => btoa(bytesOf(secret))],
  ['base64 behind one byte', (secret) => btoa(`:${bytesOf(secret)}!`)],
  ['base64 behind two bytes', (secret) => btoa(`a:${bytesOf(secret)}`)],
  ['base64 for URLs', (secret) => btoa(bytesOf(secret)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')],
  ['percent-encoded base64', (secret) => encodeURIComponent(btoa(bytesOf(secret)))],
  ['hexadecimal', (secret) => everyByte(secret, (byte) => byte)],
];

const bytesOf = (secret: string) => String.fromCharCode(...new TextEncoder().encode(secret));
const everyByte = (secret: string, print: (byte: string) => string) =>
  Array.from(new TextEncoder().encode(secret), (byte) => print(byte.toString(16).padStart(2, '0'))).join('');
const everyUnit = (secret: string, print: (unit: string) => string) =>
  secret.replaceAll(/[\s\S]/g, (unit) => print(unit.charCodeAt(0).toString(16)));

describe.each([
  ['a token', 'signing-token'],
  ['a token of Standard Webhooks', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['a token without its prefix', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['a header', 'Bearer bearer-token'],
  ['a header without its scheme', 'bearer-token'],
  ['user and password of Basic', 'user:basic-password'],
  ['the password of Basic', 'basic-password'],
  ['a pair in a header', 'pair-token'],
  ['the path and the query', '/services/T0001/abcdef0123456789?key=query-value%2B1&flag'],
  ['the path without the query', '/services/T0001/abcdef0123456789'],
  ['the path without its first slash', 'services/T0001/abcdef0123456789'],
  ['the end of the path', 'abcdef0123456789'],
  ['the query', 'key=query-value%2B1&flag'],
  ['a value of the query', 'query-value%2B1'],
  ['a decoded value of the query', 'query-value+1'],
  ['userinfo', 'aladdin:open-sesame'],
  ['the password of userinfo', 'open-sesame'],
])('%s (%s)', (_name, secret) => {
  it.each(encodings)('is found %s', (_encoding, encode) => {
    const left = withoutSecrets(`<< ${encode(secret)} >>`, secrets);
    // A digit of base64 that belongs to other bytes alone may stay.
    expect(left).toMatch(/^<< \w?\[redacted\] >>$/);
  });
});

test('whatever the secret is and wherever it stands, no encoding of it is left', () => {
  const secret = fc.oneof(
    fc.string({ minLength: 8, maxLength: 40 }),
    fc.string({ unit: 'grapheme', minLength: 8, maxLength: 20 }),
  );
  fc.assert(
    fc.property(
      secret.filter((text) => text.trim().length >= 8 && !/\p{Surrogate}/u.test(text)),
      fc.string(),
      fc.string(),
      fc.constantFrom(...encodings),
      (token, before, after, [, encode]) => {
        const answer = `${before} ${encode(token)} ${after}`;
        const left = withoutSecrets(answer, secretsSentTo({ url: '', tokens: [token], headers: {} }));
        expect(left).toContain('[redacted]');
        expect(left.replaceAll('[redacted]', '\n')).not.toContain(encode(token));
      },
    ),
    { numRuns: 500 },
  );
});

test('everything else stays, and JSON stays JSON', () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, key) => {
      expect(withoutSecrets(json, secrets)).toBe(json);
      const echoed = JSON.stringify({ [key]: 'signing-token', and: ['a "Bearer bearer-token"'] });
      expect(JSON.parse(withoutSecrets(echoed, secrets))).toEqual({ [key]: '[redacted]', and: ['a "[redacted]"'] });
    }),
  );
  for (const text of ['', '%', '\\', '&', '%e2%82', '\\u12', '&#;', '100 % of all & more \\ "quoted"']) {
    expect(withoutSecrets(text, secrets)).toBe(text);
  }
  expect(withoutSecrets('user services all flag key', secrets)).toBe('user services all flag key');
});

test('a secret that is cut off with the answer is found by its beginning', () => {
  for (const answer of ['x signing-', 'x signing-toke', `x ${btoa('signing-token').slice(0, 12)}`]) {
    expect(withoutSecrets(answer, secrets, true)).toBe('x [redacted]');
    expect(withoutSecrets(answer, secrets, false)).toBe(answer);
  }
});

test('values of headers are searched, too', () => {
  const headers = {
    location: [`https://hooks.example.net/other?user=${encodeURIComponent('bearer-token')}`],
    date: ['now'],
  };
  expect(redactHeaders(headers, [], secrets)).toEqual({
    location: ['https://hooks.example.net/other?user=[redacted]'],
    date: ['now'],
  });
});

test('takes time in proportion to the answer, whatever is in it', () => {
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`x-${n}`, '\\'.repeat(4000) + n]));
  const all = secretsSentTo({ url, tokens: ['%25'.repeat(1000)], headers: many });
  const began = performance.now();
  for (const piece of ['\\', '%25', '&amp;', '\\u005c', 'A'])
    withoutSecrets(piece.repeat(16_384 / piece.length), all, true);
  expect(performance.now() - began).toBeLessThan(3_000);
});
