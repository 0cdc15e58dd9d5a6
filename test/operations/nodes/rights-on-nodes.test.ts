import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { drainNode, setNodeEligibility } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { evaluateNode } from '../../../src/operations/nodes/evaluate-node.js';
import {
  listNodePoolNodes,
  listNodePools,
  putNodePool,
  readNodePool,
  removeNodePool,
} from '../../../src/operations/nodes/node-pools.js';
import { purgeNode } from '../../../src/operations/nodes/purge-node.js';
import { listNodeAllocations } from '../../../src/operations/nodes/read-node-allocations.js';
import {
  readSchedulerConfiguration,
  setSchedulerConfiguration,
} from '../../../src/operations/nodes/scheduler-configuration.js';
import { type World, world } from '../jobs/world.js';

const nobody: Principal = { ...hostPrincipal, management: false };
const callers = {
  nobody,
  'node read': { ...nobody, areas: { node: 'read' } },
  'node write': { ...nobody, areas: { node: 'write' } },
  'operator read': { ...nobody, areas: { operator: 'read' } },
  'operator write': { ...nobody, areas: { operator: 'write' } },
  'pool read': { ...nobody, nodePools: { 'gpu*': ['read'] } },
  'pool write': { ...nobody, nodePools: { 'gpu*': ['read', 'write', 'delete'] } },
  'pool read, node read': { ...nobody, areas: { node: 'read' }, nodePools: { 'gpu*': ['read'] } },
  'other pool': { ...nobody, nodePools: { 'gpu*': ['read'], gpu: ['deny'] } },
} satisfies Record<string, Principal>;
type Name = keyof typeof callers;

const nodeId = 'n1';
const name = 'gpu';
const requests = {
  'read allocations': [
    (e, c) => listNodeAllocations(e, c, { nodeId }),
    ['node read', 'node write', 'pool read, node read'],
  ],
  'set eligibility': [(e, c) => setNodeEligibility(e, c, { nodeId, eligibility: 'eligible' }), ['node write']],
  drain: [(e, c) => drainNode(e, c, { nodeId, spec: null }), ['node write']],
  evaluate: [(e, c) => evaluateNode(e, c, { nodeId }), ['node write']],
  purge: [(e, c) => purgeNode(e, c, { nodeId }), ['node write']],
  'read configuration': [(e, c) => readSchedulerConfiguration(e, c), ['operator read', 'operator write']],
  'set configuration': [(e, c) => setSchedulerConfiguration(e, c, {}), ['operator write']],
  'read pool': [(e, c) => readNodePool(e, c, { name }), ['pool read', 'pool write', 'pool read, node read']],
  'put pool': [(e, c) => putNodePool(e, c, { name }), ['pool write']],
  'remove pool': [(e, c) => removeNodePool(e, c, { name }), ['pool write']],
  'nodes of pool': [(e, c) => listNodePoolNodes(e, c, { name }), ['pool read, node read']],
} satisfies Record<string, [(engine: World['engine'], caller: Principal) => unknown, Name[]]>;

const cases = Object.entries(requests).flatMap(([what, [request, allowed]]) =>
  (Object.keys(callers) as Name[]).map((who) => ({ what, who, request, isAllowed: (allowed as Name[]).includes(who) })),
);

describe('rights on nodes, pools and the configuration of the scheduler', () => {
  it.each(cases)('$what by $who: $isAllowed', async ({ who, request, isAllowed }) => {
    const answer = await request(world().engine, callers[who]);
    const isDenied = answer.isErr() && answer.error.type === 'permission_denied';
    expect(isDenied).toBe(!isAllowed);
  });

  it('show of the pools those that the caller may read, also to callers that ask the same at once', async () => {
    const { engine } = world();
    for (const pool of ['gpu', 'gpu2', 'edge'])
      (await putNodePool(engine, hostPrincipal, { name: pool }))._unsafeUnwrap();
    const seenBy = async (caller: Principal) =>
      (await listNodePools(engine, caller))._unsafeUnwrap().value.items.map(({ Name }) => Name);
    const asked = [hostPrincipal, callers['pool read'], callers['other pool'], nobody, callers['node write']].map(
      seenBy,
    );
    expect(await Promise.all(asked)).toEqual([
      ['all', 'default', 'edge', 'gpu', 'gpu2'],
      ['gpu', 'gpu2'],
      ['gpu2'],
      [],
      [],
    ]);
  });
});
