import fc from 'fast-check';
import { ok, type Result } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../../adapters/memory/index.js';
import { hostPrincipal } from '../../../../src/access/principal.js';
import { createEngine } from '../../../../src/index.js';
import { commit } from '../../../../src/operations/commit.js';
import { steppedWork } from '../../../../src/operations/context/steps-in-turns.js';
import {
  clusterAt,
  clusterInSteps,
  type KnownCluster,
  needsTurns,
} from '../../../../src/operations/records/scheduling/known-cluster.js';
import type { Transaction } from '../../../../src/operations/write-transaction.js';
import type { ReadView, Storage } from '../../../../src/ports/storage.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { nodeFrom } from '../../../support/nodes.js';

const allocation = (at: number): Allocation =>
  ({
    ID: `a-${at}`,
    Namespace: 'default',
    EvalID: 'e',
    JobVersion: 0,
    CreateIndex: 1,
    ModifyIndex: 1,
    JobID: 'web',
    JobType: 'service',
    TaskGroup: 'app',
    NodeID: `n${at % 3}`,
    AllocatedResources: { Tasks: {}, TaskLifecycles: {}, Shared: { Networks: null, DiskMB: 1, Ports: null } },
    DesiredStatus: 'run',
    ClientStatus: at % 10 === 0 ? 'complete' : 'running',
  }) as unknown as Allocation;

it.each([0, 1, 999, 1000, 1001, 2000, 3334])('knows what %d allocations use, however they are read', async (count) => {
  const storage = memoryStorage();
  const written = await storage.write((tx) => {
    for (let at = 0; at < 3; at += 1) tx.put(nodes, nodeFrom(`n${at}`));
    for (let at = 0; at < count; at += 1) tx.put(allocations, allocation(at));
    return ok(undefined);
  });
  written._unsafeUnwrap();
  const { cluster } = (await storage.read((view) => clusterAt(view, undefined)))._unsafeUnwrap();
  const used = cluster.nodeStates.flatMap(({ uses }) => uses.map(({ id }) => id));
  const open = Array.from({ length: count }, (_, at) => allocation(at)).filter((one) => one.ClientStatus === 'running');
  expect(used.sort()).toEqual(open.map(({ ID }) => ID).sort());
});

/** What the cluster has of each node, in no order. */
function usesOf({ cluster }: KnownCluster): readonly (readonly string[])[] {
  return cluster.nodeStates.map(({ node, uses }) => [node.ID, ...uses.map(({ id }) => id).sort()]);
}

function write(storage: Storage, work: (tx: Transaction) => Result<undefined, never>) {
  const ports = { clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery(), storage };
  return commit(createEngine(ports), hostPrincipal, work);
}

async function storeWith(count: number): Promise<Storage> {
  const storage = memoryStorage();
  const written = await write(storage, (tx) => {
    for (let at = 0; at < 3; at += 1) tx.put(nodes, nodeFrom(`n${at}`));
    for (let at = 0; at < count; at += 1) tx.put(allocations, { ...allocation(at), ModifyIndex: tx.index });
    return ok(undefined);
  });
  written._unsafeUnwrap();
  return storage;
}

const known = async (storage: Storage, before?: KnownCluster): Promise<KnownCluster> =>
  (await storage.read((view) => clusterAt(view, before)))._unsafeUnwrap();

it('forgets an allocation that has ended and was removed since', async () => {
  const storage = await storeWith(2);
  const before = await known(storage);
  const one = allocation(1);
  const end = await write(storage, (tx) => {
    tx.put(allocations, { ...one, ClientStatus: 'complete', ModifyIndex: tx.index });
    return ok(undefined);
  });
  end._unsafeUnwrap();
  const removed = await write(storage, (tx) => {
    tx.remove(allocations, [one.ID]);
    return ok(undefined);
  });
  removed._unsafeUnwrap();
  expect(usesOf(await known(storage, before))).toEqual([['n0'], ['n1'], ['n2']]);
});

it('keeps what it knows when allocations are removed that it has seen end', async () => {
  const storage = await storeWith(2);
  const before = await known(storage);
  const removed = await write(storage, (tx) => {
    tx.remove(allocations, [allocation(0).ID]);
    return ok(undefined);
  });
  removed._unsafeUnwrap();
  const after = await known(storage, before);
  expect(after.cluster.nodeStates[1]).toBe(before.cluster.nodeStates[1]);
});

const change = fc.record({
  at: fc.integer({ min: 0, max: 400 }),
  to: fc.constantFrom('running', 'complete', 'removed', 'node', 'node gone'),
});
const someChanges = fc.array(change, { maxLength: 6 });

