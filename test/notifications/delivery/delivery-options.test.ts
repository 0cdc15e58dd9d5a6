import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  authorizationOf,
  type DeliveryOptions,
  noDeliveryOptions,
  readDeliveryOptions,
} from '../../../src/notifications/delivery/delivery-options.js';

const pem = (label: string) => `-----BEGIN ${label}-----\nAA==\n-----END ${label}-----\n`;
const current: DeliveryOptions = { ...noDeliveryOptions, rate: 5, headers: { 'x-team': 'a' } };

describe('the options of a configuration', () => {
  test.each<[unknown, Partial<DeliveryOptions>]>([
    [undefined, {}],
    [{}, {}],
    [
      { rate: 0.5, timeout: 2000, concurrency: 8, rotationGrace: 0 },
      { rate: 0.5, timeout: 2000, concurrency: 8, rotationGrace: 0 },
    ],
    [{ rate: null }, { rate: null }],
    [{ headers: { 'X-Team': 'b c', 'x-empty': '' } }, { headers: { 'x-team': 'b c', 'x-empty': '' } }],
    [{ headers: null }, { headers: {} }],
    [{ eventTypes: ['order.*', '*', 'run:errored', 'order.*'] }, { eventTypes: ['order.*', '*', 'run:errored'] }],
    [
      { eventTypes: ['*:errored', 'workspace:auto_destroy_reminder', 'signalbox.*.failing', 'sig*'] },
      { eventTypes: ['*:errored', 'workspace:auto_destroy_reminder', 'signalbox.*.failing', 'sig*'] },
    ],
    [{ filter: 'data.severity == "high"' }, { filter: 'data.severity == "high"' }],
    [{ filter: '' }, { filter: null }],
    [
      { authentication: { type: 'bearer', token: 'abc', more: 1 } },
      { authentication: { type: 'bearer', token: 'abc' } },
    ],
    [
      { clientCertificate: { certificate: pem('CERTIFICATE'), key: pem('EC PRIVATE KEY') } },
      { clientCertificate: { certificate: pem('CERTIFICATE'), key: pem('EC PRIVATE KEY') } },
    ],
  ])('takes %j', (input, change) => {
    expect(readDeliveryOptions(input, current)).toEqual({ options: { ...current, ...change }, faults: [] });
  });

  test.each<[unknown, string]>([
    [[], ''],
    ['x', ''],
    [{ rat: 1 }, '/rat'],
    [{ constructor: 1 }, '/constructor'],
    [{ rate: -1 }, '/rate'],
    [{ rate: Number.NaN }, '/rate'],
    [{ timeout: 1 }, '/timeout'],
    [{ timeout: 1000.5 }, '/timeout'],
    [{ concurrency: 0 }, '/concurrency'],
    [{ eventTypes: ['a b'] }, '/eventTypes'],
    [{ eventTypes: 'a' }, '/eventTypes'],
    [{ eventTypes: ['run:error'] }, '/eventTypes'],
    [{ eventTypes: ['order.*', 'runs:*'] }, '/eventTypes'],
    [{ eventTypes: ['signalbox.destination.down'] }, '/eventTypes'],
    [{ eventTypes: Array.from({ length: 101 }, (_, n) => `t${n}`) }, '/eventTypes'],
    [{ filter: 'data ==' }, '/filter'],
    [{ filter: 1 }, '/filter'],
    [{ headers: [] }, '/headers'],
    [{ headers: { 'a b': 'c' } }, '/headers'],
    [{ headers: { a: 'x\r\nhost: evil' } }, '/headers'],
    [{ headers: { a: 'ü' } }, '/headers'],
    [{ headers: { Host: 'evil' } }, '/headers'],
    [{ headers: { 'X-A': '1', 'x-a': '2' } }, '/headers'],
    [{ headers: { Authorization: 'x' } }, '/headers'],
    [{ headers: { 'X-SVC-Notification-Signature': 'x' } }, '/headers'],
    [{ authentication: { type: 'bearer', token: 'a\nb' } }, '/authentication'],
    [{ authentication: { type: 'basic', username: 'a:b', password: 'c' } }, '/authentication'],
    [{ authentication: { type: 'digest' } }, '/authentication'],
    [{ clientCertificate: { certificate: 'x', key: 'y' } }, '/clientCertificate'],
  ])('refuses %j and keeps what was there', (input, pointer) => {
    const { options, faults } = readDeliveryOptions(input, current);
    expect(faults.map((fault) => fault.pointer)).toEqual([`/data/attributes/delivery${pointer}`]);
    expect(options).toEqual(current);
  });

  test.each(['_', 'a_', '_*'])('many of %j before what no type has cost nothing', (piece) => {
    const begun = process.cpuUsage();
    for (const length of [128, 100_000]) {
      const { faults } = readDeliveryOptions({ eventTypes: [`${piece.repeat(length / 2)}!`] }, current);
      expect(faults).toHaveLength(1);
    }
    expect(process.cpuUsage(begun).user).toBeLessThan(500_000);
  });

  test('whatever comes, nothing throws and what is taken is a header that can be sent', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), fc.string(), (anything, name, value) => {
        readDeliveryOptions(anything, current);
        readDeliveryOptions({ filter: anything, headers: anything, authentication: anything }, current);
        const { options, faults } = readDeliveryOptions({ headers: { [name]: value } }, noDeliveryOptions);
        if (faults.length === 0) expect(() => new Headers(options.headers)).not.toThrow();
      }),
    );
  });

  test('an authentication is the header that servers know', () => {
    expect(authorizationOf({ type: 'basic', username: 'ü', password: 'p:w' })).toBe(
      `Basic ${Buffer.from('ü:p:w').toString('base64')}`,
    );
    expect(authorizationOf({ type: 'bearer', token: 'abc' })).toBe('Bearer abc');
  });
});
