import { err, ok, type Result } from 'neverthrow';
import { compareBytes } from '../shared/values.js';

/** A version number for comparison with constraints. Written `v1.2.3-rc1+build5`; at least three segments, missing ones are 0. */
export interface Version {
  readonly segments: readonly bigint[];
  /** The number of segments in the string. */
  readonly given: number;
  /** Identifiers separated by dots; empty for a release. */
  readonly prerelease: string;
  /** Ignored in comparisons. */
  readonly metadata: string;
}

/** `semver` requires a hyphen before a prerelease (`1.2.3-beta`); `loose` does not (`1.2.3beta`). */
export type VersionSyntax = 'loose' | 'semver';

const IDENTIFIERS = '[0-9A-Za-z~-]*(?:\\.[0-9A-Za-z~-]+)*';
const core = '[0-9]+(?:\\.[0-9]+)*?';
const metadata = '(?:\\+([0-9A-Za-z~-]+(?:\\.[0-9A-Za-z~-]+)*))?';
const semverText = `v?(${core})(?:-([0-9A-Za-z~-]${IDENTIFIERS}))?${metadata}`;
/** Without a hyphen the prerelease cannot begin with a digit. A lone hyphen is a prerelease. */
const looseText = `v?(${core})(?:-([0-9A-Za-z~-]${IDENTIFIERS})|([A-Za-z~-]${IDENTIFIERS}))?${metadata}`;

const SYNTAX: Readonly<Record<VersionSyntax, RegExp>> = {
  loose: new RegExp(`^${looseText}$`),
  semver: new RegExp(`^${semverText}$`),
};

/** Segments are signed 64-bit integers. */
const MAX_SEGMENT = 2n ** 63n - 1n;
const MIN_SEGMENT = -(2n ** 63n);

/** Maximum characters of a version. */
const MAX_LENGTH = 1_000;

export function parseVersion(text: string, syntax: VersionSyntax): Result<Version, string> {
  const match = text.length > MAX_LENGTH ? null : SYNTAX[syntax].exec(text);
  if (match === null) return err('malformed version');
  const groups = match.slice(1);
  const segments = (groups[0] ?? '').split('.').map(BigInt);
  if (segments.some((segment) => segment > MAX_SEGMENT)) return err('a segment of the version is too large');
  return ok({
    segments: [...segments, 0n, 0n, 0n].slice(0, Math.max(3, segments.length)),
    given: segments.length,
    prerelease: groups.slice(1, -1).find((group) => group !== undefined) ?? '',
    metadata: groups.at(-1) ?? '',
  });
}

/** The version with all its segments and without `v` and leading zeros: `1.2` is `1.2.0`. */
export function formatVersion({ segments, prerelease, metadata: build }: Version): string {
  return segments.join('.') + (prerelease && `-${prerelease}`) + (build && `+${build}`);
}

/**
 * Negative, zero or positive as `left` is older than, as old as or newer than `right`. A prerelease is older than its release.
 * Prereleases count only between versions of equally many segments: `1.2.3-rc1` is as old as `1.2.3.0`.
 */
export function compareVersions(left: Version, right: Version): number {
  const segments = compareSegments(left.segments, right.segments);
  if (segments !== 0 || left.segments.length !== right.segments.length) return segments;
  return comparePrereleases(left.prerelease, right.prerelease);
}

/** Whether the segments and their number are the same. */
export function hasSameSegments(left: Version, right: Version): boolean {
  return left.segments.length === right.segments.length && compareSegments(left.segments, right.segments) === 0;
}

function compareSegments(left: readonly bigint[], right: readonly bigint[]): number {
  const length = Math.max(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const a = left[at] ?? 0n;
    const b = right[at] ?? 0n;
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

function comparePrereleases(left: string, right: string): number {
  if (left === right) return 0;
  if (left === '') return 1;
  if (right === '') return -1;
  const lefts = left.split('.');
  const rights = right.split('.');
  const length = Math.max(lefts.length, rights.length);
  for (let at = 0; at < length; at += 1) {
    const order = compareIdentifiers(lefts[at], rights[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * Numbers by value and before strings, strings by bytes. A missing identifier sorts before a number but after a string, as in
 * existing schedulers: `1.0.0-rc` is newer than `1.0.0-rc.x`. Two more of their rules depend on the side: of two forms of
 * one number (`1`, `01`) the left one is older, and a number beyond 64 bits is a string that is newer than every string on its right.
 */
function compareIdentifiers(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0;
  if (left === undefined) return isNumber(right) ? -1 : 1;
  if (right === undefined) return isNumber(left) ? 1 : -1;
  if (isNumber(left) !== isNumber(right)) return isNumber(left) ? -1 : 1;
  if (!isNumber(left) && compareBytes(left, right) > 0) return 1;
  return clamped(left) > clamped(right) ? 1 : -1;
}

/** Digits and an optional minus sign. */
const DIGITS = /^-?[0-9]+$/;

/** Whether the number fits 64 bits. */
function isNumber(identifier: string | undefined): identifier is string {
  if (identifier === undefined || !DIGITS.test(identifier)) return false;
  const value = BigInt(identifier);
  return value >= MIN_SEGMENT && value <= MAX_SEGMENT;
}

/** The nearest number of 64 bits; 0 for a string. */
function clamped(identifier: string): bigint {
  if (!DIGITS.test(identifier)) return 0n;
  const value = BigInt(identifier);
  if (value > MAX_SEGMENT) return MAX_SEGMENT;
  return value < MIN_SEGMENT ? MIN_SEGMENT : value;
}
