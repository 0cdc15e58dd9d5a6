import assert from 'node:assert/strict';
import type { Key, KeyPart } from '../../../src/shared/table.js';
import {
  assertFailed,
  commit,
  look,
  type StorageSubject,
  store,
  type TestFunction,
  things,
  withStore,
} from './storage-subject.js';

/** Key parts of each type, in the order that a store must keep. */
const ORDERED: Readonly<Record<string, readonly KeyPart[]>> = {
  'null, false, true, numbers and strings': [null, false, true, -1, 0, 1, '', '0', 'a'],
  'whole numbers': [-1000, -256, -10, -2, -1, 0, 1, 2, 9, 10, 99, 100, 255, 256, 65_536, 4_294_967_296],
  fractions: [-2.5, -2, -1.75, -1.5, -0.1, -0.01, 0, 0.01, 0.1, 0.3, 0.5, 1, 1.5, 2.25],
  'the extreme numbers': [
    -Number.MAX_VALUE,
    Number.MIN_SAFE_INTEGER,
    -1,
    -Number.MIN_VALUE,
    0,
    Number.MIN_VALUE,
    Number.EPSILON,
    1,
    1 + Number.EPSILON,
    Number.MAX_SAFE_INTEGER,
    2 ** 53,
    Number.MAX_VALUE,
  ],
  'times in milliseconds and nanoseconds': [0, 1_700_000_000_000, 1_700_000_000_000.5, 1_700_000_000_001, 1.7e18],
  'strings by length and letters': ['', 'A', 'B', 'Z', 'a', 'aa', 'aaa', 'ab', 'b', 'z', '~'],
  'strings with a common prefix': ['job', 'job ', 'job!', 'job"', 'job-1', 'job-10', 'job-2', 'job/1', 'job1', 'jobs'],
  'control characters': ['', '\0', '\0\0', '\0a', '\u0001', '\u0002', '\t', '\n', '\u001f', ' ', '!', '"', '#', '0'],
  'letters beyond ASCII': ['Z', 'a', 'z', '\u007f', '\u0080', 'é', 'ÿ', 'Ā', 'Ж', '中', '한'],
  'code points, not UTF-16 units': ['\ud7ff', '\ue000', '\ufffd', '\uffff', '\u{10000}', '😀', '\u{10ffff}'],
  'lone surrogates among the others': [
    '\ud7fe',
    '\ud7ff',
    '\ud7ffa',
    '\ud800',
    '\ud800a',
    '\udbff',
    '\udc00',
    '\udfff',
    '\ue000',
  ],
  'quotes and escapes': ['"', '%', "'", '\\', '\\0', '_', '`'],
};

const TUPLES: readonly Key[] = [
  [],
  [null],
  [null, null],
  [false],
  [true, 'z'],
  [0],
  [0, 0],
  [0, 'a'],
  [1],
  [''],
  ['', ''],
  ['', 'a'],
  ['a'],
  ['a', null],
  ['a', 1],
  ['a', 1, 'x'],
  ['a', 2],
  ['a', ''],
  ['a', 'b'],
  ['a', 'b', 'c'],
  ['a '],
  ['a b'],
  ['ab'],
  ['b'],
];

