import assert from 'node:assert/strict';
import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import type { ListQuery, ReadView, Storage } from '../../src/ports/storage.js';
import type { Key, KeyPart } from '../../src/shared/table.js';
import { modelList, modelPut, modelRemove, type StorageModel } from '../conformance/storage/storage-model.js';
import { look, type Thing, things } from '../conformance/storage/storage-subject.js';

/* Random programs for stores, and a plain model that says what each of their steps gives. */

/** Few enough values that keys meet, and among them all that is awkward. */
export const part: fc.Arbitrary<KeyPart> = fc.oneof(
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
/** Keys that often meet: few values, and mostly one part. */
const fewKeys: fc.Arbitrary<Key> = fc.array(fc.constantFrom<KeyPart>('a', 'ab', 'b', 1, null), {
  maxLength: 1,
});
const anyKey: fc.Arbitrary<Key> = fc.array(part, { maxLength: 3 });

const queryOf = (key: fc.Arbitrary<Key>): fc.Arbitrary<ListQuery> =>
  fc.record(
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

interface Put {
  readonly key: Key;
  readonly rank?: Key;
  readonly text?: string;
}

type Step = { readonly put: Put } | { readonly remove: Key } | { readonly ask: ListQuery };

/** A write also asks in its midst: it sees its own changes. */
interface Write {
  readonly steps: readonly Step[];
  readonly outcome: 'ok' | 'err';
}

interface Round {
  readonly write: Write;
  readonly queries: readonly ListQuery[];
}

function programOf(key: fc.Arbitrary<Key>, rounds: number): fc.Arbitrary<readonly Round[]> {
  const query = queryOf(key);
  const put: fc.Arbitrary<Put> = fc.record(
    { key, rank: key, text: fc.string({ maxLength: 3 }) },
    { requiredKeys: ['key'] },
  );
  const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 2, arbitrary: fc.record({ put }) },
    { weight: 1, arbitrary: fc.record({ remove: key }) },
    { weight: 2, arbitrary: fc.record({ ask: query }) },
  );
  const write: fc.Arbitrary<Write> = fc.record({
    steps: fc.array(step, { maxLength: 8 }),
    outcome: fc.constantFrom('ok', 'ok', 'ok', 'err'),
  });
  return fc.array(fc.record({ write, queries: fc.array(query, { minLength: 1, maxLength: 4 }) }), {
    maxLength: rounds,
  });
}

export const program = programOf(anyKey, 12);
/** Longer, over few rows: for what is expensive to open, and what keeps rows in memory. */
export const longProgram = programOf(fc.oneof(fewKeys, fewKeys, anyKey), 60);

export const noThings: StorageModel<Thing> = { index: 1, tableIndex: 1, rows: [] };

export function modelled(model: StorageModel<Thing>, played: Write): StorageModel<Thing> {
  if (played.outcome === 'err') return model;
  return played.steps.reduce((state, one) => stepped(state, one, model.index + 1), model);
}

function stepped(state: StorageModel<Thing>, one: Step, index: number): StorageModel<Thing> {
  if ('put' in one) return modelPut(things, state, asThing(one.put), index);
  return 'remove' in one ? modelRemove(things, state, one.remove, index) : state;
}

export async function play(storage: Storage, played: Write, before: StorageModel<Thing>, after: StorageModel<Thing>) {
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

export async function compare(storage: Storage, asked: ListQuery, model: StorageModel<Thing>): Promise<void> {
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
function asThing(put: Put): Thing {
  return put;
}
