import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideStop, prunedVersions } from '../../src/jobs/changes/decide-registration.js';
import { prunedSubmissions, submissionLength } from '../../src/jobs/changes/submissions.js';
import { jobStatusOf } from '../../src/jobs/status/job-status.js';
import { newSummary, withAllocation, withChild, withGroupsOf, withQueued } from '../../src/jobs/status/job-summary.js';
import { canonicalJob } from './canonical-job.js';

describe('jobStatusOf', () => {
  const service = canonicalJob({ ID: 'j', Type: 'service' });
  const parent = canonicalJob({ ID: 'j', Type: 'batch', ParameterizedJob: {} });
  const periodic = canonicalJob({ ID: 'j', Type: 'batch', Periodic: { Spec: '@daily' } });
  const system = canonicalJob({ ID: 'j', Type: 'system' });
  const stopped = (job: typeof service) => ({ ...job, Stop: true });
  it.each([
    ['a new job', service, false, false, false, 'pending'],
    ['an open evaluation', service, false, true, true, 'pending'],
    ['a live allocation', service, true, true, true, 'running'],
    ['everything over', service, false, false, true, 'dead'],
    ['stopped before anything happened', stopped(service), false, false, false, 'dead'],
    ['stopped, with an allocation that still runs', stopped(service), true, false, true, 'running'],
    ['stopped, with its evaluation open', stopped(service), false, true, true, 'pending'],
    ['a parameterized job', parent, false, false, false, 'running'],
    ['a stopped parameterized job', stopped(parent), false, false, false, 'dead'],
    ['an instance', { ...parent, Dispatched: true }, false, false, true, 'dead'],
    ['a periodic job', periodic, false, false, false, 'running'],
    ['a system job', system, false, false, true, 'running'],
    ['a stopped system job', stopped(system), true, true, true, 'dead'],
  ] as const)('%s', (_name, job, live, open, any, status) => {
    const work = {
      hasActiveDeployment: () => false,
      hasLiveAllocation: () => live,
      hasOpenEvaluation: () => open,
      hasAnyEvaluation: () => any,
    };
    expect(jobStatusOf(job, work)).toBe(status);
  });
});

describe('job summary', () => {
  const job = canonicalJob({ ID: 'j', TaskGroups: [{ Name: 'g' }] });
  const zero = newSummary(job, 5);
  const start = withQueued(zero, { g: 2, unknown: 7 });
  const at = (ClientStatus: 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown') => ({
    TaskGroup: 'g',
    ClientStatus,
  });

  it('counts an allocation through its life', () => {
    const placed = withAllocation(start, undefined, at('pending'));
    expect(placed.Summary.g).toMatchObject({ Queued: 1, Starting: 1 });
    const running = withAllocation(placed, 'pending', at('running'));
    expect(running.Summary.g).toMatchObject({ Starting: 0, Running: 1 });
    expect(withAllocation(running, 'running', at('complete')).Summary.g).toMatchObject({ Running: 0, Complete: 1 });
    const failed = withAllocation(running, 'running', at('failed'));
    expect(withAllocation(failed, 'failed', at('running')).Summary.g).toMatchObject({ Running: 1, Failed: 1 });
    const lost = withAllocation(running, 'running', at('lost'));
    expect(withAllocation(lost, 'lost', at('running')).Summary.g).toMatchObject({ Running: 1, Lost: 0 });
  });

  it('never falls below zero and gives the same object when nothing changed', () => {
    expect(withAllocation(zero, undefined, at('pending')).Summary.g).toMatchObject({ Queued: 0, Starting: 1 });
    expect(withAllocation(zero, 'running', at('complete')).Summary.g).toMatchObject({ Running: 0, Complete: 1 });
    expect(withAllocation(start, 'running', at('running'))).toBe(start);
    expect(withAllocation(start, undefined, { TaskGroup: 'gone', ClientStatus: 'pending' })).toBe(start);
    expect(withQueued(start, { g: 2 })).toBe(start);
    expect(withGroupsOf(start, job)).toBe(start);
    expect(withChild(start, 'dead', 'dead')).toBe(start);
  });

  it('keeps dropped groups and adds new ones', () => {
    const next = withGroupsOf(start, canonicalJob({ ID: 'j', TaskGroups: [{ Name: 'h' }, { Name: '__proto__' }] }));
    expect(Object.keys(next.Summary)).toEqual(['g', 'h', '__proto__']);
  });

  it('moves children between the counters', () => {
    const one = withChild(zero, undefined, 'pending');
    expect(one.Children).toEqual({ Pending: 1, Running: 0, Dead: 0 });
    expect(withChild(one, 'pending', 'dead').Children).toEqual({ Pending: 0, Running: 0, Dead: 1 });
  });
});

