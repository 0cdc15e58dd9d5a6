import { describe, expect, it } from 'vitest';
import { causeText, chainOf, decisionText, failureSentences } from '../../web/rules/evaluation-words.js';

it.each([
  ['job-scaling', 'The job was scaled'],
  ['some-new-trigger', 'some new trigger'],
])('%s: %s', (trigger, sentence) => {
  expect(causeText(trigger)).toBe(sentence);
});

it.each([
  [{}, 'nothing to do'],
  [{ Place: 2, Ignore: 1, Stop: 0 }, 'place 2, leave as they are 1'],
  [{ Canary: 1, DestructiveUpdate: 3 }, 'place as canary 1, replace by the new version 3'],
])('%j: %s', (updates, text) => {
  expect(decisionText(updates)).toBe(text);
});

describe('why there was no room', () => {
  const metric = {
    NodesEvaluated: 0,
    NodesFiltered: 0,
    NodesExhausted: 0,
    NodesInPool: 0,
    NodePool: 'default',
    NodesAvailable: null,
    ConstraintFiltered: null,
    DimensionExhausted: null,
    CoalescedFailures: 0,
  };

  it('says that there is no node', () => {
    expect(failureSentences(metric)).toEqual(['No node of the pool default is ready in its datacenters.']);
  });

  it('says what nodes lack and which rules they fail, the most frequent first', () => {
    const seen = {
      ...metric,
      NodesEvaluated: 4,
      NodesInPool: 4,
      NodesFiltered: 3,
      NodesExhausted: 1,
      ConstraintFiltered: { 'attr.a = 1': 1, 'missing drivers': 2 },
      DimensionExhausted: { memory: 1 },
      CoalescedFailures: 2,
    };
    expect(failureSentences(seen)).toEqual([
      '4 nodes of the pool default were examined.',
      '3 nodes can never take it: missing drivers (2), attr.a = 1 (1).',
      '1 node lacks room: memory (1).',
      '2 further allocations of the group wait with it.',
    ]);
  });
});

it('orders a chain by its creation and names the relations', () => {
  const chain = chainOf([
    { ID: 'c', PreviousEval: 'b', CreateIndex: 9 },
    { ID: 'b', PreviousEval: 'a', BlockedEval: 'c', CreateIndex: 5 },
    { ID: 'a', NextEval: 'b', CreateIndex: 2 },
    { ID: 'd', PreviousEval: 'c', CreateIndex: 12 },
  ]);
  expect(chain.map(({ evaluation, relation }) => [evaluation.ID, relation])).toEqual([
    ['a', 'first'],
    ['b', 'next'],
    ['c', 'blocked'],
    ['d', 'follows'],
  ]);
});
