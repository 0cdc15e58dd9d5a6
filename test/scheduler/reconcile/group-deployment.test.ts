import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Deployment, DeploymentState } from '../../../src/scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import {
  describedPromotion,
  groupDeploymentOf,
  joinDeployment,
  standingOf,
} from '../../../src/scheduler/reconcile/group-deployment.js';
import { Intents } from '../../../src/scheduler/reconcile/intents.js';
import { isCurrent, isOlder } from '../../../src/scheduler/reconcile/situation.js';
import { allocationWith, jobWith, now, situationWith } from './situations.js';

const update = { MaxParallel: 2, AutoRevert: true, AutoPromote: true, ProgressDeadline: 600e9, Canary: 0 };
const rolled = (more: object = {}) => jobWith({ Update: { ...update, ...more } });

const deploymentOf = (change: Partial<Deployment> = {}): Deployment =>
  ({
    ID: 'd',
    JobVersion: 3,
    JobCreateIndex: 5,
    Status: 'running',
    StatusDescription: 'as before',
    TaskGroups: {},
    ...change,
  }) as unknown as Deployment;

/** What the group `app` makes of the job's deployment. */
function joined(job: Job, counts: { updated: number; placed: number; running?: number }, current?: Deployment) {
  const [group] = job.TaskGroups;
  if (group === undefined) throw new Error('no group');
  const situation = { ...situationWith(job), evaluation: { Priority: 77 } as Evaluation };
  const standing = { current, old: undefined, paused: false, failed: false };
  const intents = new Intents();
  const running = Array.from({ length: counts.running ?? 0 }, () => allocationWith());
  const older = allocationWith({ ID: 'old', JobVersion: 2 });
  joinDeployment(
    groupDeploymentOf(standing, group),
    { job, group, allocations: [...running, older], updated: counts.updated, placed: counts.placed },
    standing,
    { situation, intents },
  );
  expect(standing.current).toBe(intents.deployment ?? current);
  return intents.deployment;
}

const fresh: DeploymentState = {
  AutoRevert: true,
  AutoPromote: true,
  ProgressDeadline: 600e9,
  RequireProgressBy: null,
  Promoted: false,
  PlacedCanaries: null,
  DesiredCanaries: 0,
  DesiredTotal: 0,
  PlacedAllocs: 0,
  HealthyAllocs: 0,
  UnhealthyAllocs: 0,
};

describe('the deployment of a group', () => {
  it.each<[string, Job, { updated: number; placed: number; running?: number }, number]>([
    ['is made for what is missing', rolled(), { updated: 0, placed: 3 }, 3],
    ['is made for what is updated', rolled(), { updated: 2, placed: 0 }, 2],
    ['counts both', rolled(), { updated: 2, placed: 1 }, 3],
    ['is made for updates beside what runs the version already', rolled(), { updated: 1, placed: 1, running: 1 }, 2],
  ])('%s', (_what, job, counts, DesiredTotal) => {
    const made = joined({ ...job, ModifyIndex: 30, JobModifyIndex: 20 }, counts);
    expect(made).toMatchObject({
      JobID: 'web',
      JobVersion: 3,
      JobCreateIndex: 5,
      JobModifyIndex: 30,
      JobSpecModifyIndex: 20,
      IsMultiregion: false,
      Status: 'running',
      StatusDescription: 'Deployment is running',
      EvalPriority: 77,
      CreateTime: now * 1e6,
    });
    expect(made?.TaskGroups).toEqual({ app: { ...fresh, DesiredTotal } });
  });

  it.each<[string, Job, { updated: number; placed: number; running?: number }]>([
    ['nothing is to be done', rolled(), { updated: 0, placed: 0 }],
    ['the version runs and is merely completed', rolled(), { updated: 0, placed: 2, running: 1 }],
    ['no allocation may be changed at a time', rolled({ MaxParallel: 0 }), { updated: 1, placed: 1 }],
    [
      'there is no update block',
      { ...jobWith(), TaskGroups: jobWith().TaskGroups.map((one) => ({ ...one, Update: null })) },
      { updated: 1, placed: 1 },
    ],
  ])('is not made where %s', (_what, job, counts) => {
    expect(joined(job, counts)).toBeUndefined();
  });

  it('is that of the groups before', () => {
    const current = deploymentOf({ TaskGroups: { other: fresh } });
    expect(joined(rolled(), { updated: 0, placed: 3 }, current)).toEqual({
      ...current,
      TaskGroups: { other: fresh, app: { ...fresh, DesiredTotal: 3 } },
    });
  });

  it('keeps its total once the group has its part', () => {
    const current = deploymentOf({ TaskGroups: { app: { ...fresh, DesiredTotal: 3, HealthyAllocs: 1 } } });
    expect(joined(rolled(), { updated: 1, placed: 2 }, current)).toBeUndefined();
  });
});

