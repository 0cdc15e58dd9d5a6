import { describe, expect, it } from 'vitest';
import { decideRevert } from '../../../src/jobs/changes/decide-registration.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { jobFrom } from '../../support/jobs.js';

const tag = { Name: 'good', Description: 'the one before', TaggedTime: 1 };
const version = (Version: number, change: Partial<Job> = {}): Job => jobFrom({}, { Version, ...change });
const current = version(4);
const target = version(2, { Stable: true, VersionTag: tag, Priority: 70, Meta: { a: 'b' } });
const to = (number: number, enforcedPriorVersion: number | null = null) => ({ version: number, enforcedPriorVersion });

describe('a revert', () => {
  it.each([null, 4])('registers the earlier version without its stability and its tag; prior version %j', (prior) => {
    const document = decideRevert(current, target, to(2, prior))._unsafeUnwrap();
    expect(document).toEqual({ ...target, Stable: false, VersionTag: null });
  });

  it.each([
    ['the current version', target, to(4), { type: 'revert_refused', reason: 'same_version' }],
    ['a version that is not kept', undefined, to(3), { type: 'version_not_found', version: 3 }],
    ['where another version is current', target, to(2, 3), { type: 'revert_refused', reason: 'prior_version' }],
    ['where version 0 was to be current', target, to(2, 0), { type: 'revert_refused', reason: 'prior_version' }],
  ])('is refused: %s', (_what, kept, request, error) => {
    expect(decideRevert(current, kept, request)._unsafeUnwrapErr()).toMatchObject(error);
  });
});
