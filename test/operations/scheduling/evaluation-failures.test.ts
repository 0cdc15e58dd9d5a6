import { expect, it } from 'vitest';
import { EvaluationFailures } from '../../../src/operations/scheduling/process-evaluation.js';

it('counts by ID, until the ID is forgotten', () => {
  const { faults: counts } = new EvaluationFailures();
  counts.count('a');
  counts.count('a');
  counts.count('b');
  expect([counts.of('a'), counts.of('b'), counts.of('c')]).toEqual([2, 1, 0]);
  counts.forget('a');
  expect([counts.of('a'), counts.of('b')]).toEqual([0, 1]);
});

it('keeps a bounded number of evaluations that nobody ends here, the latest ones', () => {
  const { faults: counts } = new EvaluationFailures();
  for (let at = 0; at < 5000; at += 1) {
    counts.count('kept');
    counts.count(`${at}`);
  }
  expect(counts.size).toBe(1000);
  expect([counts.of('kept'), counts.of('4999'), counts.of('0')]).toEqual([5000, 1, 0]);
});
