import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../../src/scheduler/evaluation.js';
import { relatedEvaluations } from '../../src/scheduler/related-evaluations.js';

const evaluation = (ID: string, links: Partial<Evaluation> = {}): Evaluation => ({
  ID,
  Namespace: 'default',
  Priority: 50,
  Type: 'service',
  TriggeredBy: 'job-register',
  JobID: 'web',
  Status: 'complete',
  CreateIndex: 1,
  ModifyIndex: 1,
  CreateTime: 1,
  ModifyTime: 1,
  ...links,
});

const related = (all: readonly Evaluation[], of = all[0] as Evaluation): readonly string[] =>
  relatedEvaluations(of, (id) => all.find(({ ID }) => ID === id)).map(({ ID }) => ID);

describe('related evaluations', () => {
  it('are none for one that stands by itself', () => {
    expect(related([evaluation('a')])).toEqual([]);
  });

  it('are those before, behind and blocked, over any number of steps, each once', () => {
    const all = [
      evaluation('a', { PreviousEval: 'b', NextEval: 'c', BlockedEval: 'd' }),
      evaluation('b', { NextEval: 'a' }),
      evaluation('c', { NextEval: 'e', PreviousEval: 'a' }),
      evaluation('d', { PreviousEval: 'a' }),
      evaluation('e', { PreviousEval: 'c', NextEval: 'gone' }),
    ];
    expect(related(all)).toEqual(['b', 'c', 'd', 'e']);
    expect(related(all, all[4])).toEqual(['c', 'a', 'b', 'd']);
  });

  it('are at most 500', () => {
    const all = Array.from({ length: 700 }, (_, i) => evaluation(String(i), { NextEval: String(i + 1) }));
    expect(related(all)).toHaveLength(500);
  });
});
