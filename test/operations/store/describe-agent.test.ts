import { describe, expect, it } from 'vitest';
import { describeAgent } from '../../../src/operations/store/describe-agent.js';
import { engineUnderTest } from '../../adapters/http-server/engine-under-test.js';

describe('what a server tells of itself', () => {
  it.each([
    ['no node', [], undefined],
    ['one node', ['n-1'], { node_id: 'n-1' }],
    ['several nodes', ['n-1', 'n-2'], undefined],
  ] as const)('with %s names the node that is meant where none is named', async (_what, ids, client) => {
    const engine = engineUnderTest();
    const context = { ...engine, agents: Object.assign(Object.create(engine.agents), { nodeIds: () => ids }) };
    const self = (await describeAgent(context))._unsafeUnwrap();
    expect(self.stats['client']).toEqual(client);
    expect(self.stats['signalbox']?.['leader']).toBe('true');
  });
});
