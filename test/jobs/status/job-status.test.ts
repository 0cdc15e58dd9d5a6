import { expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import { jobStatusOf } from '../../../src/jobs/status/job-status.js';
import { jobFrom } from '../../support/jobs.js';

type Work = 'deployment' | 'allocation' | 'open evaluation' | 'evaluation';

const service = jobFrom({});
const stopped = jobFrom({}, { Stop: true });
const batch = jobFrom({ Type: 'batch' });
const system = jobFrom({ Type: 'system' });
const sysbatch = jobFrom({ Type: 'sysbatch' });
const periodic = jobFrom({ Type: 'batch', Periodic: { Specs: ['@daily'] } });
const parameterized = jobFrom({ Type: 'batch', ParameterizedJob: {} });
const dispatched: Job = { ...parameterized, Dispatched: true };
const all: readonly Work[] = ['deployment', 'allocation', 'open evaluation', 'evaluation'];

it.each<[string, Job, readonly Work[], Job['Status']]>([
  ['a new job', service, [], 'pending'],
  ['one that waits to be looked at', service, ['open evaluation', 'evaluation'], 'pending'],
  ['one with a live allocation', service, ['allocation', 'open evaluation', 'evaluation'], 'running'],
  ['one with a deployment under way, and nothing that lives', service, ['deployment', 'evaluation'], 'running'],
  ['one of which everything is over', service, ['evaluation'], 'dead'],
  ['a batch job of which everything is over', batch, ['evaluation'], 'dead'],
  ['a batch job that waits for a replacement', batch, ['open evaluation', 'evaluation'], 'pending'],
  ['a sysbatch job, like a batch job', sysbatch, ['evaluation'], 'dead'],
  ['a stopped job', stopped, [], 'dead'],
  ['a stopped job that still ends', stopped, ['allocation', 'evaluation'], 'running'],
  ['a stopped job that waits to be looked at', stopped, ['open evaluation', 'evaluation'], 'pending'],
  ['a system job without any work', system, ['evaluation'], 'running'],
  ['a stopped system job that still ends', { ...system, Stop: true }, all, 'dead'],
  ['a periodic job', periodic, [], 'running'],
  ['a stopped periodic job', { ...periodic, Stop: true }, all, 'dead'],
  ['a parameterized job', parameterized, [], 'running'],
  ['a stopped parameterized job', { ...parameterized, Stop: true }, all, 'dead'],
  ['a dispatched job of which everything is over', dispatched, ['evaluation'], 'dead'],
])('the status of a job: %s', (_what, job, work, status) => {
  expect(
    jobStatusOf(job, {
      hasActiveDeployment: () => work.includes('deployment'),
      hasLiveAllocation: () => work.includes('allocation'),
      hasOpenEvaluation: () => work.includes('open evaluation'),
      hasAnyEvaluation: () => work.includes('evaluation'),
    }),
  ).toBe(status);
});
