import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideRegistration } from '../../src/jobs/changes/decide-registration.js';
import { diffJobs } from '../../src/jobs/diff/diff-jobs.js';
import { jobFrom, prepareJob } from '../../src/jobs/prepare-job.js';
import { jobInputs } from '../support/job-inputs.js';

describe('jobFrom', () => {
  test('nothing at all is a whole job', () => {
    expect(jobFrom()).toMatchObject({
      ID: 'job',
      Name: 'job',
      Status: 'pending',
      TaskGroups: [{ Name: 'group', Count: 1, Tasks: [{ Name: 'task', Driver: 'function' }] }],
    });
  });

  test('what is said is kept, the rest is made up', () => {
    const job = jobFrom({
      Type: 'batch',
      TaskGroups: [{ Count: 3 }, { Name: 'b', Tasks: [{ KillTimeout: '30s' }, {}] }],
    });
    expect(job.Type).toBe('batch');
    expect(job.TaskGroups.map(({ Name, Count }) => [Name, Count])).toEqual([
      ['group', 3],
      ['b', 1],
    ]);
    expect(job.TaskGroups[1]?.Tasks.map(({ Name, KillTimeout }) => [Name, KillTimeout])).toEqual([
      ['task', 30_000_000_000],
      ['task-2', 5_000_000_000],
    ]);
  });

  test('what a registration sets is laid over it', () => {
    expect(jobFrom({}, { Version: 3, JobModifyIndex: 17 })).toMatchObject({ Version: 3, JobModifyIndex: 17 });
  });

  test('a job that would be refused throws with what is wrong', () => {
    expect(() => jobFrom({ Priority: 500 })).toThrow('the priority must be from 1 to 100, not 500');
    expect(() => jobFrom({ TaskGroups: [{ ShutdownDelay: 'soon' as '1s' }] })).toThrow(
      'Job.TaskGroups[0].ShutdownDelay: expected a duration such as "30s" or "1h30m", got a string',
    );
  });

  test('a test of a rule is a line', () => {
    const request = { job: jobFrom({ Type: 'service' }), version: null, policyId: () => 'p' };
    const decided = decideRegistration(jobFrom({ Type: 'batch' }), request, 18, 0);
    expect(decided._unsafeUnwrapErr()).toMatchObject({ type: 'transition_refused', reason: 'type' });
    expect(diffJobs(jobFrom(), jobFrom({ Priority: 70 }))._unsafeUnwrap().Fields).toHaveLength(1);
  });
});

test('prepareJob never throws, and what it accepts it accepts again as itself', () => {
  fc.assert(
    fc.property(jobInputs, (input) => {
      const prepared = prepareJob(input);
      if (prepared.isErr()) return;
      const again = prepareJob(JSON.parse(JSON.stringify(prepared.value)) as typeof input);
      expect(again._unsafeUnwrap()).toEqual(prepared.value);
    }),
    { numRuns: 60 },
  );
});