describe('decideStop', () => {
  it('makes an unstable version without the tag, which names the version before', () => {
    const tag = { Name: 'blue', Description: '', TaggedTime: 1 };
    const current = { ...canonicalJob({ ID: 'j' }), Version: 4, Stable: true, VersionTag: tag, ModifyIndex: 7 };
    expect(decideStop(current, 9, 1_000)).toEqual({
      ...current,
      Stop: true,
      Stable: false,
      VersionTag: null,
      Version: 5,
      SubmitTime: 1_000_000_000,
      ModifyIndex: 9,
      JobModifyIndex: 9,
    });
  });
});

describe('prunedVersions', () => {
  const version = (Version: number, more: object = {}) => ({ Version, Stable: false, VersionTag: null, ...more });
  const down = (from: number, more: Record<number, object> = {}) =>
    Array.from({ length: from + 1 }, (_, i) => version(from - i, more[from - i]));
  const tag = { VersionTag: { Name: 't', Description: '', TaggedTime: 1 } };
  it.each([
    ['six', down(5), []],
    ['seven', down(6), [0]],
    ['seven, the oldest the newest stable', down(6, { 0: { Stable: true } }), [1]],
    ['seven, an older stable one beside a newer', down(6, { 0: { Stable: true }, 3: { Stable: true } }), [0]],
    ['seven with a tagged one', down(6, { 2: tag }), []],
    ['eight with a tagged oldest', down(7, { 0: tag }), [1]],
    ['nine', down(8), [0, 1, 2]],
  ])('%s', (_name, versions, gone) => {
    expect(prunedVersions(versions, 6)).toEqual(gone);
  });

  it('keeps what an allocation still runs, and removes the oldest of the others', () => {
    expect(prunedVersions(down(8), 6, (version) => [0, 2].includes(version))).toEqual([1, 3, 4]);
    expect(prunedVersions(down(6), 6, () => true)).toEqual([]);
  });

  it('keeps the current, all tagged, the newest stable, and no more than it may', () => {
    const row = fc.record({ Stable: fc.boolean(), VersionTag: fc.constantFrom(null, tag.VersionTag) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 15 }), fc.integer({ min: 1, max: 6 }), (rows, tracked) => {
        const versions = rows.map((each, i) => ({ ...each, Version: rows.length - i }));
        const gone = new Set(prunedVersions(versions, tracked));
        const kept = versions.filter(({ Version }) => !gone.has(Version));
        expect(kept).toContain(versions[0]);
        expect(versions.every((each) => each.VersionTag === null || kept.includes(each))).toBe(true);
        const stable = versions.find((each) => each.Stable);
        if (stable !== undefined) expect(kept).toContain(stable);
        const untagged = kept.filter((each) => each.VersionTag === null).length;
        expect(untagged).toBeLessThanOrEqual(Math.max(tracked, 2));
      }),
    );
  });
});

describe('submissions', () => {
  const submission = { Source: 'abc', Format: 'hcl2', VariableFlags: { ab: 'cde' }, Variables: 'x' };
  it('counts source, variables and flags with their names', () => {
    expect(submissionLength(submission)).toBe(9);
    expect(submissionLength({ ...submission, Source: 'äbc', Variables: '→', VariableFlags: { ü: '€' } })).toBe(12);
  });
  it('drops the oldest by index', () => {
    const rows = [3, 9, 1, 7].map((JobModifyIndex, Version) => ({
      ...submission,
      Namespace: 'default',
      JobID: 'j',
      Version,
      JobModifyIndex,
    }));
    expect(prunedSubmissions(rows, 2).map((row) => row.JobModifyIndex)).toEqual([3, 1]);
  });
});
