import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compareVersions, formatVersion, parseVersion, type Version } from '../../src/versions/version.js';
import { parseVersionConstraint, satisfies } from '../../src/versions/version-constraint.js';

const version = (text: string): Version => parseVersion(text, 'loose')._unsafeUnwrap();
const loose = (text: string, constraint: string): boolean =>
  satisfies(version(text), parseVersionConstraint(constraint, 'loose')._unsafeUnwrap());
const semver = (text: string, constraint: string): boolean =>
  satisfies(parseVersion(text, 'semver')._unsafeUnwrap(), parseVersionConstraint(constraint, 'semver')._unsafeUnwrap());

describe('versions', () => {
  it.each([
    ['1', '1.0.0'],
    ['v1.02', '1.2.0'],
    ['1.2.3.4', '1.2.3.4'],
    ['1.2.3beta', '1.2.3-beta'],
    ['1.2.3-', '1.2.3--'],
    ['1.2.3--1', '1.2.3--1'],
    ['1.2.3-0.9+a.b', '1.2.3-0.9+a.b'],
    ['6.8.0-45-generic', '6.8.0-45-generic'],
    ['1.0~rc', '1.0.0-~rc'],
    ['9223372036854775807', '9223372036854775807.0.0'],
  ])('%s is %s', (text, canonical) => {
    expect(formatVersion(version(text))).toBe(canonical);
  });

  it.each(['', 'v', 'x', '1..2', '1.', '.1', '1.2.3+', '1.2.3_1', ' 1', '1 ', '1.2.3-α', '9223372036854775808', '1.x'])(
    '%j is none',
    (text) => {
      expect(parseVersion(text, 'loose').isErr()).toBe(true);
    },
  );

  it('wants a hyphen before the prerelease of a semantic version', () => {
    expect(parseVersion('1.2.3beta', 'semver').isErr()).toBe(true);
    expect(parseVersion('1.2.3-beta', 'semver').isOk()).toBe(true);
  });

  it('orders as precedence has it', () => {
    const ascending = ['1.0.0-1', '1.0.0-2', '1.0.0-10', '1.0.0-alpha', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc10'];
    const versions = [...ascending, '1.0.0-rc2', '1.0.0', '1.0.1-dev', '1.0.1', '1.1', '2', '10'].map(version);
    for (const [at, left] of versions.entries()) {
      for (const [other, right] of versions.entries()) {
        expect(Math.sign(compareVersions(left, right))).toBe(Math.sign(at - other));
      }
    }
  });

  it('parses hostile texts in linear time', () => {
    for (const text of ['1'.repeat(1e6), '1.'.repeat(5e5), `1-${'a'.repeat(1e6)}!`, `1+${'a.'.repeat(5e5)}`]) {
      expect(parseVersion(text, 'loose').isErr()).toBe(true);
      expect(parseVersionConstraint(`>=${text}`, 'semver').isErr()).toBe(true);
    }
    expect(parseVersionConstraint('1,'.repeat(1e6), 'loose').isErr()).toBe(true);
  }, 2_000);
});

describe('constraints', () => {
  it.each([
    ['1.2.9', '~> 1.2.3', true],
    ['1.3.0', '~> 1.2.3', false],
    ['1.9.0', '~> 1.2', true],
    ['2.0.0', '~> 1.2', false],
    ['2.0.0', '~> 1', true],
    ['1.2.3', '~> 1.2.3.0', false],
    ['1.2.3-rc2', '~> 1.2.3-rc1', true],
    ['1.2.4', '~> 1.2.3-rc1', false],
    ['1.2.3-rc1', '>= 1.0', false],
    ['1.2.3-rc1', '!= 1.0', true],
    ['1.2.3', '>= 1.2.3-rc1', true],
    ['1.2.3+x', '= 1.2.3+y', true],
    ['1.2.3', '\t>=\n1.2 , <2', true],
    ['1.2.3-01', '= 1.2.3-1', false],
    ['1.2.3-01', '< 1.2.3-1', true],
    ['1.2.3-1', '<= 1.2.3-01', true],
    ['1.2.3-1', '>= 1.2.3-01', false],
    ['1.2.3-0', '!= 1.2.3--0', true],
    ['1.2.3-99999999999999999999', '> 1.2.3-99a', true],
    ['1.2.3-99a', '< 1.2.3-99999999999999999999', false],
    ['1.2.3-99999999999999999999', '< 1.2.3-99999999999999999998', false],
    ['1.2.3-99999999999999999998', '< 1.2.3-99999999999999999999', true],
  ])('%s in %j', (text, constraint, holds) => {
    expect(loose(text, constraint)).toBe(holds);
  });

  it('orders prereleases where versions are semantic', () => {
    expect(semver('1.2.3-rc1', '>= 1.0, < 1.2.3')).toBe(true);
    expect(semver('1.2.3-rc1', '> 1.2.2-z')).toBe(true);
  });

  it.each(['', ',', '>= 1,', '==1', '> = 1', '=> 1', '1 || 2', '>', '>= x', '1 2', '>=\u00a01', '~> 1.2beta!'])(
    '%j is none',
    (text) => {
      expect(parseVersionConstraint(text, 'loose').isErr()).toBe(true);
    },
  );

  it('counts two spellings of one number as different where versions are semantic, too', () => {
    expect(semver('1.2.3-rc.01', '= 1.2.3-rc.1')).toBe(false);
    expect(semver('1.2.3-rc.01', '>= 1.2.3-rc.1')).toBe(false);
  });

  it('refuses ~> where versions are semantic', () => {
    expect(parseVersionConstraint('~> 1.2', 'semver')._unsafeUnwrapErr()).toBe('malformed constraint: ~> 1.2');
  });
});

/** As many segments and identifiers each: between others the order has cycles, see `compareIdentifiers`. */
const alike = fc
  .tuple(
    fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)),
    fc.option(fc.tuple(fc.constantFrom('1', '2', '10', 'a', 'b', 'rc'), fc.constantFrom('0', '7', 'x'))),
    fc.option(fc.constantFrom('m', 'n')),
  )
  .map(([segments, prerelease, metadata]) =>
    version(segments.join('.') + (prerelease ? `-${prerelease.join('.')}` : '') + (metadata ? `+${metadata}` : '')),
  );

test('the order is total', () => {
  fc.assert(
    fc.property(alike, alike, alike, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      const same = formatVersion({ ...a, metadata: '' }) === formatVersion({ ...b, metadata: '' });
      expect(compareVersions(a, b) === 0).toBe(same);
    }),
    { numRuns: 1_000 },
  );
});

test('what is formatted is read back', () => {
  fc.assert(
    fc.property(alike, (each) => {
      expect(version(formatVersion(each))).toEqual(each);
    }),
  );
});

test('a constraint of many blanks takes no longer than one of other characters', () => {
  const begun = process.cpuUsage();
  for (const text of [`${' '.repeat(9_990)}1 2`, `>${' '.repeat(9_990)}1 2`, `1${' '.repeat(9_990)}2`]) {
    expect(parseVersionConstraint(text, 'loose').isErr()).toBe(true);
  }
  expect(loose('1.2', `${' '.repeat(2_000)}>=${' '.repeat(2_000)}1.2${' '.repeat(2_000)}`)).toBe(true);
  expect(process.cpuUsage(begun).user).toBeLessThan(500_000);
});
