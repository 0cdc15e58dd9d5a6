import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import { type Allocation, noTransition, type TaskState } from '../../../src/scheduler/allocation.js';
import { descriptions } from '../../../src/scheduler/reconcile/intents.js';
import { type JobSituation, settleReconnecting } from '../../../src/scheduler/reconcile/situation.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { allocationWith, jobWith, situationWith } from './situations.js';

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

describe('an allocation that is back, whatever its replacement', () => {
  const waits = { Disconnect: { LostAfter: 600e9, Reconcile: 'keep_original' } };
  const settled = (change: Partial<Allocation>, situation = situationWith(jobWith(waits))) => {
    const { kept, stop } = settleReconnecting([allocationWith(change)], [], situation);
    return kept.length > 0 ? 'kept' : stop.map(({ description, clientStatus }) => [description, clientStatus]);
  };
  const wish = (flag: string) => ({ DesiredTransition: { ...noTransition, [flag]: true } });
  const notNeeded = [[descriptions.notNeeded, undefined]];

  it.each<[string, Partial<Allocation>, unknown]>([
    ['runs', {}, 'kept'],
    ['completed', { ClientStatus: 'complete' }, 'kept'],
    ['failed', { ClientStatus: 'failed' }, [[descriptions.rescheduled, 'failed']]],
    ['failed and was stopped', { ClientStatus: 'failed', DesiredStatus: 'stop' }, notNeeded],
    ['was stopped', { DesiredStatus: 'stop' }, notNeeded],
    ['has to move', wish('Migrate'), notNeeded],
    ['is to be replaced', wish('Reschedule'), notNeeded],
    ['is to be replaced by force', wish('ForceReschedule'), notNeeded],
    ['has a wish that does not count here', wish('NoShutdownDelay'), 'kept'],
    ['runs an older version', { JobVersion: 2 }, notNeeded],
    ['is of an earlier registration', { JobCreateIndex: 4 }, notNeeded],
  ])('%s', (_what, change, expected) => {
    expect(settled(change)).toEqual(expected);
  });

  it('has no job any more', () => {
    expect(settled({}, situationWith(undefined))).toEqual(notNeeded);
  });
});

describe('which of an allocation and its replacement goes on', () => {
  const groupOf = (Reconcile: string) => ({ Disconnect: { LostAfter: 600e9, Reconcile } });
  const scored = (score: number | undefined) => ({
    Metrics: { ScoreMetaData: score === undefined ? null : [{ NodeID: 'n', Scores: {}, NormScore: score }] },
  });
  const of = (ID: string, score: number | undefined, change: Partial<Allocation> = {}) =>
    allocationWith({ ID, ...(scored(score) as Partial<Allocation>), ...change });
  const stops = (Reconcile: string, original: Allocation, ...replacements: Allocation[]) => {
    const { kept, stop } = settleReconnecting(
      [original],
      [original, ...replacements],
      situationWith(jobWith(groupOf(Reconcile))),
    );
    expect(kept.map(({ ID }) => ID)).toEqual(stop.some(({ allocation }) => allocation.ID === 'old') ? [] : ['old']);
    return stop.map(({ allocation, description }) => `${allocation.ID}: ${description}`);
  };
  const next = { NextAllocation: 'new' };
  const pending = { ClientStatus: 'pending' } as const;
  const original = `old: ${descriptions.notNeeded}`;
  const replacement = `new: ${descriptions.reconnected}`;

  it.each<[string, string, Allocation, Allocation, string[]]>([
    ['the original', 'keep_original', of('old', 1, next), of('new', 2), [replacement]],
    ['the replacement', 'keep_replacement', of('old', 2, next), of('new', 1), [original]],
    ['a newer version, always', 'keep_original', of('old', 1, next), of('new', 0, { JobVersion: 4 }), [original]],
    [
      'a newer registration, always',
      'keep_original',
      of('old', 1, next),
      of('new', 0, { JobCreateIndex: 6 }),
      [original],
    ],
    ['the better one', 'best_score', of('old', 1, next), of('new', 2), [original]],
    ['the better one, by default', '', of('old', 1, next), of('new', 2), [original]],
    ['the original of equal ones', 'best_score', of('old', 1, next), of('new', 1), [replacement]],
    ['the better original', 'best_score', of('old', 2, next), of('new', 1), [replacement]],
    ['the only one with a score', 'best_score', of('old', undefined, next), of('new', -1), [original]],
    ['the original without a score', 'best_score', of('old', undefined, next), of('new', undefined), [replacement]],
    ['what runs', 'best_score', of('old', 1, next), of('new', 2, pending), [replacement]],
    [
      'the better one of two that do not run',
      'best_score',
      of('old', 1, { ...next, ...pending }),
      of('new', 2, pending),
      [original],
    ],
    [
      'the original of a stopped replacement',
      'best_score',
      of('old', 1, next),
      of('new', 2, { DesiredStatus: 'stop' }),
      [],
    ],
    ['the original of an unknown replacement', 'best_score', of('old', 1, next), of('other', 2), []],
  ])('%s: %s', (_what, reconcile, old, replaced, expected) => {
    expect(stops(reconcile, old, replaced)).toEqual(expected);
  });

  it('is judged along the chain of replacements, without those that were stopped', () => {
    const second = of('new', 0, { NextAllocation: 'third' });
    const third = of('third', 2, { NextAllocation: 'fourth' });
    const fourth = of('fourth', 3);
    expect(stops('best_score', of('old', 1, next), second, third, fourth)).toEqual([replacement, original]);
    const stopped = { ...third, DesiredStatus: 'stop' as const };
    expect(stops('best_score', of('old', 1, next), second, stopped, fourth)).toEqual([replacement, original]);
    expect(stops('best_score', of('old', 1, next), second, fourth)).toEqual([replacement]);
    expect(stops('best_score', of('old', 1, next), { ...second, NextAllocation: 'new' })).toEqual([replacement]);
  });
});
