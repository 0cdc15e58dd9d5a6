import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { failedOutcome } from '../../../src/scheduler/plan/outcome.js';
import { unixNanosFromInstant } from '../../../src/shared/instant.js';
import type { Step } from '../../replay/stories/story.js';
import { begin, evaluate, fail, lastOf, register, storyGroup, storyJob, storyNode } from '../../support/stories.js';

const seconds = (count: number): Step => ({ do: 'advance', ms: count * 1000 });
const first: Step = { do: 'evaluate', eval: 'E1' };
const ineligible = (name: string): Step => ({ do: 'node', name, eligibility: 'ineligible' });

/** Two run on one node; the first has failed, and its replacement is due in 30 s. */
const waiting: Step[] = [
  register(storyJob('job', 'service', [storyGroup({ Count: 2 })])),
  begin('job'),
  fail('job.api[0]#1'),
  evaluate('job', 'alloc-failure'),
];
const told = (...then: Step[]) => lastOf([storyNode('n1')], [...waiting, ...then]);

describe('an evaluation that waited', () => {
  it('makes another one for what is due later still', () => {
    expect(told(seconds(20), fail('job.api[1]#1'), seconds(10), first)).toMatchObject({
      placed: [{ alloc: 'job.api[0]#2' }],
      followupAnnotated: [{ alloc: 'job.api[1]#1', followup: 'E2' }],
      evals: [{ name: 'E2', trigger: 'alloc-reschedule', waitMs: 20_000 }],
    });
  });

  it('makes one that waits for room, also before its time', () => {
    const noRoom = { placed: [], evals: [{ trigger: 'queued-allocs', status: 'blocked' }] };
    expect(told(ineligible('n1'), seconds(30), first)).toMatchObject(noRoom);
    expect(told(ineligible('n1'), first)).toMatchObject(noRoom);
  });

  it('makes none that waits for room before its time if it makes one for later', () => {
    const early = told(ineligible('n1'), seconds(20), fail('job.api[1]#1'), first);
    expect(early).toMatchObject({ placed: [], evals: [{ trigger: 'alloc-reschedule' }] });
  });
});

it.each([0, 5, -1, -5000])(
  'an evaluation that was made %i ms after the present moment was changed after that',
  (later) => {
    const now = Date.UTC(2026, 0, 1);
    const CreateTime = unixNanosFromInstant(now + later);
    const { evaluation } = failedOutcome({ index: 7 } as never, { CreateTime } as Evaluation, now, 'no reason');
    expect(evaluation).toMatchObject({ Status: 'failed', ModifyIndex: 7 });
    expect(evaluation.ModifyTime).toBeGreaterThan(CreateTime);
    if (later < 0) expect(evaluation.ModifyTime).toBe(unixNanosFromInstant(now));
    else expect(evaluation.ModifyTime - CreateTime).toBeLessThan(1_000_000);
  },
);
