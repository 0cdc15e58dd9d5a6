import { expect, it } from 'vitest';
import type { NodeScore } from '../../../src/scheduler/allocation-metric.js';
import { World } from '../../replay/stories/world.js';
import { storyGroup, storyJob, storyNode, storyTask } from '../../support/stories.js';

const now = Date.UTC(2027, 0, 15);

/** Seven nodes, the largest first: the fuller a node would be, the better it is. */
const nodes = [7, 6, 5, 4, 3, 2, 1].map((size) => storyNode(`n${size}`, { cpu: 1000 + size * 100 }));

function world(): World {
  return new World({ now, nodes, config: { preemption: { service: true } } });
}

/** The scores that the metric of a new allocation tells. */
function shown(into: World, id: string, Priority: number): readonly NodeScore[] {
  const job = into.store(
    into.jobFrom(storyJob(id, 'service', [storyGroup({ Tasks: [storyTask(900)] })], { Priority })),
  );
  const decision = into.decide(into.newEvaluation(job, 'job-register'));
  into.apply(decision);
  return decision.result.allocations.find(({ JobID }) => JobID === id)?.Metrics.ScoreMetaData ?? [];
}

function names(scores: readonly NodeScore[]): string[] {
  return scores.map(({ NodeID }) => NodeID.replace('node-', ''));
}

it('a metric tells the five best of the nodes with room, best first', () => {
  const scores = shown(world(), 'web', 50);
  expect(names(scores)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5']);
  expect(scores.map(({ NormScore }) => NormScore)).toEqual(
    scores
      .map(({ NormScore }) => NormScore)
      .toSorted()
      .reverse(),
  );
});

it('also of those that have room once others are gone', () => {
  const full = world();
  for (const { name } of nodes) shown(full, `low-${name}`, 10);
  const scores = shown(full, 'web', 90);
  expect(scores).toHaveLength(5);
  expect(scores.every(({ Scores }) => Scores['preemption'] !== undefined)).toBe(true);
});

it('tells fewer where fewer have room', () => {
  const filled = world();
  for (const { name } of nodes.slice(3)) shown(filled, `low-${name}`, 85);
  expect(names(shown(filled, 'web', 90))).toEqual(['n5', 'n6', 'n7']);
});
