import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import {
  collectableEvaluation,
  collectableJob,
  hasEnded,
  isCollectableAllocation,
  isCollectableDeployment,
  isCollectableNode,
} from '../../../src/scheduler/collection/collectable-records.js';
import type { Deployment } from '../../../src/scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { hour, minute } from '../../../src/shared/duration.js';
import { unixNanosFromInstant } from '../../../src/shared/instant.js';
import { jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const now = Date.UTC(2026, 0, 2);
const moment = { now, cutoff: now - hour };
const old = unixNanosFromInstant(now - 2 * hour);
const recent = unixNanosFromInstant(now - minute);

const service = jobFrom({}, { Status: 'running', SubmitTime: old });
const batch = jobFrom({ Type: 'batch' }, { Status: 'running', SubmitTime: old, JobModifyIndex: 20 });

function allocation(change: Partial<Allocation> = {}): Allocation {
  const ended = { DesiredStatus: 'stop', ClientStatus: 'complete', TaskGroup: 'app', CreateIndex: 10, ModifyTime: old };
  return { ID: 'a', ...ended, ...change } as Allocation;
}

function evaluation(change: Partial<Evaluation> = {}): Evaluation {
  return { ID: 'e', Status: 'complete', Type: 'service', ModifyTime: old, ...change } as Evaluation;
}

const limited = { Attempts: 2, Interval: 3_600_000_000_000, Delay: 0, DelayFunction: 'constant', Unlimited: false };

function withPolicy(job: Job, policy: object): Job {
  return { ...job, TaskGroups: job.TaskGroups.map((group) => ({ ...group, ReschedulePolicy: policy })) } as Job;
}

function failed(change: Partial<Allocation> = {}): Allocation {
  return allocation({ DesiredStatus: 'run', ClientStatus: 'failed', ...change });
}

function rescheduledAt(instant: number): Partial<Allocation> {
  const event = { RescheduleTime: unixNanosFromInstant(instant), PrevAllocID: 'p', PrevNodeID: 'n', Delay: 0 };
  return { RescheduleTracker: { Events: [event], LastReschedule: 'ok' } };
}

describe('allocations that may go', () => {
  const dead = { ...service, Status: 'dead' as const };
  it.each<[string, Allocation, Job | undefined, boolean]>([
    ['told to stop and finished', allocation(), service, true],
    ['still wanted', allocation({ DesiredStatus: 'run', ClientStatus: 'running' }), service, false],
    ['told to stop, its node has not finished', allocation({ ClientStatus: 'running' }), service, false],
    ['changed since the cutoff', allocation({ ModifyTime: recent }), service, false],
    ['finished by itself', allocation({ DesiredStatus: 'run' }), service, true],
    ['failed, replaced without limit', failed(), service, false],
    ['failed, replaced already', failed({ NextAllocation: 'b' }), service, true],
    ['failed, the job is purged', failed(), undefined, true],
    ['failed, the job is stopped', failed(), { ...service, Stop: true }, true],
    ['failed, the job is dead', failed(), dead, true],
    ['failed, never replaced', failed(), withPolicy(service, { ...limited, Attempts: 0 }), true],
    ['failed, attempts left', failed(), withPolicy(service, limited), false],
    [
      'failed, last attempt within the interval',
      failed(rescheduledAt(now - minute)),
      withPolicy(service, limited),
      false,
    ],
    [
      'failed, last attempt before the interval',
      failed(rescheduledAt(now - 2 * hour)),
      withPolicy(service, limited),
      true,
    ],
  ])('%s', (_name, one, job, expected) => {
    expect(isCollectableAllocation(one, job, moment)).toBe(expected);
  });
});

describe('allocations that failed', () => {
  const withFailures = { ...moment, failuresFrom: moment.now - 1000 * hour };
  const dead: Job = { ...service, Stop: true, Status: 'dead' };
  it.each<[string, Partial<Allocation>, boolean]>([
    ['failed', { ClientStatus: 'failed' }, false],
    ['lost', { ClientStatus: 'lost' }, false],
    ['took too long', { ClientDescription: 'Allocation exceeded its maximum run duration' }, false],
    ['completed', {}, true],
  ])('stay for longer: %s', (_name, how, goes) => {
    expect(isCollectableAllocation(allocation(how), dead, withFailures)).toBe(goes);
    expect(isCollectableAllocation(allocation(how), dead, moment)).toBe(true);
    const asked = { evaluation: evaluation(), allocations: [allocation(how)], job: dead };
    expect(collectableEvaluation(asked, withFailures, true).evaluation).toBe(goes);
  });
});

describe('evaluations that may go', () => {
  const stays = allocation({ ID: 'stays', ModifyTime: recent });
  it('go with their allocations', () => {
    const all = [allocation()];
    expect(collectableEvaluation({ evaluation: evaluation(), allocations: all, job: service }, moment)).toEqual({
      evaluation: true,
      allocations: all,
    });
  });

  it.each([['pending'], ['blocked']] as const)('stay while they are %s', (Status) => {
    const asked = { evaluation: evaluation({ Status }), allocations: [], job: service };
    expect(collectableEvaluation(asked, moment).evaluation).toBe(false);
  });

  it('stay with an allocation that stays, whose neighbours go', () => {
    const asked = { evaluation: evaluation(), allocations: [allocation(), stays], job: service };
    expect(collectableEvaluation(asked, moment)).toEqual({ evaluation: false, allocations: [allocation()] });
  });

  it('of a running batch job: only what an older version did', () => {
    const done = evaluation({ Type: 'batch' });
    const older = { evaluation: done, allocations: [allocation({ DesiredStatus: 'run' })], job: batch };
    const present = { ...older, allocations: [allocation({ DesiredStatus: 'run', CreateIndex: 30 })] };
    expect(collectableEvaluation(older, moment).evaluation).toBe(true);
    expect(collectableEvaluation(present, moment)).toEqual({ evaluation: false, allocations: [] });
    const over = { ...present, job: { ...batch, Status: 'dead' as const, Stop: true } };
    expect(collectableEvaluation(over, moment).evaluation).toBe(true);
  });
});

describe('jobs that may go', () => {
  const parent = jobFrom({ Type: 'batch', Periodic: { Enabled: true, SpecType: 'cron', Spec: '* * * * *' } });
  it.each<[string, Job, boolean]>([
    ['a running service', service, false],
    ['a service that is dead but not stopped', { ...service, Status: 'dead' }, false],
    ['a stopped service', { ...service, Status: 'dead', Stop: true }, true],
    ['a batch job that is over', { ...batch, Status: 'dead' }, true],
    ['a periodic parent', { ...parent, Status: 'dead' }, false],
    ['a stopped periodic parent', { ...parent, Status: 'dead', Stop: true }, true],
  ])('%s', (_name, job, expected) => {
    expect(hasEnded(job)).toBe(expected);
  });

  it('go with everything of theirs, or not at all', () => {
    const job = { ...batch, Status: 'dead' as const };
    const mine = { evaluation: evaluation({ Type: 'batch' }), allocations: [allocation({ CreateIndex: 30 })] };
    expect(collectableJob({ job, tagged: false, evaluations: [mine] }, moment)?.allocations).toHaveLength(1);
    expect(collectableJob({ job, tagged: true, evaluations: [mine] }, moment)).toBeUndefined();
    const young = { evaluation: evaluation({ ModifyTime: recent }), allocations: [] };
    expect(collectableJob({ job, tagged: false, evaluations: [mine, young] }, moment)).toBeUndefined();
    const fresh = { ...job, SubmitTime: recent };
    expect(collectableJob({ job: fresh, tagged: false, evaluations: [] }, moment)).toBeUndefined();
  });
});

it('deployments go when they are over and nothing of theirs runs', () => {
  const deployment = { Status: 'failed', ModifyTime: old } as Deployment;
  expect(isCollectableDeployment(deployment, [allocation()], moment)).toBe(true);
  expect(isCollectableDeployment({ ...deployment, Status: 'paused' }, [], moment)).toBe(false);
  expect(isCollectableDeployment({ ...deployment, ModifyTime: recent }, [], moment)).toBe(false);
  expect(isCollectableDeployment(deployment, [failed({ ClientStatus: 'running' })], moment)).toBe(false);
});

it('nodes go when they have been down for long and nothing of theirs is awaited', () => {
  const node = nodeFrom('n1', { Status: 'down', StatusUpdatedAt: (now - 2 * hour) / 1000 });
  expect(isCollectableNode(node, [allocation()], moment)).toBe(true);
  expect(isCollectableNode(node, [failed({ ClientStatus: 'unknown' })], moment)).toBe(false);
  expect(isCollectableNode({ ...node, Status: 'ready' }, [], moment)).toBe(false);
  expect(isCollectableNode({ ...node, Status: 'disconnected' }, [allocation()], moment)).toBe(true);
  expect(isCollectableNode({ ...node, Status: 'disconnected' }, [failed({ ClientStatus: 'unknown' })], moment)).toBe(
    false,
  );
  expect(isCollectableNode({ ...node, StatusUpdatedAt: now / 1000 }, [], moment)).toBe(false);
});
