import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/jobs/document/job.js';
import type { Allocation } from '../../src/scheduler/allocation.js';
import { triggerAfterReport } from '../../src/scheduler/allocation-reports.js';
import { clusterFrom } from '../../src/scheduler/cluster/cluster.js';
import type { Evaluation, EvaluationTrigger } from '../../src/scheduler/evaluation.js';
import { schedule } from '../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../src/scheduler/scheduler-configuration.js';
import { jobFrom } from '../support/jobs.js';
import { allocationWith, jobWith, now } from './reconcile/situations.js';

const everyType = ['service', 'batch', 'system', 'sysbatch'] as const;
const handled: Readonly<Record<EvaluationTrigger, readonly (typeof everyType)[number][]>> = {
  'job-register': everyType,
  'job-deregister': everyType,
  'periodic-job': ['service', 'batch', 'sysbatch'],
  'node-drain': everyType,
  'node-update': everyType,
  'alloc-stop': everyType,
  scheduled: [],
  'rolling-update': everyType,
  'deployment-watcher': everyType,
  'failed-follow-up': everyType,
  'max-plan-attempts': ['service', 'batch'],
  'alloc-failure': ['service', 'batch'],
  'queued-allocs': everyType,
  preemption: everyType,
  'job-scaling': everyType,
  'max-disconnect-timeout': ['service', 'batch'],
  reconnect: everyType,
  'alloc-reschedule': ['service', 'batch'],
};

function outcome(Type: (typeof everyType)[number], TriggeredBy: EvaluationTrigger): Evaluation {
  const job = jobFrom({ Type });
  const snapshot = {
    job,
    allocations: [],
    versions: new Map([[job.Version, job]]),
    deployments: [],
    cluster: clusterFrom([], []),
    configuration: defaultSchedulerConfiguration,
    pool: undefined,
    readAllocation: () => undefined,
    index: 20,
  };
  const evaluation: Evaluation = {
    ID: 'this',
    Namespace: 'default',
    Priority: 50,
    Type,
    TriggeredBy,
    JobID: job.ID,
    Status: 'pending',
    CreateIndex: 10,
    ModifyIndex: 10,
    CreateTime: 0,
    ModifyTime: 0,
  };
  return schedule(snapshot, evaluation, now, { next: (kind) => kind }).evaluation;
}

describe('an evaluation', () => {
  it.each(Object.entries(handled) as [EvaluationTrigger, readonly string[]][])(
    'that is triggered by %s is worked on for jobs of the types %j, and fails for others',
    (trigger, types) => {
      const complete = everyType.filter((type) => outcome(type, trigger).Status === 'complete');
      expect(complete).toEqual(types);
      for (const type of everyType.filter((other) => !types.includes(other))) {
        expect(outcome(type, trigger)).toMatchObject({
          Status: 'failed',
          StatusDescription: expect.stringContaining(trigger),
          ModifyIndex: 20,
        });
      }
    },
  );
});

const policy = { Attempts: 1, Interval: 3600e9, Delay: 5e9, DelayFunction: 'constant', MaxDelay: 0, Unlimited: false };
const service = jobWith({ ReschedulePolicy: { ...policy, Unlimited: true, Attempts: 0 } });
const batch = jobWith({ ReschedulePolicy: policy }, { Type: 'batch' });
const system = jobWith({ Count: 1 }, { Type: 'system' });
const tried = {
  RescheduleTracker: {
    Events: [{ RescheduleTime: (now - 60_000) * 1e6, PrevAllocID: 'b', PrevNodeID: 'n', Delay: 5e9 }],
    LastReschedule: 'ok' as const,
  },
};

describe('what a node reports of an allocation', () => {
  it.each<[string, Job, Partial<Allocation>, Partial<Allocation>, EvaluationTrigger | undefined]>([
    ['a start', service, { ClientStatus: 'pending' }, { ClientStatus: 'running' }, undefined],
    ['a failure of a service', service, {}, { ClientStatus: 'failed' }, 'alloc-failure'],
    ['a failure of a batch job', batch, {}, { ClientStatus: 'failed' }, 'alloc-failure'],
    ['a failure without an attempt left', batch, tried, { ClientStatus: 'failed' }, undefined],
    ['a failure with a replacement due later', service, { FollowupEvalID: 'e' }, { ClientStatus: 'failed' }, undefined],
    [
      'a failure in a group that the job has no more',
      service,
      { TaskGroup: 'old' },
      { ClientStatus: 'failed' },
      undefined,
    ],
    ['a failure of a system job', system, {}, { ClientStatus: 'failed' }, undefined],
    ['the end of a batch job', batch, {}, { ClientStatus: 'complete' }, undefined],
    ['the end of a service, which is not supposed to end', service, {}, { ClientStatus: 'complete' }, 'alloc-failure'],
    ['the end of what was told to stop', service, { DesiredStatus: 'stop' }, { ClientStatus: 'complete' }, undefined],
    ['the failure of what was preempted', service, { DesiredStatus: 'evict' }, { ClientStatus: 'failed' }, undefined],
    ['a failure after the job was stopped', { ...service, Stop: true }, {}, { ClientStatus: 'failed' }, undefined],
    ['a failure of an earlier registration', service, { JobCreateIndex: 4 }, { ClientStatus: 'failed' }, undefined],
    ['a return', service, { ClientStatus: 'unknown' }, { ClientStatus: 'running' }, 'reconnect'],
    ['a return with a failure', service, { ClientStatus: 'unknown' }, { ClientStatus: 'failed' }, 'reconnect'],
    ['a return of a system job', system, { ClientStatus: 'unknown' }, { ClientStatus: 'running' }, 'reconnect'],
    [
      'a return with the end of a batch job',
      batch,
      { ClientStatus: 'unknown' },
      { ClientStatus: 'complete' },
      'reconnect',
    ],
  ])('calls for an evaluation or not: %s', (_what, job, known, told, trigger) => {
    const before = allocationWith(known);
    expect(triggerAfterReport(job, before, { ...before, ...told }, now)).toBe(trigger);
  });
});
