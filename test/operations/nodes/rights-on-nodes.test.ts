import { describe, expect, it } from 'vitest';
import { type Client, hostPrincipal, type Principal } from '../../../src/index.js';
import { listNodePools, putNodePool } from '../../../src/operations/nodes/node-pools.js';
import { world } from '../jobs/world.js';

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
  'read allocations': [(box) => box.nodes.allocations(nodeId), ['node read', 'node write', 'pool read, node read']],
  'set eligibility': [(box) => box.nodes.setEligibility(nodeId, 'eligible'), ['node write']],
  drain: [(box) => box.nodes.drain(nodeId), ['node write']],
  evaluate: [(box) => box.nodes.evaluate(nodeId), ['node write']],
  purge: [(box) => box.nodes.purge(nodeId), ['node write']],
  'read configuration': [(box) => box.scheduler.readConfiguration(), ['operator read', 'operator write']],
  'set configuration': [(box) => box.scheduler.setConfiguration({}), ['operator write']],
  'read pool': [(box) => box.nodePools.read(name), ['pool read', 'pool write', 'pool read, node read']],
  'put pool': [(box) => box.nodePools.put(name), ['pool write']],
  'remove pool': [(box) => box.nodePools.remove(name), ['pool write']],
  'nodes of pool': [(box) => box.nodePools.nodes(name), ['pool read, node read']],
} satisfies Record<string, [(box: Client) => unknown, Name[]]>;

const cases = Object.entries(requests).flatMap(([what, [request, allowed]]) =>
  (Object.keys(callers) as Name[]).map((who) => ({ what, who, request, isAllowed: (allowed as Name[]).includes(who) })),
);

describe('rights on nodes, pools and the configuration of the scheduler', () => {
  it.each(cases)('$what by $who: $isAllowed', async ({ who, request, isAllowed }) => {
    const answer = await request(world().engine.as(callers[who]));
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
