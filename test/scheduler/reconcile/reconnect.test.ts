import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation, TaskState } from '../../../src/scheduler/allocation.js';
import { settleReconnecting } from '../../../src/scheduler/reconcile/reconnect.js';
import type { JobSituation } from '../../../src/scheduler/reconcile/situation.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const taskDocument = { Driver: 'raw_exec', Config: { command: '/bin/true' }, Resources: { CPU: 1, MemoryMB: 10 } };
const job = jobFrom({
  TaskGroups: [
    groupDocument({
      Disconnect: { LostAfter: 600e9, Reconcile: 'longest_running' },
      Tasks: [
        { ...taskDocument, Name: 'prepare', Lifecycle: { Hook: 'prestart' } },
        { ...taskDocument, Name: 'main' },
      ],
    }),
  ],
});

/** `starts`: seconds at which the tasks began. */
function allocation(ID: string, score: number, starts: Readonly<Record<string, number>>, next?: string): Allocation {
  const states = Object.entries(starts).map(([task, at]): [string, Partial<TaskState>] => [
    task,
    { State: 'running', StartedAt: new Date(at * 1000).toISOString(), LastRestart: null },
  ]);
  return {
    ID,
    TaskGroup: 'app',
    ClientStatus: 'running',
    DesiredStatus: 'run',
    DesiredTransition: {},
    JobVersion: job.Version,
    JobCreateIndex: job.CreateIndex,
    TaskStates: Object.fromEntries(states),
    Metrics: { ScoreMetaData: [{ NodeID: 'n', Scores: {}, NormScore: score }] },
    ...(next === undefined ? {} : { NextAllocation: next }),
  } as unknown as Allocation;
}

function stopped(original: Allocation, replacement: Allocation): readonly string[] {
  const situation = { job, groupOf: (one: Allocation) => groupOf(job, one) } as unknown as JobSituation;
  return settleReconnecting([original], [original, replacement], situation).stop.map((intent) => intent.allocation.ID);
}

function groupOf({ TaskGroups }: Job, { TaskGroup }: Allocation) {
  return TaskGroups.find(({ Name }) => Name === TaskGroup);
}

describe('which of an allocation and its replacement goes on, by the longest run', () => {
  it('keeps the one whose main task began first', () => {
    expect(stopped(allocation('old', 0, { main: 10 }, 'new'), allocation('new', 1, { main: 20 }))).toEqual(['new']);
    expect(stopped(allocation('old', 0, { main: 30 }, 'new'), allocation('new', 1, { main: 20 }))).toEqual(['old']);
  });

  it('does not count tasks that ran before or after the main ones', () => {
    const original = allocation('old', 0, { prepare: 1, main: 30 }, 'new');
    expect(stopped(original, allocation('new', 1, { prepare: 10, main: 20 }))).toEqual(['old']);
  });

  it('keeps the one that has begun when the other has not', () => {
    expect(stopped(allocation('old', 0, {}, 'new'), allocation('new', 0, { main: 20 }))).toEqual(['old']);
    expect(stopped(allocation('old', 0, { main: 10 }, 'new'), allocation('new', 9, {}))).toEqual(['new']);
  });

  it('keeps the one with the better node when neither has told when it began', () => {
    expect(stopped(allocation('old', 0.1, {}, 'new'), allocation('new', 0.2, {}))).toEqual(['old']);
    expect(stopped(allocation('old', 0.2, {}, 'new'), allocation('new', 0.1, {}))).toEqual(['new']);
  });
});
