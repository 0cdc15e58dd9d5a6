import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PersistentMap, persistentMap } from '../../../src/notifications/queue/persistent-map.js';

const key = fc.integer({ min: 0, max: 5 });
const step = fc.record({ from: fc.nat(), key, value: fc.option(fc.string(), { nil: undefined }), asked: fc.nat() });

const contents = (map: PersistentMap<number, string>) => ({
  size: map.size,
  members: [0, 1, 2, 3, 4, 5].map((each) => [map.has(each), map.get(each)]),
  keys: [...map.keys()].sort(),
  values: [...map.values()].sort(),
});

const expected = (map: ReadonlyMap<number, string>) => ({
  size: map.size,
  members: [0, 1, 2, 3, 4, 5].map((each) => [map.has(each), map.get(each)]),
  keys: [...map.keys()].sort(),
  values: [...map.values()].sort(),
});

test('every version stays as it is, whichever is changed and in whichever order they are used', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const versions = [{ map: persistentMap<number, string>(), copy: new Map<number, string>() }];
      for (const each of steps) {
        const { map, copy } = versions[each.from % versions.length] as (typeof versions)[number];
        const next = new Map(copy);
        if (each.value === undefined) next.delete(each.key);
        else next.set(each.key, each.value);
        versions.push({
          map: each.value === undefined ? map.without(each.key) : map.with(each.key, each.value),
          copy: next,
        });
        const asked = versions[each.asked % versions.length] as (typeof versions)[number];
        expect(contents(asked.map)).toEqual(expected(asked.copy));
      }
      for (const { map, copy } of versions) expect(contents(map)).toEqual(expected(copy));
    }),
  );
});

test('a list of members outlasts changes', () => {
  const map = persistentMap<number, string>().with(1, 'a').with(2, 'b');
  const keys = map.keys();
  map.without(1).with(3, 'c');
  expect([...keys].sort()).toEqual([1, 2]);
});

test('without a member that is not there it is the same version', () => {
  const map = persistentMap<number, string>().with(1, 'a');
  expect(map.without(2)).toBe(map);
});
