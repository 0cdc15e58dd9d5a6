import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { envelopeOf, mailAddressFromText } from '../../../adapters/smtp/mail-envelope.js';

describe('envelopeOf', () => {
  it('leaves no control character and no line separator in anything, whatever is given', () => {
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom('\r', '\n', '\0')),
    });
    fc.assert(
      fc.property(text, text, text, text, (to, subject, name, value) => {
        const envelope = envelopeOf({ to, subject, text: '', html: '', headers: { [name]: value } });
        const checked = envelopeOf({
          to: 'ada@example.org',
          subject,
          text: '',
          html: '',
          headers: { 'x-note': value, 'message-id': value, references: value },
        });
        for (const result of [envelope, checked]) {
          if (result.isErr()) continue;
          const { headers, messageId, references, subject: line, to: recipient } = result.value;
          const all = [recipient, line, messageId, references, ...Object.keys(headers), ...Object.values(headers)];
          for (const part of all) expect(part ?? '').not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        }
        expect(checked.isOk()).toBe(true);
      }),
    );
  });

  it('takes message-id and references out of the other headers, in any spelling', () => {
    const headers = { 'Message-ID': '<a@b>', References: '<c@d>', 'X-Note': 'n' };
    const envelope = envelopeOf({ to: 'ada@example.org', subject: 's', text: '', html: '', headers });
    expect(envelope._unsafeUnwrap()).toEqual({
      to: 'ada@example.org',
      subject: 's',
      messageId: '<a@b>',
      references: '<c@d>',
      headers: { 'X-Note': 'n' },
    });
  });
});

describe('mailAddressFromText', () => {
  it.each([
    ['a@b.example', { name: '', address: 'a@b.example' }],
    [' a@b.example ', { name: '', address: 'a@b.example' }],
    ['Ada L. <a@b.example>', { name: 'Ada L.', address: 'a@b.example' }],
    ['"Lovelace, Ada" <a@b.example>', { name: 'Lovelace, Ada', address: 'a@b.example' }],
  ])('reads %s', (text, address) => {
    expect(mailAddressFromText(text)).toEqual(address);
  });

  it.each(['', 'a', '@b', 'a@', 'a@b, c@d', 'A <a@b> <c@d>', 'A\r\nB: c <a@b>'])('refuses "%s"', (text) => {
    expect(mailAddressFromText(text)).toBeNull();
  });
});
