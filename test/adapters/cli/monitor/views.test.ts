import { describe, expect, it } from 'vitest';
import {
  type DeploymentView,
  deploymentFrame,
  deploymentNews,
} from '../../../../adapters/cli/commands/scheduling/follow-deployment.js';
import { type DrainView, drainFrame, drainNews } from '../../../../adapters/cli/monitor/monitor.js';
import type { AllocationListStub, Deployment } from '../../../../src/scheduler/index.js';

const group = {
  Promoted: false,
  DesiredTotal: 2,
  DesiredCanaries: 0,
  PlacedAllocs: 2,
  HealthyAllocs: 0,
  UnhealthyAllocs: 0,
  RequireProgressBy: null,
};

function deployment(members: object = {}, counts: object = {}): DeploymentView {
  const view = {
    ID: '0a1b2c3d-0000-4000-8000-000000000000',
    JobID: 'web',
    JobVersion: 3,
    Status: 'running',
    StatusDescription: 'Deployment is running',
    TaskGroups: { app: { ...group, ...counts } },
    ...members,
  };
  return { deployment: view as unknown as Deployment, allocations: [] };
}

describe('the news of a deployment', () => {
  const done = { Status: 'successful', StatusDescription: 'Deployment completed successfully' };
  it.each([
    [
      'everything at first',
      undefined,
      deployment(),
      'deployment 0a1b2c3d (0a1b2c3d-0000-4000-8000-000000000000) of job "web", version 3\n' +
        '  group "app": 2 of 2 placed, 0 healthy, 0 unhealthy\n' +
        'deployment 0a1b2c3d is running: Deployment is running\n',
    ],
    ['nothing when nothing has changed', deployment(), deployment(), ''],
    [
      'counters of a group',
      deployment(),
      deployment({}, { HealthyAllocs: 1 }),
      '  group "app": 2 of 2 placed, 1 healthy, 0 unhealthy\n',
    ],
    [
      'canaries',
      deployment({}, { DesiredCanaries: 1 }),
      deployment({}, { DesiredCanaries: 1, Promoted: true }),
      '  group "app": 2 of 2 placed, 0 healthy, 0 unhealthy, 1 canaries promoted\n',
    ],
    [
      'its end',
      deployment(),
      deployment(done),
      'deployment 0a1b2c3d is successful: Deployment completed successfully\n',
    ],
    [
      'another description',
      deployment(),
      deployment({ StatusDescription: 'Deployment is running but requires manual promotion' }),
      'deployment 0a1b2c3d is running: Deployment is running but requires manual promotion\n',
    ],
  ])('are %s', (_name, before, view, news) => {
    expect(deploymentNews(before, view)).toBe(news);
  });

  it('are shown as a whole in a frame', () => {
    const allocation = { ID: 'ffffffff-0000', TaskGroup: 'app', JobVersion: 3, NodeName: 'n1', DesiredStatus: 'run' };
    const allocations = [{ ...allocation, ClientStatus: 'running', CreateTime: 0 } as unknown as AllocationListStub];
    expect(deploymentFrame({ ...deployment(), allocations })).toBe(
      [
        'Deployment   = 0a1b2c3d',
        'Status       = running',
        'Description  = Deployment is running',
        'Version      = 3',
        'Group  Promoted  Desired  Canaries  Placed  Healthy  Unhealthy  Progress deadline',
        'app    false     2        0         2       0        0',
        '',
        'ID        Group  Version  Node  Desired  Status   Created',
        'ffffffff  app    3        n1    run      running',
        '',
      ].join('\n'),
    );
  });
});

interface Shown {
  readonly [id: string]: string;
}

/** Allocations as `desired/status`; `state` is that of the drain. */
function drain(shown: Shown, state: 'draining' | 'complete' | 'canceled' = 'draining'): DrainView {
  const strategy = { ForceDeadline: '2026-01-01T01:00:00Z', IgnoreSystemJobs: false };
  return {
    node: {
      ID: '12345678-0000',
      Name: 'n1',
      DrainStrategy: state === 'draining' ? strategy : null,
      LastDrain: { Status: state },
    },
    allocations: Object.entries(shown).map(([ID, text]) => {
      const [DesiredStatus = '', ClientStatus = ''] = text.split('/');
      return { ID, JobID: 'web', TaskGroup: 'app', DesiredStatus, ClientStatus };
    }),
  };
}

describe('the news of a drain', () => {
  it.each([
    [
      'what is there at first',
      undefined,
      drain({ a: 'run/running', b: 'stop/complete' }),
      'node 12345678: 1 allocations, what is left then is stopped at 2026-01-01T01:00:00Z\n' +
        '  allocation a of "web" (app) is running\n',
    ],
    ['nothing when nothing has changed', drain({ a: 'run/running' }), drain({ a: 'run/running' }), ''],
    [
      'what leaves and what has left',
      drain({ a: 'run/running', b: 'stop/running' }),
      drain({ a: 'stop/running', b: 'stop/complete' }),
      '  allocation a of "web" (app) is running, to stop\n  allocation b of "web" (app) is complete\n',
    ],
    [
      'the end',
      drain({ a: 'stop/running' }),
      drain({ a: 'stop/complete' }, 'complete'),
      '  allocation a of "web" (app) is complete\nnode 12345678: the drain is complete\n',
    ],
    [
      'that somebody has ended it',
      drain({ a: 'run/running' }),
      drain({ a: 'run/running' }, 'canceled'),
      'node 12345678: the drain is ended before the node was empty\n',
    ],
  ])('are %s', (_name, before, view, news) => {
    expect(drainNews(before, view)).toBe(news);
  });

  it('tell of a drain that was over before it was looked at', () => {
    const { allocations: ordered } = drain({ a: 'run/running', b: 'stop/complete' });
    const view = drain({ a: 'stop/complete', b: 'stop/complete' }, 'complete');
    expect(drainNews(undefined, view, ordered)).toBe(
      'node 12345678: 1 allocations\n  allocation a of "web" (app) is complete\nnode 12345678: the drain is complete\n',
    );
  });

  it('are shown as a whole in a frame', () => {
    expect(drainFrame(drain({ a: 'stop/running', b: 'stop/complete' }))).toBe(
      [
        'Node         = 12345678 n1',
        'Drain        = under way',
        'Stopped at   = 2026-01-01T01:00:00Z',
        'Allocations  = 1',
        '',
        'ID  Job  Group  Desired  Status',
        'a   web  app    stop     running',
        '',
      ].join('\n'),
    );
    expect(drainFrame(drain({}, 'complete'))).toMatch(/Drain += complete\n.*nothing runs here\n$/s);
  });
});
