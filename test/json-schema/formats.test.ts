import { expect, it } from 'vitest';
import { formatNames, formats } from '../../src/json-schema/scalar-keywords.js';

const label = 'a'.repeat(63);

it.each([
  [
    'date-time',
    ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05.25+01:30', '1998-12-31T15:59:60-08:00'],
    ['2026-01-02', '2026-02-30T00:00:00Z', '2026-01-02T24:00:00Z', '2026-01-02T03:04:05', '2026-01-02T22:59:60Z'],
  ],
  ['date', ['2000-02-29', '0001-12-31'], ['1900-02-29', '2026-13-01', '2026-00-01', '2026-01-00', '26-01-01']],
  [
    'time',
    ['08:30:06Z', '08:30:06.283185+00:20', '23:59:60Z'],
    ['08:30:06', '24:00:00Z', '08:60:00Z', '01:00:60Z', '08:30:06+24:00'],
  ],
  ['duration', ['P4DT12H30M5S', 'P1Y', 'PT0S', 'P2W', 'P1M2D'], ['P', 'PT', 'P1D2M', 'P1YT', 'PT1D', '4D', 'P2W1D']],
  [
    'email',
    ['a.b+c@example.org', '"a b"@example.org', 'x@[127.0.0.1]', 'x@[IPv6:::1]'],
    ['a', '.a@b', 'a..b@c', 'a@-b', 'a b@c', '@b', 'a@[1.2]'],
  ],
  [
    'hostname',
    ['a', 'www.example.com', label, 'xn--4gbwdl.example'],
    ['', '-a', 'a-', 'a_b', 'a..b', `${label}a`, `${label}.`.repeat(5)],
  ],
  ['ipv4', ['0.0.0.0', '255.255.255.255'], ['256.0.0.1', '1.2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.4 ']],
  [
    'ipv6',
    ['::', '::1', '1:2:3:4:5:6:7:8', '1::8', '::ffff:1.2.3.4'],
    ['1:2:3', ':::', '1::2::3', '12345::', '1:2:3:4:5:6:7:8:9', '::1.2.3', '1.2.3.4::', 'fe80::a%eth1'],
  ],
  [
    'uri',
    ['https://u:p@a.example:80/b?c=d#e', 'urn:a:b', 'http://[::1]:8/', 'mailto:a@b.c', 'a:'],
    ['//a/b', '/a', 'http://a b', 'http://a/é', 'http://a/%zz', ':a', 'http://[a]/', 'a:b#c#d'],
  ],
  ['uri-reference', ['', '/a', '//a/b', '#a', 'a/b:c', '?q'], ['\\a', 'a b', '1a:b', '#a#b']],
  [
    'uuid',
    ['2EB8AA08-aa98-11ea-b4aa-73b441d16380'],
    ['2eb8aa08aa9811eab4aa73b441d16380', '2eb8aa08-aa98-11ea-b4aa-73b441d1638'],
  ],
  ['json-pointer', ['', '/a~0b~1/0', '/'], ['a', '/~', '/~2']],
  ['relative-json-pointer', ['0', '1/a', '10#'], ['', '/a', '01', '1#/a', '-1']],
  ['regex', ['^(?=a)', '[a]'], ['(', '\\a']],
  ['mac', ['00:1a:2B:3c:4d:5e', '00-1a-2b-3c-4d-5e'], ['00:1a:2b:3c:4d', '00:1a:2b:3c:4d-5e']],
  ['cidr', ['10.0.0.0/8'], ['10.0.0.0', '10.0.0.0/33', '::/8']],
  ['cidr-v6', ['::/0', 'fe80::/128'], ['::/129', '10.0.0.0/8']],
  ['base64', ['', 'YQ==', 'YWJj'], ['YQ=', 'Y-8=', 'YQ===']],
  ['base64url', ['Y-8_'], ['Y+8', 'a=']],
  ['e164', ['+4930123456'], ['4930123456', '+0', '+1']],
  ['ulid', ['01ARZ3NDEKTSV4RRFFQ69G5FAV'], ['01ARZ3NDEKTSV4RRFFQ69G5FAI', '01ARZ3']],
])('%s', (name, fitting, unfit) => {
  const isOf = formats.get(name);
  for (const text of fitting) expect(isOf?.(text), text).toBe(true);
  for (const text of unfit) expect(isOf?.(text), text).toBe(false);
});

it('reads long texts once', () => {
  for (const name of formatNames) {
    for (const piece of ['a', '1', '.', ':', '/', '-', '%', '~', '@', '=', '(']) {
      const began = performance.now();
      formats.get(name)?.(piece.repeat(100_000));
      expect(performance.now() - began, `${name} ${piece}`).toBeLessThan(1_000);
    }
  }
});
