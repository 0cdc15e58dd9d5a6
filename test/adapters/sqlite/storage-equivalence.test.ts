import assert from 'node:assert/strict';
import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { memoryStorage, rerunning } from '../../../adapters/memory/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import type { ListQuery, ReadView, Storage } from '../../../src/ports/storage.js';
import type { Key, KeyPart } from '../../../src/shared/table.js';
import { encodeKey, unitOrdered } from '../../../src/storage/keys.js';
import {
  compareKeys,
  modelList,
  modelPut,
  modelRemove,
  type StorageModel,
} from '../../conformance/storage/storage-model.js';
import { look, type Thing, things, valueFrom } from '../../conformance/storage/storage-subject.js';

/** Few enough values that keys meet, and among them all that is awkward. */
const part: fc.Arbitrary<KeyPart> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<KeyPart>('a', 'ab', 'b', '', 1, 2, -1) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<KeyPart>(null, false, true, 0, -0, 0.5, -1e300, 5e-324, 'a b', 'a\0', '!', '\0'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<KeyPart>('\ud7ff', '\ud800', '\udfffa', '\ue000', '\uffff', '😀', 'a\u{10ffff}'),
  },
);
const wildPart: fc.Arbitrary<KeyPart> = fc.oneof(
  part,
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ unit: fc.integer({ min: 0xd7f0, max: 0xe010 }).map((code) => String.fromCharCode(code)), maxLength: 4 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const key: fc.Arbitrary<Key> = fc.array(part, { maxLength: 3 });

const query: fc.Arbitrary<ListQuery> = fc.record(
  {
    index: fc.constant('byRank'),
    prefix: fc.array(part, { maxLength: 2 }),
    textPrefix: fc.constantFrom('', 'a', 'ab', '\ud800', 'a\u{10ffff}', '!'),
    from: key,
    to: key,
    reverse: fc.boolean(),
    limit: fc.integer({ min: 0, max: 5 }),
  },
  { requiredKeys: [] },
);
/** A write also asks in its midst: it sees its own changes. */
const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      put: fc.record({ key, rank: key, text: fc.string({ maxLength: 3 }) }, { requiredKeys: ['key'] }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ remove: key }) },
  { weight: 2, arbitrary: fc.record({ ask: query }) },
);
const write = fc.record({ steps: fc.array(step, { maxLength: 8 }), outcome: fc.constantFrom('ok', 'ok', 'ok', 'err') });
const program = fc.array(fc.record({ write, queries: fc.array(query, { minLength: 1, maxLength: 4 }) }), {
  maxLength: 12,
});

test('a random program gives the same answers on memory, on SQLite and on the model', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (rounds) => {
      const stores = [memoryStorage(), rerunning(memoryStorage(), 2), valueFrom(await sqliteStorage(':memory:'))];
      let model: StorageModel<Thing> = { index: 1, tableIndex: 1, rows: [] };
      for (const round of rounds) {
        const next = modelled(model, round.write);
        for (const storage of stores) await play(storage, round.write, model, next);
        model = next;
        for (const storage of stores) for (const asked of round.queries) await compare(storage, asked, model);
      }
      for (const storage of stores) await storage.close();
    }),
    { numRuns: 250 },
  );
});

test('writes that wait together come one after the other, as if each had waited for the one before', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (rounds) => {
      const stores = [memoryStorage(), valueFrom(await sqliteStorage(':memory:'))];
      const models: StorageModel<Thing>[] = [{ index: 1, tableIndex: 1, rows: [] }];
      for (const round of rounds) models.push(modelled(models.at(-1) as StorageModel<Thing>, round.write));
      for (const storage of stores) {
        await Promise.all(
          rounds.map((round, at) =>
            play(storage, round.write, models[at] as StorageModel<Thing>, models[at + 1] as StorageModel<Thing>),
          ),
        );
        const last = models.at(-1) as StorageModel<Thing>;
        for (const round of rounds) for (const asked of round.queries) await compare(storage, asked, last);
        await storage.close();
      }
    }),
    { numRuns: 100 },
  );
});

test('the text of keys orders as the keys do, and so do its UTF-8 bytes', () => {
  const wildKey = fc.array(wildPart, { maxLength: 3 });
  fc.assert(
    fc.property(wildKey, wildKey, (a, b) => {
      const [left, right] = [encodeKey(a) as string, encodeKey(b) as string];
      const order = Math.sign(compareKeys(a, b));
      expect(Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)))).toBe(order);
      const [leftUnits, rightUnits] = [unitOrdered(left), unitOrdered(right)];
      expect(leftUnits < rightUnits ? -1 : leftUnits > rightUnits ? 1 : 0).toBe(order);
      expect(Buffer.from(left).toString()).toBe(left);
    }),
    { numRuns: 5000 },
  );
});

type Write = typeof write extends fc.Arbitrary<infer W> ? W : never;

function modelled(model: StorageModel<Thing>, played: Write): StorageModel<Thing> {
  if (played.outcome === 'err') return model;
  return played.steps.reduce((state, one) => stepped(state, one, model.index + 1), model);
}

function stepped(state: StorageModel<Thing>, one: Write['steps'][number], index: number): StorageModel<Thing> {
  if ('put' in one) return modelPut(things, state, asThing(one.put), index);
  return 'remove' in one ? modelRemove(things, state, one.remove, index) : state;
}

async function play(storage: Storage, played: Write, before: StorageModel<Thing>, after: StorageModel<Thing>) {
  const result = await storage.write((view) => {
    let within = before;
    for (const one of played.steps) {
      if ('put' in one) view.put(things, asThing(one.put));
      else if ('remove' in one) view.remove(things, one.remove);
      else assertSame(view, one.ask, within);
      within = stepped(within, one, before.index + 1);
    }
    return played.outcome === 'ok' ? ok('done') : err('undone');
  });
  if (played.outcome === 'err') assert.deepEqual(result, err('undone'));
  else assert.deepEqual(result, ok({ value: 'done', index: after.index, changed: after !== before }));
}

async function compare(storage: Storage, asked: ListQuery, model: StorageModel<Thing>): Promise<void> {
  await look(storage, (view) => {
    assert.equal(view.index, model.index);
    assertSame(view, asked, model);
  });
}

function assertSame(view: ReadView, asked: ListQuery, model: StorageModel<Thing>): void {
  assert.equal(view.tableIndex(things), model.tableIndex);
  const found = view
    .list(things, asked)
    .map(({ record, createIndex, modifyIndex }) => ({ record, createIndex, modifyIndex }));
  assert.deepEqual(found, JSON.parse(JSON.stringify(modelList(things, model, asked))));
  for (const { record, modifyIndex } of found) assert.equal(view.get(things, record.key)?.modifyIndex, modifyIndex);
}

/** Minus zero is zero once stored. */
function asThing(put: { key: Key; rank?: Key; text?: string }): Thing {
  return put;
}
