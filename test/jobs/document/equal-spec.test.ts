import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import { equalSpec } from '../../../src/jobs/document/equal-spec.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { JobInput } from '../../../src/jobs/document/submitted-job.js';
import { jobInputs } from '../../support/job-inputs.js';

function stored(input: JobInput): Job {
  return canonicaliseJob(decodeJob(input)._unsafeUnwrap());
}

const job = stored({
  ID: 'web',
  Meta: { a: 'b' },
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Config: { x: [1] } }] }],
});

describe('equalSpec', () => {
  test.each<[string, Partial<Job>]>([
    ['Status', { Status: 'running' }],
    ['StatusDescription', { StatusDescription: 'x' }],
    ['Stable', { Stable: true }],
    ['Version', { Version: 7 }],
    ['CreateIndex', { CreateIndex: 7 }],
    ['ModifyIndex', { ModifyIndex: 7 }],
    ['JobModifyIndex', { JobModifyIndex: 7 }],
    ['SubmitTime', { SubmitTime: 7 }],
  ])('%s does not count', (_name, change) => {
    expect(equalSpec(job, { ...job, ...change })).toBe(true);
  });

  test.each<[string, Partial<Job>]>([
    ['Stop', { Stop: true }],
    ['the submitting token', { NomadTokenID: 'x' }],
    ['VersionTag', { VersionTag: { Name: 'v', Description: '', TaggedTime: 0 } }],
    ['Meta', { Meta: { a: 'c' } }],
    ['another key in Meta', { Meta: { a: 'b', c: 'd' } }],
    ['null and a map', { Meta: null }],
    ['a list of another length', { Datacenters: ['*', 'x'] }],
    ['the order of a list', { TaskGroups: [...job.TaskGroups, ...job.TaskGroups] }],
  ])('%s counts', (_name, change) => {
    expect(equalSpec(job, { ...job, ...change })).toBe(false);
    expect(equalSpec({ ...job, ...change }, job)).toBe(false);
  });

  test('a change deep inside counts', () => {
    const TaskGroups = job.TaskGroups.map((group) => ({
      ...group,
      Tasks: group.Tasks.map((task) => ({ ...task, Config: { x: [2] } })),
    }));
    expect(equalSpec(job, { ...job, TaskGroups })).toBe(false);
  });

  test('is an equivalence that agrees with deep equality', () => {
    const jobs = fc.oneof(jobInputs.map(stored), fc.constant(job));
    fc.assert(
      fc.property(jobs, jobs, jobs, (a, b, c) => {
        const copy = structuredClone(a);
        expect(equalSpec(a, copy) && equalSpec(copy, a)).toBe(true);
        expect(equalSpec(a, b)).toBe(equalSpec(b, a));
        if (equalSpec(a, b) && equalSpec(b, c)) expect(equalSpec(a, c)).toBe(true);
        // Freshly stored jobs have equal bookkeeping, but for the version that a submission may carry.
        const version = { Version: 0 };
        expect(equalSpec(a, b)).toBe(
          JSON.stringify(sorted({ ...a, ...version })) === JSON.stringify(sorted({ ...b, ...version })),
        );
      }),
      { numRuns: 60 },
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
