import { err, ok, type Result } from 'neverthrow';
import { remembered } from '../shared/remembered.js';
import { compareVersions, hasSameSegments, parseVersion, type Version, type VersionSyntax } from './version.js';

/** Comparisons that a version must all pass, such as `>= 1.2, < 2`. */
interface VersionConstraint {
  readonly syntax: VersionSyntax;
  readonly terms: readonly Term[];
}

interface Term {
  readonly holds: (version: Version, bound: Version) => boolean;
  readonly bound: Version;
}

type Comparisons = Readonly<Record<string, Term['holds']>>;

const EQUALITY: Comparisons = {
  '=': (version, bound) => compareVersions(version, bound) === 0,
  '!=': (version, bound) => compareVersions(version, bound) !== 0,
};

const ORDER: Comparisons = {
  '>': (version, bound) => compareVersions(version, bound) > 0,
  '>=': (version, bound) => compareVersions(version, bound) >= 0,
  '<': (version, bound) => compareVersions(version, bound) < 0,
  '<=': (version, bound) => compareVersions(version, bound) <= 0,
};

/** `semver` orders prereleases as the standard does; `loose` compares them with prereleases of the same version only. */
const COMPARISONS: Readonly<Record<VersionSyntax, Comparisons>> = {
  semver: { ...EQUALITY, ...ORDER },
  loose: { ...EQUALITY, ...withoutForeignPrereleases(ORDER), '~>': isPessimisticMatch },
};

/** Without surrounding blanks. Blanks can be matched in one way only: otherwise many of them would take quadratic or cubic time. */
const TERM = /^(=|!=|>=|<=|>|<|~>|)[\t\n\f\r ]*([^\t\n\f\r ]+)$/;

const BLANKS = '\t\n\f\r ';

function withoutBlanksAround(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && BLANKS.includes(text.charAt(from))) from += 1;
  while (to > from && BLANKS.includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** Maximum characters of a constraint. */
const MAX_LENGTH = 10_000;

/**
 * A comma-separated list of comparisons; one without an operator is `=`. The error names the invalid part. The same few
 * constraints are checked on many nodes and implied by many jobs, so the most recent ones are cached.
 */
export function parseVersionConstraint(text: string, syntax: VersionSyntax): Result<VersionConstraint, string> {
  return parsers[syntax](text);
}

const parsers = {
  loose: remembered((text) => parse(text, 'loose'), 256, MAX_LENGTH),
  semver: remembered((text) => parse(text, 'semver'), 256, MAX_LENGTH),
};

function parse(text: string, syntax: VersionSyntax): Result<VersionConstraint, string> {
  if (text.length > MAX_LENGTH) return err(`a version constraint may have at most ${MAX_LENGTH} characters`);
  const terms: Term[] = [];
  for (const part of text.split(',')) {
    const term = parseTerm(part, syntax);
    if (term.isErr()) return err(term.error);
    terms.push(term.value);
  }
  return ok({ syntax, terms });
}

export function satisfies(version: Version, { terms }: VersionConstraint): boolean {
  return terms.every(({ holds, bound }) => holds(version, bound));
}

function parseTerm(part: string, syntax: VersionSyntax): Result<Term, string> {
  const [, operator = '', boundText = ''] = TERM.exec(withoutBlanksAround(part)) ?? [];
  const holds = COMPARISONS[syntax][operator === '' ? '=' : operator];
  if (boundText === '' || holds === undefined) return err(`malformed constraint: ${part}`);
  return parseVersion(boundText, syntax)
    .map((bound) => ({ holds, bound }))
    .mapErr((problem) => (problem === 'malformed version' ? `malformed constraint: ${part}` : problem));
}

function withoutForeignPrereleases(comparisons: Comparisons): Comparisons {
  return Object.fromEntries(
    Object.entries(comparisons).map(([operator, holds]) => [
      operator,
      (version: Version, bound: Version) => admitsPrerelease(version, bound) && holds(version, bound),
    ]),
  );
}

function admitsPrerelease(version: Version, bound: Version): boolean {
  return version.prerelease === '' || (bound.prerelease !== '' && hasSameSegments(version, bound));
}

/**
 * `~> 1.2.3`: at least 1.2.3, and only the last given segment may be greater. The bound's segments beyond the given
 * ones are 0. A bound that is a prerelease is met by prereleases only.
 */
function isPessimisticMatch(version: Version, bound: Version): boolean {
  if (!admitsPrerelease(version, bound) || (bound.prerelease !== '' && version.prerelease === '')) return false;
  if (compareVersions(version, bound) < 0 || bound.segments.length > version.segments.length) return false;
  const fixed = bound.segments.slice(0, bound.given - 1);
  if (fixed.some((segment, at) => version.segments[at] !== segment)) return false;
  const last = bound.segments.length - 1;
  return (bound.segments[last] ?? 0n) <= (version.segments[last] ?? 0n);
}
