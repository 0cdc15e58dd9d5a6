import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { listEvaluations } from '../../../src/operations/jobs/reading/read-evaluations.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { applyNodeMetadata, readNodeMetadata } from '../../../src/operations/nodes/node-metadata.js';
import { purgeNode } from '../../../src/operations/nodes/purge-node.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { allocations } from '../../../src/scheduler/allocation.js';
import type { DynamicMeta } from '../../../src/scheduler/index.js';
import { nodes } from '../../../src/scheduler/node.js';
import { decideNodeMetadata, mergedMeta, nodeMetadata } from '../../../src/scheduler/nodes/node-metadata.js';
import { minute } from '../../../src/shared/duration.js';
import { engineUnderTest } from '../../adapters/http-server/engine-under-test.js';
import { fakeCluster } from '../../support/fake-agents.js';
import { nodeFrom } from '../../support/nodes.js';
import { serviceJob } from '../jobs/world.js';

const id = '00000000-0000-4000-8000-00000000000a';

describe('meta of a node', () => {
  const before = { ID: id, Static: { rack: 'r1', zone: 'a' }, Dynamic: { zone: 'b' } };
  const changedBy = (changes: DynamicMeta) => decideNodeMetadata(before, changes)._unsafeUnwrap().Dynamic;

  it('is what the agent tells, overridden by what was added', () => {
    expect(mergedMeta(before.Static, before.Dynamic)).toEqual({ rack: 'r1', zone: 'b' });
    expect(mergedMeta(before.Static, { rack: null })).toEqual({ zone: 'a' });
  });

  it('is set and removed by name; what the agent tells is hidden', () => {
    expect(changedBy({ colour: 'blue' })).toEqual({ zone: 'b', colour: 'blue' });
    expect(changedBy({ zone: 'c' })).toEqual({ zone: 'c' });
    expect(changedBy({ zone: null, rack: null, other: null })).toEqual({ zone: null, rack: null });
    expect(Object.entries(changedBy({ ['__proto__']: 'x' }))).toEqual([
      ['zone', 'b'],
      ['__proto__', 'x'],
    ]);
    expect(changedBy({ toString: null as never })).toEqual({ zone: 'b' });
  });

  it.each(['a', '_a', 'a-b', 'rack.row_2.x-y', 'größe', 'x'.repeat(128)])('may be named %s', (name) => {
    expect(changedBy({ [name]: 'x' })).toMatchObject({ [name]: 'x' });
  });

  it.each([
    [{}, 'no metadata name given'],
    [{ '': 'x' }, 'invalid metadata name "": use identifiers joined by dots, at most 128 characters'],
    [{ '1a': 'x' }, 'invalid metadata name'],
    [{ 'a/b': 'x' }, 'invalid metadata name'],
    [{ 'a..b': 'x' }, 'invalid metadata name'],
    [{ '-a': 'x' }, 'invalid metadata name'],
    [{ ['x'.repeat(129)]: 'x' }, 'invalid metadata name'],
    [{ 'a b': 'x' }, 'invalid metadata name "a b": use identifiers'],
    [{ 'a}': 'x' }, 'invalid metadata name'],
    [{ a: 'x'.repeat(4097) }, 'the value of metadata a is longer than 4096 characters'],
    [Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`k${i}`, 'x'])), 'at most 256 metadata names'],
  ])('is not changed by %j', (changes, message) => {
    expect(decideNodeMetadata(before, changes as DynamicMeta)._unsafeUnwrapErr().message).toContain(message);
  });
});