describe('the deployment that counts', () => {
  const standing = (latest: Deployment | undefined, job: Job | undefined) => {
    const intents = new Intents();
    const { current, old, paused, failed } = standingOf(latest, situationWith(job), intents);
    const cancelled = intents.deploymentUpdates.map(({ status, description }) => `${status}: ${description}`);
    return { current: current?.ID, old: old?.ID, paused, failed, cancelled };
  };
  const none = { current: undefined, old: undefined, paused: false, failed: false, cancelled: [] };
  const present = { ...none, current: 'd' };
  const over = { ...none, old: 'd' };
  const stopped = 'cancelled: Cancelled because job is stopped';
  const newer = 'cancelled: Cancelled due to newer version of job';
  const job = rolled();

  it.each<[string, Deployment | undefined, Job | undefined, object]>([
    ['is none before the first', undefined, job, none],
    ['is that of the version', deploymentOf(), job, present],
    ['is paused with it', deploymentOf({ Status: 'paused' }), job, { ...present, paused: true }],
    ['stays when it has failed', deploymentOf({ Status: 'failed' }), job, { ...present, failed: true }],
    ['stays when it was cancelled', deploymentOf({ Status: 'cancelled' }), job, present],
    ['is over when it was successful', deploymentOf({ Status: 'successful' }), job, over],
    ['is cancelled by a stop', deploymentOf(), { ...job, Stop: true }, { ...over, cancelled: [stopped] }],
    ['is cancelled by a purge', deploymentOf(), undefined, { ...over, cancelled: [stopped] }],
    ['is cancelled by a newer version', deploymentOf({ JobVersion: 2 }), job, { ...over, cancelled: [newer] }],
    ['is cancelled by another registration', deploymentOf({ JobCreateIndex: 4 }), job, { ...over, cancelled: [newer] }],
    [
      'is cancelled while paused',
      deploymentOf({ JobVersion: 2, Status: 'paused' }),
      job,
      { ...over, cancelled: [newer] },
    ],
    ['is not cancelled when it has failed before', deploymentOf({ JobVersion: 2, Status: 'failed' }), job, over],
    ['is not cancelled twice', deploymentOf({ JobVersion: 2, Status: 'cancelled' }), undefined, over],
  ])('%s', (_what, latest, registered, expected) => {
    expect(standing(latest, registered)).toEqual(expected);
  });
});

describe('what a deployment says of promotion', () => {
  const waiting = { ...fresh, DesiredCanaries: 1, AutoPromote: false };
  it.each<[string, readonly DeploymentState[], string]>([
    ['nothing without canaries', [fresh], 'as before'],
    ['nothing once they are promoted', [{ ...waiting, Promoted: true }], 'as before'],
    ['that it is needed', [waiting, fresh], 'Deployment is running but requires manual promotion'],
    [
      'that it comes by itself',
      [{ ...waiting, AutoPromote: true }, fresh],
      'Deployment is running pending automatic promotion',
    ],
    [
      'that it is needed, where one group requests it',
      [{ ...waiting, AutoPromote: true }, waiting],
      'Deployment is running but requires manual promotion',
    ],
  ])('%s', (_what, states, description) => {
    const TaskGroups = Object.fromEntries(states.map((state, at) => [`g${at}`, state]));
    expect(describedPromotion(deploymentOf({ TaskGroups })).StatusDescription).toBe(description);
  });
});

it.each([
  [3, 5, { current: true, older: false }],
  [2, 5, { current: false, older: true }],
  [3, 4, { current: false, older: true }],
  [4, 4, { current: false, older: true }],
  [4, 5, { current: false, older: false }],
])(
  'version %d of the registration at index %d beside version 3 of that at 5: %j',
  (JobVersion, JobCreateIndex, expected) => {
    const allocation = allocationWith({ JobVersion, JobCreateIndex });
    const job = rolled();
    expect({ current: isCurrent(allocation, job), older: isOlder(allocation, job) }).toEqual(expected);
  },
);
