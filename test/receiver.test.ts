import { describe, expect, it } from 'vitest';
import { verificationPayload } from '../src/notifications/payloads/verification.js';
import { isVerification, verifySignature, verifyStandardSignature } from '../src/receiver.js';

const token = 's3cr3t-token';
const body = JSON.stringify(verificationPayload('nc-8Kq3VwYt5LmZr2Hd', 'Deploy hook'));
const signature =
  'df662abfb200a7acc58af6dd479bb60600385310fb2272546cf4eb2c31dc67265dbb4790e8803ddc533e0bcfcbc0f662ac93b24c340cde9e202626997c8abce0';
const standard = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1767323045',
  'webhook-signature': 'v1,qIA8RbHMD/URsKxz8HudgfKSQuYi12E6F7bAzfSHD1Q=',
};
const now = 1767323045_000;

describe('verifySignature', () => {
  it.each([
    ['plain headers', { 'x-svc-notification-signature': signature }],
    ['headers with several values', { 'x-svc-notification-signature': [signature] }],
    ['web headers', new Headers({ 'X-SVC-Notification-Signature': signature })],
  ])('takes %s and gives the payload', (_name, headers) => {
    const payload = verifySignature({ body, headers, token })._unsafeUnwrap();
    expect(isVerification(payload)).toBe(true);
    expect(verifySignature({ body: Buffer.from(body), headers, token }).isOk()).toBe(true);
  });

  it.each([
    ['another token', { token: 'other' }, 'signature_wrong'],
    ['a changed body', { body: `${body} ` }, 'signature_wrong'],
    [
      'an upper-case signature',
      { headers: { 'x-svc-notification-signature': signature.toUpperCase() } },
      'signature_wrong',
    ],
    ['no signature', { headers: {} }, 'signature_missing'],
    ['an empty signature', { headers: { 'x-svc-notification-signature': '' } }, 'signature_missing'],
  ])('refuses %s', (_name, change, type) => {
    const check = { body, headers: { 'x-svc-notification-signature': signature }, token, ...change };
    expect(verifySignature(check)._unsafeUnwrapErr().type).toBe(type);
  });

  it('takes either token while one replaces the other, under any header name', () => {
    const headers = { 'x-tfe-notification-signature': signature };
    expect(
      verifySignature({ body, headers, token: ['new', token], header: 'X-TFE-Notification-Signature' }).isOk(),
    ).toBe(true);
  });
});

describe('verifyStandardSignature', () => {
  it('gives the id, by which a repeated delivery is known', () => {
    expect(verifyStandardSignature({ body, headers: standard, token, now })._unsafeUnwrap().id).toBe('msg_1');
  });

  it.each([
    ['a body sent too long ago', { now: now + 301_000 }, 'timestamp_out_of_tolerance'],
    ['a time in the future', { now: now - 301_000 }, 'timestamp_out_of_tolerance'],
    ['a time that is no number', { headers: { ...standard, 'webhook-timestamp': 'x' } }, 'timestamp_out_of_tolerance'],
    ['another id', { headers: { ...standard, 'webhook-id': 'msg_2' } }, 'signature_wrong'],
    ['another token', { token: 'other' }, 'signature_wrong'],
    ['a missing header', { headers: { 'webhook-id': 'msg_1' } }, 'signature_missing'],
  ])('refuses %s', (_name, change, type) => {
    const check = { body, headers: standard, token, now, ...change };
    expect(verifyStandardSignature(check)._unsafeUnwrapErr().type).toBe(type);
  });

  it('finds the valid one in a list', () => {
    const headers = { ...standard, 'webhook-signature': `v1,AAAA ${standard['webhook-signature']}` };
    expect(verifyStandardSignature({ body, headers, token, now }).isOk()).toBe(true);
  });
});
