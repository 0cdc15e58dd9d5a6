import assert from 'node:assert/strict';
import { table } from '../../../src/shared/table.js';
import {
  assertFailed,
  commit,
  look,
  refuse,
  type StorageSubject,
  store,
  type TestFunction,
  type Thing,
  things,
  withStore,
} from './storage-subject.js';

interface Document {
  readonly id: string;
  readonly body: unknown;
}

const documents = table<Document>('documents', (document) => [document.id]);

const FAITHFUL: Readonly<Record<string, unknown>> = {
  null: null,
  booleans: [true, false],
  numbers: [0, -1, 1.5, 1e-9, 1.7e18, 2 ** 53 + 2, 5e-324, 1.797e308],
  'an empty object and list': [{}, []],
  'nested objects': { a: { b: { c: [{ d: 1 }, [[]]] } } },
  'control characters': 'a\0b\u0001\u001f\u007f\n\r\t',
  quotes: `"'\`\\ -- ; DROP TABLE rows; $1 ?1 :a @b`,
  'line separators': '\u2028\u2029',
  emoji: '😀👩‍👩‍👧‍👦🏳️‍🌈',
  'lone surrogates': ['\ud800', '\udfff', 'a\udc00b'],
  'the last code points': ['\uffff', '\ufffe', '\u{10ffff}', '\ufeff'],
  'a member named __proto__': JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'),
  'order of members': { z: 1, a: 2, m: 3 },
  'a long string': 'x'.repeat(100_000),
};

/** Records are returned as after a JSON round trip. */
export function recordCases(test: TestFunction, subject: StorageSubject): void {
  for (const [name, body] of Object.entries(FAITHFUL)) {
    withStore(test, subject, `a record is returned unchanged: ${name}`, async (storage) => {
      await commit(storage, (view) => view.put(documents, { id: 'a', body }));
      const row = await look(storage, (view) => view.get(documents, ['a']));
      assert.deepEqual(row?.record.body, body);
      assert.equal(row?.text, JSON.stringify({ id: 'a', body }));
      const [listed] = await look(storage, (view) => view.list(documents));
      assert.deepEqual(listed?.record, row?.record);
      assert.equal(listed?.text, row?.text);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    });
  }

  withStore(test, subject, 'values outside JSON are converted as by JSON.stringify', async (storage) => {
    const body = { gone: undefined, list: [undefined, Number.NaN], date: new Date(0), call: () => 1 };
    await commit(storage, (view) => view.put(documents, { id: 'a', body }));
    const found = await look(storage, (view) => view.get(documents, ['a'])?.record.body);
    assert.deepEqual(found, { list: [null, null], date: '1970-01-01T00:00:00.000Z' });
  });

  const circular: { self?: unknown } = {};
  circular.self = circular;
  const unstorable: Readonly<Record<string, unknown>> = {
    'a circle': { id: 'a', body: circular },
    'a BigInt': { id: 'a', body: 1n },
    undefined: undefined,
    'a function': () => 1,
    'a failing toJSON': {
      id: 'a',
      body: {
        toJSON() {
          throw new Error('no');
        },
      },
    },
  };
  for (const [name, record] of Object.entries(unstorable)) {
    withStore(test, subject, `an invalid record fails the whole write: ${name}`, async (storage) => {
      assertFailed(
        await storage.write((view) => {
          view.put(documents, { id: 'before', body: 1 });
          view.put(documents, record as Document);
          return refuse();
        }),
        'invalid_record',
      );
      assert.equal(await look(storage, (view) => view.list(documents).length), 0);
    });
  }

  withStore(test, subject, 'the error for a refused record contains nothing of the record', async (storage) => {
    const result = await storage.write((view) => {
      view.put(documents, { id: 'secret-id', body: { secret: 1n } });
      return refuse();
    });
    assert.doesNotMatch(JSON.stringify(result), /secret/);
  });

  withStore(test, subject, 'changes of the record after the put do not affect the store', async (storage) => {
    let record = { id: 'a', body: { list: [1] } };
    await commit(storage, (view) => {
      record = { id: 'a', body: { list: [1] } };
      view.put(documents, record);
      record.body.list.push(2);
      assert.deepEqual(view.get(documents, ['a'])?.record.body, { list: [1] });
    });
    record.body.list.push(3);
    assert.deepEqual(await look(storage, (view) => view.get(documents, ['a'])?.record.body), { list: [1] });
  });

  withStore(
    test,
    subject,
    'changing a returned record changes neither its content nor its position in the store',
    async (storage) => {
      await store(storage, { key: ['a'], rank: [1], text: 'as stored' });
      const row = await look(storage, (view) => view.get(things, ['a']));
      Object.assign(row?.record as Thing, { text: 'spoiled', rank: [99], key: ['z'] });
      assert.match((await look(storage, (view) => view.get(things, ['a'])?.text)) ?? '', /as stored/);
      await store(storage, { key: ['a'], rank: [2] });
      const ranks = await look(storage, (view) =>
        view.list(things, { index: 'byRank' }).map((found) => found.record.rank),
      );
      assert.deepEqual(ranks, [[2]]);
    },
  );

  withStore(test, subject, 'records of several megabytes', async (storage) => {
    const body = Array.from({ length: 40_000 }, (_, i) => ({
      i,
      name: `number ${i}`,
      fraction: i / 7,
      flag: i % 2 === 0,
    }));
    await commit(storage, (view) => view.put(documents, { id: 'big', body }));
    const row = await look(storage, (view) => view.get(documents, ['big']));
    assert.ok((row?.text.length ?? 0) > 2_000_000);
    assert.deepEqual(row?.record.body, body);
  });

  withStore(test, subject, 'many large records in one write', async (storage) => {
    const body = 'y'.repeat(200_000);
    await commit(storage, (view) => {
      for (let i = 0; i < 20; i++) view.put(documents, { id: `big-${i}`, body });
    });
    assert.equal(await look(storage, (view) => view.list(documents, { textPrefix: 'big-1' }).length), 11);
  });

  withStore(test, subject, 'all kinds of allowed table names', async (storage) => {
    const names = ['a', 'A', 'select', 'Job_versions2', '_', '__proto__', 'rows_1', 'x'.repeat(60)];
    for (const name of names) {
      const named = table<Thing>(name, (thing) => thing.key, { index: { version: 1, key: (thing) => thing.rank } });
      await commit(storage, (view) => view.put(named, { key: [name], rank: [name] }));
      const found = await look(storage, (view) => view.list(named, { index: 'index' }).map((row) => row.record.key[0]));
      assert.deepEqual(found, [name]);
    }
  });
}