/** Order and identity of keys. */
export function keyCases(test: TestFunction, subject: StorageSubject): void {
  for (const [name, parts] of Object.entries(ORDERED)) {
    withStore(test, subject, `order of keys: ${name}`, async (storage) => {
      await store(storage, ...shuffled(parts).map((part) => ({ key: [part] })));
      const keys = await look(storage, (view) => view.list(things).map((row) => row.record.key[0]));
      assert.deepEqual(keys, parts);
    });

    withStore(test, subject, `order of keys within a longer tuple: ${name}`, async (storage) => {
      await store(storage, ...shuffled(parts).map((part) => ({ key: ['x', part, 'y'] })));
      const keys = await look(storage, (view) => view.list(things, { prefix: ['x'] }).map((row) => row.record.key[1]));
      assert.deepEqual(keys, parts);
    });

    withStore(test, subject, `order of index keys: ${name}`, async (storage) => {
      await store(storage, ...shuffled(parts).map((part, id) => ({ key: [id], rank: [part] })));
      const ranks = await look(storage, (view) =>
        view.list(things, { index: 'byRank' }).map((row) => row.record.rank?.[0]),
      );
      assert.deepEqual(ranks, parts);
    });

    withStore(test, subject, `each value is a distinct key: ${name}`, async (storage) => {
      await store(storage, ...parts.map((part, id) => ({ key: [part], text: String(id) })));
      const texts = await look(storage, (view) => parts.map((part) => view.get(things, [part])?.record.text));
      assert.deepEqual(
        texts,
        parts.map((_, id) => String(id)),
      );
    });

    withStore(test, subject, `ranges separate them: ${name}`, async (storage) => {
      await store(storage, ...parts.map((part) => ({ key: [part] })));
      for (let cut = 0; cut < parts.length; cut++) {
        const bound = [parts[cut] as KeyPart];
        const [below, above] = await look(storage, (view) => [
          view.list(things, { to: bound }).length,
          view.list(things, { from: bound }).length,
        ]);
        assert.deepEqual([below, above], [cut, parts.length - cut]);
      }
    });
  }

  withStore(test, subject, 'tuples sort part by part, a shorter one before its extensions', async (storage) => {
    await store(storage, ...shuffled(TUPLES).map((key) => ({ key })));
    const keys = await look(storage, (view) => view.list(things).map((row) => row.record.key));
    assert.deepEqual(keys, TUPLES);
  });

  withStore(test, subject, 'index tuples sort part by part, a shorter one before its extensions', async (storage) => {
    await store(storage, ...shuffled(TUPLES).map((rank, id) => ({ key: [id], rank })));
    const ranks = await look(storage, (view) => view.list(things, { index: 'byRank' }).map((row) => row.record.rank));
    assert.deepEqual(ranks, TUPLES);
  });

  withStore(test, subject, 'minus zero and zero are one key', async (storage) => {
    await store(storage, { key: [-0], text: 'minus' });
    await store(storage, { key: [0], text: 'plus' });
    const rows = await look(storage, (view) => view.list(things));
    assert.equal(rows.length, 1);
    assert.equal(await look(storage, (view) => view.get(things, [-0])?.record.text), 'plus');
  });

  withStore(test, subject, 'a number and its string are two keys', async (storage) => {
    await store(storage, { key: [1] }, { key: ['1'] });
    assert.equal(await look(storage, (view) => view.list(things).length), 2);
  });

  withStore(test, subject, 'names such as __proto__ are ordinary strings', async (storage) => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'];
    await store(storage, ...names.map((name) => ({ key: [name], text: name, rank: [name] })));
    const found = await look(storage, (view) => names.map((name) => view.get(things, [name])?.record.text));
    assert.deepEqual(found, names);
    assert.equal(await look(storage, (view) => view.get(things, ['valueOf'])), undefined);
  });

  withStore(test, subject, 'the empty tuple is a key', async (storage) => {
    await store(storage, { key: [], text: 'only' });
    assert.equal(await look(storage, (view) => view.get(things, [])?.record.text), 'only');
  });

  withStore(test, subject, 'long keys are not truncated', async (storage) => {
    const long = 'k'.repeat(3000);
    await store(storage, { key: [`${long}a`] }, { key: [`${long}b`] });
    assert.equal(await look(storage, (view) => view.list(things, { textPrefix: long }).length), 2);
    assert.equal(await look(storage, (view) => view.get(things, [long])), undefined);
  });

  const unkeyable: Readonly<Record<string, unknown>> = {
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    undefined: undefined,
    'an object': {},
    'a BigInt': 1n,
  };
  for (const [name, part] of Object.entries(unkeyable)) {
    withStore(test, subject, `${name} in a key is refused and stores nothing`, async (storage) => {
      const key = [part] as unknown as Key;
      const row = { key: ['good'] };
      assertFailed(
        await storage.write((view) => {
          view.put(things, row);
          view.put({ ...things, key: () => key }, row);
          return assert.fail('the put must not return') as never;
        }),
        'invalid_record',
      );
      assertFailed(await storage.read((view) => view.get(things, key)), 'invalid_record');
      assertFailed(await storage.read((view) => view.list(things, { prefix: key })), 'invalid_record');
      assert.deepEqual(await look(storage, (view) => view.list(things)), []);
      await commit(storage, (view) => view.put(things, row));
    });
  }
}

/** A deterministic shuffle. */
function shuffled<T>(values: readonly T[]): T[] {
  const result = [...values];
  let seed = 12_345;
  for (let i = result.length - 1; i > 0; i--) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const j = seed % (i + 1);
    [result[i], result[j]] = [result[j] as T, result[i] as T];
  }
  return result;
}
