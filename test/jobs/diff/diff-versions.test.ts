import { describe, expect, test } from 'vitest';
import { diffVersions } from '../../../src/jobs/diff/diff-jobs.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { canonicalJob } from '../canonical-job.js';

function version(Version: number, Priority: number, tag: string | null = null): Job {
  const VersionTag = tag === null ? null : { Name: tag, Description: '', TaggedTime: 0 };
  return { ...canonicalJob({ ID: 'web', Priority }), Version, VersionTag };
}

const newestFirst = [version(3, 70), version(2, 60), version(1, 60, 'golden'), version(0, 50)];

function priorities(base: Parameters<typeof diffVersions>[1]): string[] {
  return diffVersions(newestFirst, base)
    ._unsafeUnwrap()
    .map(({ Type, Fields }) => `${Type} ${Fields?.map(({ Old, New }) => `${Old}→${New}`).join() ?? ''}`.trim());
}

describe('diffVersions', () => {
  test('each version with the one before it: one fewer than versions', () => {
    expect(priorities({ by: 'predecessor' })).toEqual(['Edited 60→70', 'None', 'Edited 50→60']);
  });

  test('a single version has no predecessor', () => {
    expect(diffVersions([version(0, 50)], { by: 'predecessor' })._unsafeUnwrap()).toEqual([]);
    expect(diffVersions([], { by: 'predecessor' })._unsafeUnwrap()).toEqual([]);
  });

  test('all with one version', () => {
    expect(priorities({ by: 'version', version: 3 })).toEqual(['None', 'Edited 70→60', 'Edited 70→60', 'Edited 70→50']);
  });

  test('all with a tagged version', () => {
    expect(priorities({ by: 'tag', tag: 'golden' })).toEqual(['Edited 60→70', 'None', 'None', 'Edited 60→50']);
  });

  test('the tag of a version and who submitted it are no changes of the job', () => {
    const [newer, older] = [version(1, 60), { ...version(0, 60, 'golden'), NomadTokenID: 'ada' }];
    expect(diffVersions([newer, older], { by: 'predecessor' })._unsafeUnwrap()).toMatchObject([{ Type: 'None' }]);
  });

  test('what Nomad’s diff omits is shown', () => {
    const [newer, older] = [60, 30].map((Weight, at) => ({
      ...canonicalJob({ ID: 'web', Spreads: [{ Attribute: 'a', Weight }] }),
      Version: 1 - at,
    }));
    const diffs = diffVersions([newer, older] as Job[], { by: 'predecessor' })._unsafeUnwrap();
    expect(diffs).toMatchObject([{ Type: 'Edited', Objects: [{ Name: 'Spread', Type: 'Edited' }] }]);
  });

  test.each([
    [{ by: 'version', version: 9 } as const, 'version 9 not found'],
    [{ by: 'tag', tag: 'silver' } as const, 'tag "silver" not found'],
  ])('a base that is not kept: %j', (base, message) => {
    expect(diffVersions(newestFirst, base)._unsafeUnwrapErr().message).toBe(message);
  });
});
