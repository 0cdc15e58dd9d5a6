import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { schedule, schedulingSteps } from '../../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../../src/scheduler/scheduler-configuration.js';
import type { SchedulingSnapshot } from '../../../src/scheduler/snapshot.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const count = 1000;
const nodes = Array.from({ length: 200 }, (_, at) => nodeFrom(`n${at}`, { CreateIndex: at }));

function snapshotOf(job: Job, allocations: readonly Allocation[]): SchedulingSnapshot {
  return {
    job,
    allocations,
    versions: new Map(),
    deployments: [],
    cluster: clusterFrom(nodes, allocations),
    configuration: defaultSchedulerConfiguration,
    pool: undefined,
    readAllocation: () => undefined,
    index: 100,
  };
}

function evaluationOf({ Namespace, ID, Type }: Job): Evaluation {
  const indexes = { CreateIndex: 99, ModifyIndex: 99, CreateTime: 0, ModifyTime: 0 };
  const parts = { ID: 'e', Priority: 50, TriggeredBy: 'job-register', Status: 'pending' } as const;
  return { ...parts, Namespace, Type, JobID: ID, ...indexes };
}

function ids() {
  let last = 0;
  return { next: () => `id-${++last}`, fraction: () => 0 };
}

/** A job with a thousand allocations that run. */
const before = jobFrom({ TaskGroups: [groupDocument({ Count: count, Update: { MaxParallel: count } })] });
const placed = schedule(snapshotOf(before, []), evaluationOf(before), 0, ids()).allocations;
const running = placed.map((allocation): Allocation => ({ ...allocation, ClientStatus: 'running' }));

const next = (change: Partial<Job>): Job => ({ ...before, Version: 1, JobModifyIndex: 90, ...change });
const withCount = (Count: number): Job => next({ TaskGroups: before.TaskGroups.map((group) => ({ ...group, Count })) });

describe('a plan that changes many allocations', () => {
  it.each<[string, Job, number]>([
    ['stops them all with the job', next({ Stop: true }), 30],
    ['stops what is beyond the count', withCount(10), 40],
    ['stops a group that is wanted no more', withCount(0), 30],
    ['updates them in place', next({ Priority: 60 }), 40],
  ])('%s in steps', (_what, job, least) => {
    const snapshot = { ...snapshotOf(job, running), versions: new Map([[before.Version, before]]) };
    const steps = schedulingSteps(snapshot, evaluationOf(job), 0, ids());
    let taken = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) taken += 1;
    expect(step.value.allocations.length).toBe(count);
    expect(taken).toBeGreaterThanOrEqual(least);
  });
});
