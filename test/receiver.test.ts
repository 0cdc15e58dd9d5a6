import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { verificationPayload } from '../src/notifications/payloads/render-payload.js';
import { signBody, standardSignature, tokenProblem } from '../src/notifications/signature.js';
import {
  isOwnEventPayload,
  isVerification,
  messageIdentity,
  newSigningKeys,
  once,
  seenInMemory,
  verifySignature,
  verifySignedJson,
  verifyStandardSignature,
  verifyStandardSignedJson,
} from '../src/receiver.js';

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

describe('own events and alerts', () => {
  const event = {
    type: 'order.created',
    timestamp: '2026-01-02T03:04:05.000Z',
    message: 'Order o-1',
    data: { id: 'o-1' },
  };
  const own = JSON.stringify(event);
  const headers = {
    'x-svc-notification-signature': signBody(token, own),
    'webhook-id': 'ne-1',
    'webhook-timestamp': '1767323045',
    'webhook-signature': standardSignature([token], 'ne-1', 1767323045, own),
  };

  it('are checked by the same signatures, and are no notifications', () => {
    const parsed = verifySignedJson({ body: own, headers, token })._unsafeUnwrap();
    expect(parsed).toEqual(event);
    expect(isOwnEventPayload(parsed)).toBe(true);
    expect(verifyStandardSignedJson({ body: Buffer.from(own), headers, token, now })._unsafeUnwrap()).toEqual({
      id: 'ne-1',
      body: event,
    });
    expect(verifySignature({ body: own, headers, token })._unsafeUnwrapErr().type).toBe('payload_malformed');
  });

  it('are refused with another secret, another body, and when they are no JSON', () => {
    expect(verifySignedJson({ body: own, headers, token: 'other' })._unsafeUnwrapErr().type).toBe('signature_wrong');
    expect(verifySignedJson({ body: own, headers: {}, token })._unsafeUnwrapErr().type).toBe('signature_missing');
    const late = verifyStandardSignedJson({ body: own, headers, token, now: now + 301_000 });
    expect(late._unsafeUnwrapErr().type).toBe('timestamp_out_of_tolerance');
    const text = { 'x-svc-notification-signature': signBody(token, '<p>') };
    expect(verifySignedJson({ body: '<p>', headers: text, token })._unsafeUnwrapErr().type).toBe('payload_malformed');
  });

  it.each([null, 7, [], {}, { ...event, data: null }, { ...event, type: 1 }, JSON.parse(body)])(
    'are not %j',
    (value) => {
      expect(isOwnEventPayload(value)).toBe(false);
    },
  );
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

function signedHeaders(key: string) {
  const hex = createHmac('sha512', key).update(body).digest('hex');
  const list = `v1,${createHmac('sha256', key).update(`msg_1.1767323045.${body}`).digest('base64')}`;
  return { 'x-svc-notification-signature': hex, ...standard, 'webhook-signature': list };
}

/** All functions that check a signature, each with a message that `key` signed. */
function checksOf(key: string) {
  const given = { body, headers: signedHeaders(key), now };
  return [
    ['verifySignature', (change: object) => verifySignature({ ...given, token: key, ...change })],
    ['verifySignedJson', (change: object) => verifySignedJson({ ...given, token: key, ...change })],
    ['verifyStandardSignature', (change: object) => verifyStandardSignature({ ...given, token: key, ...change })],
    ['verifyStandardSignedJson', (change: object) => verifyStandardSignedJson({ ...given, token: key, ...change })],
  ] as const;
}

describe.each(checksOf(''))('%s and empty tokens', (_name, check) => {
  it.each([
    ['', 'token_missing'],
    [[], 'token_missing'],
    [['', ''], 'token_missing'],
    [undefined, 'token_missing'],
    [null, 'token_missing'],
    [[undefined, null], 'token_missing'],
    [' \n', 'token_missing'],
    [0, 'token_missing'],
    [['current', ''], 'signature_wrong'],
    [[undefined, 'current'], 'signature_wrong'],
    ['undefined', 'signature_wrong'],
  ])('a message signed with the empty key is refused for the token %j: %s', (given, type) => {
    expect(check({ token: given })._unsafeUnwrapErr().type).toBe(type);
  });
});

describe.each(checksOf(token))('%s', (name, check) => {
  it('ignores empty entries of a list of tokens', () => {
    for (const given of [
      ['', token],
      [token, undefined],
      [null, ' ', token],
    ]) {
      expect(check({ token: given }).isOk()).toBe(true);
    }
  });

  it.each([undefined, null, { a: 1 }, [1], 5, true, Object.assign(Object.create(null), { run_id: 'run-1' })])(
    'refuses the body %j, which is not raw',
    (given) => {
      const fault = check({ body: given })._unsafeUnwrapErr();
      expect(fault.type).toBe('body_not_raw');
      expect(fault.message).toMatch(/raw body/);
      // A request without a signature is refused, too, whatever its body.
      expect(check({ body: given, headers: {} }).isErr()).toBe(true);
    },
  );

  it('takes bytes of every kind', () => {
    const bytes = new TextEncoder().encode(body);
    for (const given of [Buffer.from(body), bytes, bytes.buffer]) expect(check({ body: given }).isOk()).toBe(true);
  });

  it('compares names of headers without case, in every kind of headers', () => {
    const headers = signedHeaders(token);
    const cased = (change: (header: string) => string) =>
      Object.fromEntries(Object.entries(headers).map(([header, value]) => [change(header), value]));
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (upper) => {
        const mixed = cased((header) =>
          Array.from(header, (letter) => (upper.next().value ? letter.toUpperCase() : letter)).join(''),
        );
        expect(check({ headers: mixed }).isOk(), name).toBe(true);
        expect(check({ headers: new Map(Object.entries(mixed)) }).isOk(), name).toBe(true);
        expect(check({ headers: new Headers(mixed) }).isOk(), name).toBe(true);
        const lists = Object.fromEntries(Object.entries(mixed).map(([header, value]) => [header, [value, 'x']]));
        expect(check({ headers: lists }).isOk(), name).toBe(true);
      }),
      { numRuns: 50 },
    );
    expect(check({ headers: { ...cased((header) => header.toUpperCase()), ...headers } }).isOk()).toBe(true);
  });

  it.each([undefined, null, 'x', [], { get: 'x' }])('finds no signature in the headers %j', (headers) => {
    expect(check({ headers })._unsafeUnwrapErr().type).toBe('signature_missing');
  });
});

