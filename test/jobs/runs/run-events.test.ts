import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { RunOutcome, RunStage } from '../../../src/jobs/runs/job-run.js';
import { advanceRun, cameUp, type RunObservation, workspaceOfRun } from '../../../src/jobs/runs/run-events.js';
import { canonicalJob } from '../canonical-job.js';

describe('advanceRun', () => {
  it.each<[RunStage, RunObservation, RunStage, string[]]>([
    ['pending', { type: 'placed' }, 'planning', ['run:planning planning']],
    ['planning', { type: 'placed' }, 'planning', []],
    ['planning', { type: 'started' }, 'applying', ['run:applying applying']],
    ['pending', { type: 'started' }, 'applying', ['run:planning planning', 'run:applying applying']],
    ['applying', { type: 'started' }, 'applying', []],
    ['applying', { type: 'came_up' }, 'completed', ['run:completed applied']],
    ['planning', { type: 'came_up' }, 'completed', ['run:applying applying', 'run:completed applied']],
    ['applying', { type: 'ended', outcome: 'succeeded' }, 'completed', ['run:completed applied']],
    ['pending', { type: 'ended', outcome: 'succeeded' }, 'completed', ['run:completed planned_and_finished']],
    ['pending', { type: 'ended', outcome: 'failed' }, 'errored', ['run:errored errored']],
    ['applying', { type: 'ended', outcome: 'timed_out' }, 'errored', ['run:errored errored']],
    ['applying', { type: 'ended', outcome: 'lost' }, 'errored', ['run:errored errored']],
    ['applying', { type: 'ended', outcome: 'stopped' }, 'errored', ['run:errored canceled']],
    ['applying', { type: 'failed' }, 'errored', ['run:errored errored']],
    ['completed', { type: 'failed' }, 'errored', ['run:errored errored']],
    ['errored', { type: 'failed' }, 'errored', []],
    ['pending', { type: 'stopped' }, 'errored', ['run:errored canceled']],
    ['completed', { type: 'stopped' }, 'completed', []],
    ['errored', { type: 'came_up' }, 'errored', []],
    ['completed', { type: 'ended', outcome: 'failed' }, 'completed', []],
  ])('%s, %j: %s', (stage, observation, next, events) => {
    const progress = advanceRun(stage, observation);
    expect(progress.stage).toBe(next);
    expect(progress.events.map((event) => `${event.trigger} ${event.status}`)).toEqual(events);
  });

  it('publishes each trigger at most once, and nothing after run:errored', () => {
    const observation: fc.Arbitrary<RunObservation> = fc.oneof(
      fc.constantFrom<RunObservation>(
        { type: 'placed' },
        { type: 'started' },
        { type: 'came_up' },
        { type: 'failed' },
        { type: 'stopped' },
      ),
      fc
        .constantFrom<RunOutcome>('succeeded', 'failed', 'stopped', 'timed_out', 'lost')
        .map((outcome): RunObservation => ({ type: 'ended', outcome })),
    );
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 12 }), (observations) => {
        let stage: RunStage = 'pending';
        const triggers: string[] = [];
        for (const each of observations) {
          const progress = advanceRun(stage, each);
          stage = progress.stage;
          triggers.push(...progress.events.map((event) => event.trigger));
        }
        expect(new Set(triggers).size).toBe(triggers.length);
        const errored = triggers.indexOf('run:errored');
        expect(errored === -1 || errored === triggers.length - 1).toBe(true);
        if (triggers.includes('run:applying'))
          expect(triggers.indexOf('run:planning')).toBeLessThan(triggers.indexOf('run:applying'));
      }),
    );
  });
});

describe('workspaceOfRun', () => {
  const job = canonicalJob({ ID: 'etl', Type: 'batch', Meta: { team: 'data' } });
  const child: Job = { ...job, ID: 'etl/dispatch-1-2', ParentID: 'etl', Dispatched: true };
  it.each<[string, Parameters<typeof workspaceOfRun>[0], Job, string | undefined]>([
    ['a rule that names nothing', [{ workspace: 'ws' }], job, 'ws'],
    ['the first of several', [{ workspace: 'no', job: 'x' }, { workspace: 'a' }, { workspace: 'b' }], job, 'a'],
    ['a namespace glob', [{ workspace: 'ws', namespace: 'def*' }], job, 'ws'],
    ['another namespace', [{ workspace: 'ws', namespace: 'prod' }], job, undefined],
    ['an instance by its parent', [{ workspace: 'ws', job: 'etl' }], child, 'ws'],
    ['meta with its value', [{ workspace: 'ws', meta: { team: 'data' } }], job, 'ws'],
    ['meta with another value', [{ workspace: 'ws', meta: { team: 'web' } }], job, undefined],
    ['meta with any value', [{ workspace: 'ws', meta: { team: '*' } }], job, 'ws'],
    ['meta that is not there', [{ workspace: 'ws', meta: { toString: '*' } }], job, undefined],
    ['a stopped job', [{ workspace: 'ws' }], { ...job, Stop: true }, undefined],
    [
      'a parent of instances',
      [{ workspace: 'ws' }],
      { ...job, ParameterizedJob: { Payload: 'optional', MetaRequired: null, MetaOptional: null } },
      undefined,
    ],
  ])('%s', (_name, rules, which, workspace) => {
    expect(workspaceOfRun(rules, which)).toBe(workspace);
  });
});

const allocation = (index: number, ClientStatus: string, more: object = {}) => ({
  Name: `etl.g[${index}]`,
  NodeID: 'n',
  TaskGroup: 'g',
  JobVersion: 0,
  DesiredStatus: 'run',
  ClientStatus,
  ClientDescription: '',
  CreateIndex: 1,
  ...more,
});

describe('cameUp', () => {
  const job = canonicalJob({ ID: 'etl', Type: 'service', TaskGroups: [{ Name: 'g', Count: 2 }] });
  it.each([
    ['all run', [allocation(0, 'running'), allocation(1, 'running')], true],
    ['one is pending', [allocation(0, 'running'), allocation(1, 'pending')], false],
    ['one is of another version', [allocation(0, 'running'), allocation(1, 'running', { JobVersion: 3 })], false],
    ['one is to be stopped', [allocation(0, 'running'), allocation(1, 'running', { DesiredStatus: 'stop' })], false],
  ])('%s', (_name, allocations, expected) => {
    expect(cameUp(job, allocations)).toBe(expected);
  });
});