describe('a node', () => {
  const described = (Meta: Readonly<Record<string, string>> | null) => {
    const { Status, StatusDescription, StatusUpdatedAt, CreateIndex, ModifyIndex, ...node } = nodeFrom(id);
    return { ...node, Meta };
  };

  async function world() {
    const engine = engineUnderTest();
    (await registerNode(engine, hostPrincipal, described({ rack: 'r1' })))._unsafeUnwrap();
    const apply = (changes: DynamicMeta) => applyNodeMetadata(engine, hostPrincipal, { nodeId: id, changes });
    const stored = async () =>
      (
        await engine.storage.read((view) => ({
          node: view.get(nodes, [id])?.record.Meta,
          row: view.get(nodeMetadata, [id])?.record,
        }))
      )._unsafeUnwrap();
    return { engine, apply, stored };
  }

  it('has what was added at once, and keeps it when its agent registers again', async () => {
    const { engine, apply, stored } = await world();
    const answer = { Meta: { colour: 'blue' }, Dynamic: { colour: 'blue', rack: null }, Static: { rack: 'r1' } };
    expect((await apply({ colour: 'blue', rack: null }))._unsafeUnwrap()).toEqual(answer);
    expect((await stored()).node).toEqual({ colour: 'blue' });
    (await registerNode(engine, hostPrincipal, described({ rack: 'r2', zone: 'z' })))._unsafeUnwrap();
    expect((await stored()).node).toEqual({ colour: 'blue', zone: 'z' });
    expect((await readNodeMetadata(engine, hostPrincipal, { nodeId: id }))._unsafeUnwrap()).toEqual({
      Meta: { colour: 'blue', zone: 'z' },
      Dynamic: { colour: 'blue', rack: null },
      Static: { rack: 'r2', zone: 'z' },
    });
  });

  it('takes work that waits for what was added', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    const Constraints = [{ LTarget: '${meta.zone}', RTarget: 'z', Operand: '=' }];
    const job = serviceJob('web', { Datacenters: ['*'], Constraints });
    (await registerJob(cluster.engine, hostPrincipal, { job }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await cluster.rows(allocations)).toEqual([]);
    const changes = { zone: 'z' };
    (await applyNodeMetadata(cluster.engine, hostPrincipal, { nodeId: 'n1', changes }))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    expect(await cluster.rows(allocations)).toHaveLength(1);
  });

  it('without anything added has what its agent tells, and no row', async () => {
    const { engine, stored } = await world();
    const read = await readNodeMetadata(engine, hostPrincipal, { nodeId: id });
    expect(read._unsafeUnwrap()).toEqual({ Meta: { rack: 'r1' }, Dynamic: {}, Static: { rack: 'r1' } });
    expect((await stored()).row).toBeUndefined();
  });

  it('that is purged leaves nothing', async () => {
    const { engine, apply, stored } = await world();
    (await apply({ a: 'b' }))._unsafeUnwrap();
    (await purgeNode(engine, hostPrincipal, { nodeId: id }))._unsafeUnwrap();
    expect(await stored()).toEqual({ node: undefined, row: undefined });
  });

  it('is left as it was by a change that is refused', async () => {
    const { engine, apply, stored } = await world();
    expect((await apply({ ok: 'x', 'not ok': 'y' }))._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused' });
    expect((await stored()).node).toEqual({ rack: 'r1' });
    const box = engine.as({ ...hostPrincipal, management: false, areas: {} }).nodes;
    const denied = { type: 'permission_denied' };
    const changes = { a: 'b' };
    expect((await box.applyMeta({ nodeId: id, changes }))._unsafeUnwrapErr()).toEqual(denied);
    expect((await box.readMeta({ nodeId: id }))._unsafeUnwrapErr()).toEqual(denied);
    const unknown = { nodeId: 'nobody', changes };
    expect((await applyNodeMetadata(engine, hostPrincipal, unknown))._unsafeUnwrapErr()).toMatchObject({
      type: 'node_not_found',
    });
    expect((await applyNodeMetadata(engine, hostPrincipal, { changes }))._unsafeUnwrapErr()).toMatchObject({
      message: 'name the node: this server has no connected node, or several',
    });
    expect((await listEvaluations(engine, hostPrincipal, {}))._unsafeUnwrap().value.items).toEqual([]);
  });
});
