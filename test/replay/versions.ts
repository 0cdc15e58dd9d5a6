import { matchesVersion } from '../../src/scheduler/feasibility/constraint-operators.js';
import { formatVersion, parseVersion, type Version, type VersionSyntax } from '../../src/versions/version.js';
import { parseVersionConstraint, satisfies } from '../../src/versions/version-constraint.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

type Verdict = { readonly match: boolean } | { readonly error: string };

interface VersionsVector extends Vector {
  readonly version: string;
  readonly constraint: string;
  readonly answer: {
    readonly version?: Verdict;
    readonly semver?: Verdict;
    readonly version_error?: string;
    readonly canonical?: string;
    readonly operator_version: boolean;
    readonly operator_semver: boolean;
  };
}

/** Version constraints in both syntaxes. Words of errors are our own: only whether there is one counts. */
export const play: Play<VersionsVector> = (vector) => {
  const parsed = parseVersion(vector.version, 'loose');
  const ours = {
    ...parsed.match(
      (version) => ({
        canonical: formatVersion(version),
        version: verdict(version, vector.constraint, 'loose'),
        semver: verdict(version, vector.constraint, 'semver'),
      }),
      () => ({ version_error: 'refused' }),
    ),
    operator_version: matchesVersion(vector.version, vector.constraint, 'loose'),
    operator_semver: matchesVersion(vector.version, vector.constraint, 'semver'),
  };
  return firstDifference(ours, withoutWords(vector.answer));
};

function verdict(version: Version, text: string, syntax: VersionSyntax): Verdict {
  return parseVersionConstraint(text, syntax).match<Verdict>(
    (constraint) => ({ match: satisfies(version, constraint) }),
    () => ({ error: 'refused' }),
  );
}

function withoutWords(answer: VersionsVector['answer']): VersionsVector['answer'] {
  const plain = (of: Verdict | undefined): Verdict | undefined =>
    of !== undefined && 'error' in of ? { error: 'refused' } : of;
  const { version, semver, version_error, ...rest } = answer;
  return {
    ...rest,
    ...(version_error === undefined ? {} : { version_error: 'refused' }),
    ...Object.fromEntries(Object.entries({ version: plain(version), semver: plain(semver) })),
  };
}
