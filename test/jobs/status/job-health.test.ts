import { expect, it } from 'vitest';
import { type JobHealth, jobHealth } from '../../../src/jobs/status/job-health.js';

type Facts = Parameters<typeof jobHealth>[0];
type Counts = NonNullable<Facts['JobSummary']['Summary']>[string];

const counts = (some: Partial<Counts>): Counts => ({
  Queued: 0,
  Starting: 0,
  Running: 0,
  Lost: 0,
  Unknown: 0,
  ...some,
});

const job = (facts: Partial<Facts> = {}, ...groups: readonly Partial<Counts>[]): Facts => ({
  Type: 'service',
  Status: 'running',
  Stop: false,
  Periodic: false,
  ParameterizedJob: false,
  JobSummary: { Summary: Object.fromEntries(groups.map((group, at) => [`g${at}`, counts(group)])) },
  ...facts,
});

const dead = (Outcome: string | undefined): Facts =>
  job({ Type: 'batch', Status: 'dead', ...(Outcome === undefined ? {} : { Outcome }) });
const batch = { Type: 'batch' };

it.each<[string, Facts, JobHealth['word'], JobHealth['mark']]>([
  ['a stopped job', job({ Stop: true }, { Running: 2 }), 'Stopped', 'off'],
  ['a stopped schedule', job({ Stop: true, Periodic: true }), 'Stopped', 'off'],
  ['a job that failed', dead('failed'), 'Failed', 'failed'],
  ['a job that took too long', dead('timed_out'), 'Failed', 'failed'],
  ['a job whose node was lost', dead('lost'), 'Lost', 'lost'],
  ['a job that was ended', dead('stopped'), 'Stopped', 'off'],
  ['a job that has done its work', dead('complete'), 'Complete', 'good'],
  ['a dead job without a known outcome', dead(undefined), 'Complete', 'good'],
  ['a schedule', job({ Periodic: true }), 'Scheduled', 'good'],
  ['a job that is dispatched', job({ ParameterizedJob: true }), 'Ready to dispatch', 'good'],
  ['a schedule that is dispatched, too', job({ Periodic: true, ParameterizedJob: true }), 'Scheduled', 'good'],
  ['a service that runs', job({}, { Running: 2 }), 'Healthy', 'good'],
  ['a batch job that runs', job(batch, { Running: 2 }), 'Running', 'running'],
  ['a system job that runs', job({ Type: 'system' }, { Running: 1 }), 'Running', 'running'],
  ['a service of which nothing has room', job({}, { Queued: 2 }), 'Waiting for room', 'waiting'],
  ['a service of which one has no room', job({}, { Running: 4 }, { Queued: 1 }), 'Waiting for room', 'waiting'],
  ['a service of which one starts again', job({}, { Running: 4, Starting: 1 }), 'Recovering', 'running'],
  ['a service that begins', job({}, { Starting: 1 }), 'Recovering', 'running'],
  ['a service with a node that does not answer', job({}, { Running: 4, Unknown: 1 }), 'Degraded', 'degraded'],
  ['a service that was lost', job({}, { Lost: 1 }), 'Degraded', 'degraded'],
  ['a service that has replaced what was lost', job({}, { Running: 1, Lost: 3 }), 'Healthy', 'good'],
  ['a job without groups', job({ JobSummary: { Summary: null } }), 'Healthy', 'good'],
])('what is said of a job by its list entry: %s', (_what, facts, word, mark) => {
  expect(jobHealth(facts)).toEqual({ word, mark });
});

it.each<[string, Facts, number, boolean, JobHealth['word']]>([
  ['fewer run than desired', job({}, { Running: 3 }), 4, false, 'Degraded'],
  ['as many run as desired', job({}, { Running: 4 }), 4, false, 'Healthy'],
  ['more run than desired', job({}, { Running: 5 }), 4, false, 'Healthy'],
  ['none runs, and one is desired', job({}, {}), 1, false, 'Degraded'],
  ['none is desired', job({}, {}), 0, false, 'Scaled to zero'],
  ['none is desired, and one has not ended', job({}, { Running: 1 }), 0, false, 'Healthy'],
  ['a batch job has done part of its work', job(batch, { Running: 3 }), 4, false, 'Running'],
  ['a deployment is under way', job({}, { Running: 3, Starting: 1 }), 4, true, 'Deploying'],
  ['a deployment waits for room beside what runs', job({}, { Running: 3, Queued: 1 }), 4, true, 'Deploying'],
  ['a deployment waits for room, and nothing runs', job({}, { Queued: 1 }), 1, true, 'Waiting for room'],
])('what is said of a job by its activity: %s', (_what, facts, wanted, isDeploying, word) => {
  expect(jobHealth(facts, { wanted, deployment: isDeploying ? { Status: 'running' } : null }).word).toBe(word);
});
