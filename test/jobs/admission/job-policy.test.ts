import { describe, expect, it } from 'vitest';
import { evaluatePolicies, type JobPolicy, type PolicyLevel } from '../../../src/jobs/admission/job-policy.js';
import { prepareJob } from '../../../src/jobs/prepare-job.js';
import { batchJob } from '../../operations/jobs/world.js';

const job = prepareJob(batchJob('work'))._unsafeUnwrap();
const question = { job, existing: undefined, callerName: 'dana' };
const policy = (level: PolicyLevel, refuse: JobPolicy['refuse']): JobPolicy => ({ name: 'p', level, refuse });

describe('judgePolicies', () => {
  it.each<[PolicyLevel, boolean, 'warnings' | 'refusals', string]>([
    ['advisory', false, 'warnings', 'policy p advises against this job: too big'],
    ['advisory', true, 'warnings', 'policy p advises against this job: too big'],
    ['soft-mandatory', false, 'refusals', 'policy p refuses this job (PolicyOverride would pass it): too big'],
    ['soft-mandatory', true, 'warnings', 'policy p was overridden: too big'],
    ['hard-mandatory', false, 'refusals', 'policy p refuses this job: too big'],
    ['hard-mandatory', true, 'refusals', 'policy p refuses this job: too big'],
  ])('%s, override %s: one of the %s', (level, override, kind, text) => {
    const nothing = { warnings: [], refusals: [] };
    expect(evaluatePolicies([policy(level, () => 'too big')], question, override)).toEqual({
      ...nothing,
      [kind]: [text],
    });
    expect(evaluatePolicies([policy(level, () => undefined)], question, override)).toEqual(nothing);
  });

  it('asks all of them, with the job as it would be stored, the one that is there, and who asks', () => {
    const asked: unknown[] = [];
    const note = policy('advisory', (about) => {
      asked.push(about);
      return undefined;
    });
    evaluatePolicies([note, note], { ...question, existing: job }, false);
    expect(asked).toEqual([{ job, existing: job, callerName: 'dana' }, expect.anything()]);
    expect(job.Priority).toBe(50);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no rates today');
      },
      'it failed',
    ],
    [
      'throws what is no error',
      () => {
        throw null;
      },
      'it failed',
    ],
    ['gives a promise', async () => undefined, 'it gives no reason'],
    ['gives an empty text', () => '', 'it gives no reason'],
    ['gives true', () => true, 'it gives no reason'],
  ])('is closed when a policy %s', (_what, refuse, reason) => {
    const faulty = policy('hard-mandatory', refuse as JobPolicy['refuse']);
    expect(evaluatePolicies([faulty], question, true).refusals).toEqual([`policy p refuses this job: ${reason}`]);
  });
});
