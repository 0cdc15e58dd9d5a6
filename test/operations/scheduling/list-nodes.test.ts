import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { type ListNodesInput, listNodes } from '../../../src/operations/scheduling/read-nodes.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { nodeFrom } from '../../support/nodes.js';
import { pagesOf } from '../../support/pages.js';

async function engineWithNodes() {
  const clock = manualClock(0);
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
  const engine = createEngine(ports);
  for (const id of ['c', 'a1', 'b', 'a3', 'a2']) {
    const node = nodeFrom(id, { NodePool: 'default', NodeClass: id < 'b' ? 'small' : 'large', Meta: { id } });
    (await registerNode(engine, hostPrincipal, node))._unsafeUnwrap();
  }
  return engine;
}

it('lists nodes in pages by ID, in either order, from a prefix and a token on, with a filter', async () => {
  const engine = await engineWithNodes();
  const pages = (request: ListNodesInput) =>
    pagesOf(
      (page) => listNodes(engine, hostPrincipal, { ...request, ...page }),
      ({ record }) => record.ID,
    );
  expect(await pages({})).toEqual([['a1', 'a2', 'a3', 'b', 'c']]);
  expect(await pages({ perPage: 2 })).toEqual([['a1', 'a2'], ['a3', 'b'], ['c']]);
  expect(await pages({ perPage: 3, reverse: true })).toEqual([
    ['c', 'b', 'a3'],
    ['a2', 'a1'],
  ]);
  expect(await pages({ prefix: 'a', perPage: 2 })).toEqual([['a1', 'a2'], ['a3']]);
  expect(await pages({ nextToken: 'a22' })).toEqual([['a3', 'b', 'c']]);
  // What the filter drops is not counted: only the last page is short.
  expect(await pages({ perPage: 1, filter: 'NodeClass == "large"' })).toEqual([['b'], ['c']]);
  expect(await pages({ perPage: 2, filter: 'Meta.id matches "[123]$"' })).toEqual([['a1', 'a2'], ['a3']]);
});

it('says what is wrong with a filter of nodes', async () => {
  const engine = await engineWithNodes();
  const fault = async (filter: string) => (await listNodes(engine, hostPrincipal, { filter }))._unsafeUnwrapErr().type;
  expect(await fault('NodeClass ==')).toBe('filter_syntax');
  expect(await fault('Colour == "red"')).toBe('filter_evaluation');
});
