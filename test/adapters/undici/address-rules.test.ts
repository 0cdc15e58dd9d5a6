import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromText, nonPublicReason } from '../../../adapters/undici/outbound-guard.js';

function verdictOf(text: string): string | null {
  const address = addressFromText(text);
  return address === null ? 'no address' : nonPublicReason(address);
}

/** First and last address of each range that is not public. */
const forbidden: readonly (readonly [string, string, string])[] = [
  ['0.0.0.0', '0.255.255.255', 'unspecified'],
  ['10.0.0.0', '10.255.255.255', 'private'],
  ['100.64.0.0', '100.127.255.255', 'private'],
  ['127.0.0.0', '127.255.255.255', 'loopback'],
  ['169.254.0.0', '169.254.255.255', 'link-local'],
  ['169.254.169.254', '169.254.169.254', 'link-local'],
  ['168.63.129.16', '168.63.129.16', 'metadata'],
  ['172.16.0.0', '172.31.255.255', 'private'],
  ['192.0.0.0', '192.0.0.255', 'reserved'],
  ['192.0.2.0', '192.0.2.255', 'reserved'],
  ['192.88.99.0', '192.88.99.255', 'tunnel'],
  ['192.168.0.0', '192.168.255.255', 'private'],
  ['198.18.0.0', '198.19.255.255', 'reserved'],
  ['198.51.100.0', '198.51.100.255', 'reserved'],
  ['203.0.113.0', '203.0.113.255', 'reserved'],
  ['224.0.0.0', '239.255.255.255', 'multicast'],
  ['240.0.0.0', '255.255.255.254', 'reserved'],
  ['255.255.255.255', '255.255.255.255', 'broadcast'],
  ['::', '::', 'unspecified'],
  ['::1', '::1', 'loopback'],
  ['::7f00:1', '::a00:1', 'reserved'],
  ['::ffff:127.0.0.1', '::ffff:127.255.255.255', 'loopback'],
  ['::ffff:a00:1', '::ffff:10.255.255.255', 'private'],
  ['::ffff:0:7f00:1', '::ffff:0:808:808', 'reserved'],
  ['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', ''],
  ['64:ff9b::169.254.169.254', '64:ff9b::a9fe:a9fe', 'link-local'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['100::', '100::ffff:ffff:ffff:ffff', 'reserved'],
  ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['2001:10::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'tunnel'],
  ['2002:7f00:1::', '2002:808:808::', 'tunnel'],
  ['3ffe::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['4000::', '5eff::', 'reserved'],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'reserved'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private'],
  ['fd00:ec2::254', 'fd00:ec2::254', 'private'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'link-local'],
  ['fe80::1%eth0', 'fe80::1%2', 'link-local'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private'],
  ['ff00::', 'ff02::1', 'multicast'],
];

/** The neighbours of those ranges, which are public. */
const open = [
  '1.0.0.0',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '2606:4700::6810:84e5',
  '2a00:1450:4001::1',
  '3fff:1000::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
];

describe('nonPublicReason', () => {
  it.each(forbidden)('refuses %s to %s: %s', (first, last, reason) => {
    for (const text of [first, last]) expect(verdictOf(text)).toContain(reason);
  });

  it.each(open)('lets %s pass', (text) => {
    expect(verdictOf(text)).toBeNull();
  });

  it('judges an IPv4 address the same in every wrapping that reaches it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        const verdict = verdictOf(text);
        expect(verdictOf(`::ffff:${text}`)).toBe(verdict);
        expect(verdictOf(`64:ff9b::${text}`)).toBe(verdict);
      }),
    );
  });

  it('has an answer for every IPv6 address, and lets none pass outside 2000::/3 but wrapped ones', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = addressFromText(text);
        expect(address).not.toBeNull();
        if (address === null || nonPublicReason(address) !== null || address.kind() === 'ipv4') return;
        const first = address.toByteArray()[0] as number;
        expect(first >> 5 === 1 || address.toString().startsWith('64:ff9b::')).toBe(true);
      }),
    );
  });

  it.each(['', 'localhost', '1.2.3', '0x7f.1', '2130706433', '1.2.3.4.5', '::g', '1.2.3.4/8'])(
    'takes %s for no address',
    (text) => {
      expect(addressFromText(text)).toBeNull();
    },
  );
});