it('is what the store shows, whatever happens between the steps of reading it', async () => {
  const between = fc.array(someChanges, { minLength: 1, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 300 }), between, async (count, turns) => {
      const storage = await storeWith(count);
      const read = await readInSteps(storage, undefined, turns);
      expect(usesOf(await known(storage, read))).toEqual(usesOf(await known(storage)));
    }),
    { numRuns: 60 },
  );
});

it('is what the store shows, whatever happened since it was known and happens while that is caught up with', async () => {
  const before = fc.array(change, { maxLength: 150 });
  const between = fc.array(someChanges, { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 150 }), before, between, async (count, changes, turns) => {
      const storage = await storeWith(count);
      const old = await known(storage);
      for (const one of changes) await applied(storage, one);
      expect(usesOf(await known(storage, old))).toEqual(usesOf(await known(storage)));
      const read = await readInSteps(storage, old, turns);
      expect(usesOf(await known(storage, read))).toEqual(usesOf(await known(storage)));
    }),
    { numRuns: 60 },
  );
});

it('needs turns when nothing is known, when much has changed, and when live allocations were removed', async () => {
  const storage = await storeWith(300);
  const needs = async (before?: KnownCluster): Promise<boolean> =>
    (await storage.read((view) => needsTurns(view, before)))._unsafeUnwrap();
  const old = await known(storage);
  expect([await needs(), await needs(old)]).toEqual([true, false]);
  await applied(storage, { at: 1, to: 'running' });
  expect(await needs(old)).toBe(false);
  for (let at = 0; at < 257; at += 1) await applied(storage, { at, to: 'running' });
  expect(await needs(old)).toBe(true);
  const present = await readInSteps(storage, old);
  expect(await needs(present)).toBe(false);
  await applied(storage, { at: 1, to: 'removed' });
  expect(await needs(present)).toBe(true);
});

it('catches up with a write of many allocations at once', async () => {
  const storage = await storeWith(200);
  const old = await known(storage);
  const written = await write(storage, (tx) => {
    for (const { record } of tx.list(allocations)) {
      tx.put(allocations, { ...record, ClientStatus: 'complete', ModifyIndex: tx.index });
    }
    return ok(undefined);
  });
  written._unsafeUnwrap();
  await applied(storage, { at: 7, to: 'running' });
  expect(usesOf(await readInSteps(storage, old))).toEqual([['n0'], ['n1', 'a-7'], ['n2']]);
});

it('reads only what runs on a node that was not known', async () => {
  const storage = await storeWith(90);
  const old = await known(storage);
  await applied(storage, { at: 394, to: 'running' });
  await applied(storage, { at: 4, to: 'node' });
  let listed = 0;
  const after = await storage.read((view) => {
    const list: ReadView['list'] = (table, query) => {
      const rows = view.list(table, query);
      if (table.name === allocations.name) listed += rows.length;
      return rows;
    };
    return clusterAt({ ...bound(view), list }, { ...old, allocationsIndex: view.tableIndex(allocations) });
  });
  expect(listed).toBe(1);
  expect(usesOf(after._unsafeUnwrap()).at(-1)).toEqual(['n4', 'a-394']);
});

function bound(view: ReadView): ReadView {
  return {
    index: view.index,
    get: (table, key) => view.get(table, key),
    list: (table, query) => view.list(table, query),
    tableIndex: (table) => view.tableIndex(table),
  } as ReadView;
}

/** `turns`: what happens after each step. */
async function readInSteps(
  storage: Storage,
  before: KnownCluster | undefined,
  turns: readonly (readonly { readonly at: number; readonly to: string }[])[] = [],
): Promise<KnownCluster> {
  const work = steppedWork((current) => clusterInSteps(current, before));
  for (let turn = 0; ; turn += 1) {
    const step = await storage.read((view) => work.next(view));
    const { done, value } = step._unsafeUnwrap();
    for (const one of turns[turn] ?? []) await applied(storage, one);
    if (done === true) return value;
  }
}

async function applied(storage: Storage, { at, to }: { readonly at: number; readonly to: string }): Promise<void> {
  const written = await write(storage, (tx) => {
    const before = tx.get(allocations, [`a-${at}`])?.record;
    const made = { ...allocation(at), NodeID: `n${at % 5}`, ...before, ModifyIndex: tx.index };
    if (to === 'node gone') tx.remove(nodes, [`n${at % 5}`]);
    else if (to === 'node') tx.put(nodes, nodeFrom(`n${at % 5}`, { ModifyIndex: tx.index }));
    else if (to !== 'removed') tx.put(allocations, { ...made, ClientStatus: to as 'running' });
    else if (before !== undefined) tx.remove(allocations, [before.ID]);
    return ok(undefined);
  });
  written._unsafeUnwrap();
}
