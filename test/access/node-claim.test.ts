import { describe, expect, it } from 'vitest';
import { decideNodeClaim, mayActForNode } from '../../src/access/allows.js';
import { anonymousPrincipal, hostPrincipal, type NodeIdentity } from '../../src/access/principal.js';

const n1 = '11111111-0000-4000-8000-000000000001';
const n2 = '22222222-0000-4000-8000-000000000002';

describe('a node is registered by its own agent', () => {
  const unbound: NodeIdentity = { pool: 'default' };
  const bound: NodeIdentity = { id: n1, pool: 'default' };

  it.each([
    // identity, node, pool, taken, outcome
    [unbound, n1, 'default', false, bound],
    [unbound, n1, 'default', true, 'make one for this node ID'],
    [unbound, n1, 'gpu', false, 'pool "default"'],
    [bound, n1, 'default', true, bound],
    [bound, n1, 'default', false, bound],
    [bound, n2, 'default', false, 'belongs to another node'],
    [bound, n1, 'gpu', true, 'pool "default"'],
  ])('%j claims %s in %s (taken: %s)', (identity, id, pool, isTaken, outcome) => {
    const decided = decideNodeClaim(identity, { id, pool, isTaken });
    if (typeof outcome === 'string') expect(decided._unsafeUnwrapErr().message).toContain(outcome);
    else expect(decided._unsafeUnwrap()).toEqual(outcome);
  });
});

describe('who may look after a node', () => {
  const agent = { ...anonymousPrincipal, node: { id: n1, pool: 'default' } };

  it.each([
    ['its agent', agent, n1, true],
    ['the agent of another', agent, n2, false],
    ['an agent without a node yet', { ...agent, node: { pool: 'default' } }, n1, false],
    ['an agent without a node, for none', { ...agent, node: { pool: 'default' } }, '', false],
    ['a management caller', hostPrincipal, n2, true],
    ['an agent, whatever else it is', { ...hostPrincipal, node: { id: n1, pool: 'default' } }, n2, false],
    ['nobody', anonymousPrincipal, n1, false],
  ])('%s', (_name, principal, id, may) => {
    expect(mayActForNode(principal, id)).toBe(may);
  });
});