describe('the option header', () => {
  it.each([
    ['x-tfe-notification-signature', 'X-TFE-Notification-Signature'],
    ['X-TFE-Notification-Signature', 'x-tfe-notification-signature'],
    ['X-TFE-NOTIFICATION-SIGNATURE', 'X-Tfe-Notification-Signature'],
  ])('%s finds %s', (header, sent) => {
    expect(verifySignature({ body, headers: { [sent]: signature }, token, header }).isOk()).toBe(true);
  });
});

describe('secrets of Standard Webhooks', () => {
  const instant = new Date(now);
  const bytes = (minLength: number, maxLength = 64) =>
    fc.uint8Array({ minLength, maxLength }).map((key) => Buffer.from(key).toString('base64'));
  const secret = fc.oneof(
    bytes(1, 100).map((key) => [`whsec_${key}`, new Webhook(`whsec_${key}`)] as const),
    bytes(24).map((key) => [key, new Webhook(key)] as const),
    fc
      .string({ minLength: 1 })
      .filter((text) => text.trim() !== '' && tokenProblem(text) === null && !text.startsWith('wh'))
      .map((text) => [text, new Webhook(text, { format: 'raw' })] as const),
  );

  it('agree with the reference library in both directions', () => {
    fc.assert(
      fc.property(secret, fc.json(), ([key, reference], payload) => {
        const ours = standardSignature([key], 'msg_1', 1767323045, payload);
        const theirs = reference.sign('msg_1', instant, payload);
        expect(ours.split(' ')).toContain(theirs);
        const headers = { ...standard, 'webhook-signature': theirs };
        expect(verifyStandardSignedJson({ body: payload, headers, token: key, now }).isOk()).toBe(true);
        expect(verifyStandardSignedJson({ body: `${payload} `, headers, token: key, now }).isErr()).toBe(true);
      }),
    );
  });

  it('are one key after whsec_, and both keys for base64 alone: receivers that decode it and receivers that do not agree', () => {
    const base64 = Buffer.alloc(24, 7).toString('base64');
    expect(standardSignature([`whsec_${base64}`], 'm', 1, 'x').split(' ')).toHaveLength(1);
    const both = standardSignature([base64], 'm', 1, 'x').split(' ');
    expect(both).toHaveLength(2);
    expect(both[0]).toBe(`v1,${createHmac('sha256', base64).update('m.1.x').digest('base64')}`);
  });

  it.each(['whsec_', 'whsec_=', 'whsec_====', 'whsec_!', 'whsec_a b', 'whsec_A', 'whsec_\n'])(
    'verify nothing when they are malformed: %j',
    (malformed) => {
      for (const key of ['', malformed, malformed.slice('whsec_'.length), Buffer.from(malformed.slice(6), 'base64')]) {
        const list = `v1,${createHmac('sha256', key).update(`msg_1.1767323045.${body}`).digest('base64')}`;
        const headers = { ...standard, 'webhook-signature': list };
        const check = (given: string | string[]) => verifyStandardSignature({ body, headers, token: given, now });
        expect(check(malformed)._unsafeUnwrapErr()).toMatchObject({
          type: 'token_malformed',
          message: expect.stringContaining('base64'),
        });
        expect(check(['another', malformed])._unsafeUnwrapErr().type).toBe('token_malformed');
      }
      expect(standardSignature([malformed], 'm', 1, 'x')).toBe('');
    },
  );
});

