import { expect, it } from 'vitest';
import { begin, lastOf, register, storyGroup, storyJob, storyNode } from '../support/stories.js';

it('a job of a story that names no pool runs in the default one', () => {
  const nodes = [storyNode('small', { nodePool: 'edge', cpu: 1000 }), storyNode('large')];
  const told = lastOf(nodes, [register(storyJob('job', 'service', [storyGroup()]))], { pools: [{ name: 'edge' }] });
  expect(told).toMatchObject({ placed: [{ node: 'large' }] });
});

it('a plan of the document that a job has already finds nothing to do', () => {
  const job = storyJob('job', 'service', [storyGroup()]);
  const told = lastOf([storyNode('n1')], [register(job), begin('job'), { do: 'plan', job }]);
  expect(told).toMatchObject({
    noPlan: true,
    desired: { api: { ignore: 1 } },
    diff: { type: 'None' },
    updatedInPlace: [],
  });
});
