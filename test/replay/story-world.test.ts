import { expect, it } from 'vitest';
import { lastOf, register, storyGroup, storyJob, storyNode } from '../support/stories.js';

it('a job of a story that names no pool runs in the default one', () => {
  const nodes = [storyNode('small', { nodePool: 'edge', cpu: 1000 }), storyNode('large')];
  const told = lastOf(nodes, [register(storyJob('job', 'service', [storyGroup()]))], { pools: [{ name: 'edge' }] });
  expect(told).toMatchObject({ placed: [{ node: 'large' }] });
});