describe('messageIdentity', () => {
  it('compares names without case', () => {
    for (const name of ['X-Svc-Notification-Id', 'X-SVC-NOTIFICATION-ID']) {
      const headers = { [name]: 'ne-1', 'X-Svc-Notification-Timestamp': '2026-01-02T03:04:05.000Z' };
      expect(messageIdentity(headers)._unsafeUnwrap()).toEqual({ id: 'ne-1', acceptedAt: 1767323045_000 });
    }
    const named = messageIdentity({ 'webhook-ID': 'm' }, { id: 'Webhook-Id', timestamp: 'X-T' });
    expect(named._unsafeUnwrap().id).toBe('m');
  });

  it('reads id and time of acceptance', () => {
    const headers = { 'x-svc-notification-id': 'nd-1', 'x-svc-notification-timestamp': '2026-01-02T03:04:05.000Z' };
    expect(messageIdentity(headers)._unsafeUnwrap()).toEqual({ id: 'nd-1', acceptedAt: 1767323045_000 });
    expect(
      messageIdentity(new Headers({ 'webhook-id': 'm' }), { id: 'webhook-id' })._unsafeUnwrap().acceptedAt,
    ).toBeNull();
    expect(messageIdentity({})._unsafeUnwrapErr().type).toBe('signature_missing');
  });
});

describe('once', () => {
  const world = (most?: number) => {
    let time = 1_000;
    const store = seenInMemory(most === undefined ? {} : { most });
    const done: string[] = [];
    const receive = (id: string, work: () => unknown = () => done.push(id)) =>
      once({ store, id, now: () => time, busyFor: 100, keepFor: 1_000 }, work).then(({ type }) => type);
    return { done, receive, pass: (by: number) => (time += by) };
  };

  it('does the work of a message once, however often it comes', async () => {
    const { receive, done, pass } = world();
    expect([await receive('a'), await receive('b'), await receive('a')]).toEqual(['done', 'done', 'repeated']);
    pass(999);
    expect(await receive('a')).toBe('repeated');
    expect(done).toEqual(['a', 'b']);
    pass(1);
    expect(await receive('a')).toBe('done');
  });

  it('forgets a message whose work failed', async () => {
    const { receive, done } = world();
    await expect(receive('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await receive('a')).toBe('done');
    expect(done).toEqual(['a']);
  });

  it('lets a repetition begin when the work has taken too long: its process may have died', async () => {
    const { receive, pass } = world();
    const never = new Promise(() => undefined);
    void receive('a', () => never);
    expect(await receive('a')).toBe('busy');
    pass(100);
    expect(await receive('a')).toBe('done');
  });

  it('keeps a bounded number of messages', async () => {
    const { receive } = world(2);
    for (const id of ['a', 'b', 'c']) await receive(id);
    expect(await receive('c')).toBe('repeated');
    expect(await receive('a')).toBe('done');
  });
});

describe('signing keys', () => {
  const { secretKey, publicKey } = newSigningKeys();
  const signed = (tokens: readonly string[]) => ({
    ...standard,
    'webhook-signature': standardSignature(tokens, 'msg_1', 1767323045, body),
  });
  const check = (given: string | readonly string[], tokens: readonly string[]) =>
    verifyStandardSignature({ body, headers: signed(tokens), token: given, now }).isOk();

  it('sign so that the public key is enough to check', () => {
    expect(signed([secretKey])['webhook-signature']).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/);
    expect(check(publicKey, [secretKey])).toBe(true);
    expect(check(secretKey, [secretKey])).toBe(true);
    expect(check(newSigningKeys().publicKey, [secretKey])).toBe(false);
    expect(
      verifyStandardSignature({ body: `${body} `, headers: signed([secretKey]), token: publicKey, now }).isErr(),
    ).toBe(true);
    // A key of 32 bytes is the same without its public half.
    const seed = `whsk_${Buffer.from(secretKey.slice(5), 'base64').subarray(0, 32).toString('base64')}`;
    expect(check(publicKey, [seed])).toBe(true);
  });

  it('take turns with secrets while one replaces another', () => {
    expect(check(token, [secretKey, token])).toBe(true);
    expect(check(publicKey, [token, secretKey])).toBe(true);
    expect(check([token, publicKey], [secretKey])).toBe(true);
  });

  it.each([publicKey, `${publicKey}\n`, 'whpk_x'])('never take %j for a secret', (known) => {
    expect(check(known, [known])).toBe(false);
    const headers = { 'x-svc-notification-signature': signBody(known, body) };
    expect(verifySignature({ body, headers, token: known }).isErr()).toBe(true);
  });

  it.each([
    ['whsk_', false],
    ['whsk_not base64', false],
    [`whsk_${Buffer.alloc(31).toString('base64')}`, false],
    [secretKey, true],
    ['any other text', true],
    ['', true],
    [' \n', false],
    ['whsec_', false],
    ['whsec_====', false],
    ['whsec_a secret', false],
    ['whsec_AAAAA', false],
    ['whsec_AAA==', false],
    ['whsec_-_-_', false],
    [`whsec_${Buffer.alloc(24, 7).toString('base64')}\n`, false],
    [`whsec_${Buffer.alloc(24, 7).toString('base64')}`, true],
    [`whsec_${Buffer.alloc(25, 7).toString('base64').replace(/=+$/, '')}`, true],
  ])('%j can be a token: %s', (text, fits) => {
    expect(tokenProblem(text) === null).toBe(fits);
  });
});
