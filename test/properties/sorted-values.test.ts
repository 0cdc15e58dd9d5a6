import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SortedValues } from '../../src/storage/overlay.js';

/** Keys of four digits: most chunks are full, and many keys are set twice or removed. */
const key = fc.integer({ min: 0, max: 2999 }).map((number) => String(number).padStart(4, '0'));
const change = fc.record({ key, kind: fc.constantFrom('set', 'set', 'set', 'remove') });
/** Growing, falling and mixed keys, so that chunks are cut at their ends and in the middle. */
const changes = fc
  .tuple(fc.array(change, { minLength: 200, maxLength: 1500, size: 'max' }), fc.constantFrom('up', 'down', 'mixed'))
  .map(([all, order]) =>
    order === 'mixed' ? all : all.sort((one, other) => (one.key < other.key === (order === 'up') ? -1 : 1)),
  );
const query = fc.record({ lower: key, upper: key, reverse: fc.boolean(), limit: fc.integer({ min: 0, max: 400 }) });

it('sorted values are those of a sorted list', () => {
  fc.assert(
    fc.property(changes, fc.array(query, { minLength: 1, maxLength: 20 }), (made, queries) => {
      const values = new SortedValues<number>();
      const model = new Map<string, number>();
      made.forEach((each, at) => {
        if (each.kind === 'set') {
          values.set(each.key, at);
          model.set(each.key, at);
        } else {
          values.remove(each.key);
          model.delete(each.key);
        }
      });
      const sorted = [...model].sort(([one], [other]) => (one < other ? -1 : 1));
      for (const { lower, upper, reverse, limit } of queries) {
        const within = sorted.filter(([each]) => lower <= each && each < upper).map(([, value]) => value);
        expect(values.scan(lower, upper, reverse, limit)).toEqual(
          (reverse ? within.reverse() : within).slice(0, limit),
        );
      }
      expect(values.scan('', 'x', false, Number.POSITIVE_INFINITY)).toEqual(sorted.map(([, value]) => value));
    }),
  );
});
