import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { allocationName, indexFromName, NameIndex } from '../../../src/scheduler/reconcile/names.js';

const named = (index: number): { readonly Name: string } => ({ Name: allocationName('web', 'app', index) });
const indexOf = (count: number, ...held: number[]): NameIndex => new NameIndex('web', 'app', count, held.map(named));
const numbers = (names: Iterable<string>): number[] => [...names].map(indexFromName);

describe('the index in a name', () => {
  it.each([
    ['web.app[0]', 0],
    ['web.app[17]', 17],
    ['a[3].b[4][5]', 5],
    ['web.app', 0],
    ['web.app[x]', 0],
    ['web.app[-1]', 0],
    ['web.app[1.5]', 0],
    ['[2]', 2],
  ])('of %s is %i', (name, index) => {
    expect(indexFromName(name)).toBe(index);
  });
});

describe('the names of a group', () => {
  it('that are free are taken from the lowest on, and from 0 on again when there are none left', () => {
    expect(numbers(indexOf(4, 1).next(2))).toEqual([0, 2]);
    const names = indexOf(3, 1);
    expect(numbers(names.next(4))).toEqual([0, 2, 0, 1]);
    expect(numbers(names.next(1))).toEqual([0]);
  });

  it('are given up from the highest on, also beyond the count, and are free then', () => {
    const names = indexOf(2, 0, 1, 5);
    expect(numbers(names.highest(2))).toEqual([5, 1]);
    expect(numbers(names.next(1))).toEqual([1]);
    expect(numbers(indexOf(2, 0).highest(3))).toEqual([0]);
  });

  it('are held until their last holder has given them up', () => {
    const names = indexOf(3, 0, 0, 0, 1);
    expect(names.isDuplicate('web.app[0]')).toBe(true);
    expect(names.isDuplicate('web.app[1]')).toBe(false);
    names.release('web.app[0]');
    expect(names.isDuplicate('web.app[0]')).toBe(true);
    names.release('web.app[0]');
    expect(names.isDuplicate('web.app[0]')).toBe(false);
    expect(numbers(names.next(1))).toEqual([2]);
    names.release('web.app[0]');
    expect(numbers(names.next(1))).toEqual([0]);
  });

  it('of canaries are those of what they replace, then free ones, then those above the count', () => {
    expect(numbers(indexOf(3, 0, 1, 2).nextCanaries(2, [], [2, 0].map(named)))).toEqual([0, 2]);
    // One that has its canary already is passed over, and so is one beyond the count.
    expect(numbers(indexOf(3, 0, 1, 2).nextCanaries(1, [named(0)], [0, 1].map(named)))).toEqual([1]);
    expect(numbers(indexOf(2, 0, 5).nextCanaries(1, [], [named(5)]))).toEqual([1]);
    expect(numbers(indexOf(3, 0, 2).nextCanaries(4, [], [named(2)]))).toEqual([2, 1, 3, 4]);
    expect(numbers(indexOf(1, 0).nextCanaries(2, [], []))).toEqual([1, 2]);
  });
});

/** The same by scanning two plain lists: which indexes are used, and by how many beyond the first. */
class ScannedNames {
  readonly #used: boolean[] = Array.from({ length: 64 }, () => false);
  readonly #more: number[] = Array.from({ length: 64 }, () => 0);
  readonly #count: number;

  constructor(count: number, held: readonly number[]) {
    this.#count = count;
    for (const index of held) {
      if (this.#used[index] === true) this.#more[index] = this.#moreOf(index) + 1;
      this.#used[index] = true;
    }
  }

  next(amount: number): number[] {
    const free = this.#freeBelow(this.#count).slice(0, amount);
    while (free.length < amount) for (let index = 0; free.length < amount; index += 1) free.push(index);
    return this.#use(free);
  }

  highest(amount: number): number[] {
    const given: number[] = [];
    for (let index = 63; index >= 0 && given.length < amount; index -= 1) {
      if (this.#used[index] !== true) continue;
      this.#used[index] = false;
      given.push(index);
    }
    return given;
  }

  nextCanaries(amount: number, canaries: readonly number[], replaced: readonly number[]): number[] {
    const names: number[] = [];
    const add = (index: number): void => {
      if (names.length < amount && !names.includes(index)) names.push(index);
    };
    for (let index = 0; index < this.#count; index += 1)
      if (replaced.includes(index) && !canaries.includes(index)) add(index);
    for (const index of this.#freeBelow(this.#count)) add(index);
    for (let index = this.#count; names.length < amount; index += 1) add(index);
    return this.#use(names);
  }

  isDuplicate(index: number): boolean {
    return this.#moreOf(index) > 0;
  }

  release(index: number): void {
    if (this.isDuplicate(index)) this.#more[index] = this.#moreOf(index) - 1;
    else this.#used[index] = false;
  }

  #freeBelow(count: number): number[] {
    return Array.from({ length: count }, (_, index) => index).filter((index) => this.#used[index] !== true);
  }

  #moreOf(index: number): number {
    return this.#more[index] ?? 0;
  }

  #use(indexes: readonly number[]): number[] {
    for (const index of indexes) this.#used[index] = true;
    return [...indexes];
  }
}

const index = fc.nat(9);
const amount = fc.nat(6);
const request = fc.oneof(
  fc.record({ ask: fc.constant('next' as const), amount }),
  fc.record({ ask: fc.constant('highest' as const), amount }),
  fc.record({ ask: fc.constant('release' as const), index }),
  fc.record({
    ask: fc.constant('canaries' as const),
    amount,
    canaries: fc.array(index, { maxLength: 3 }),
    replaced: fc.array(index, { maxLength: 5 }),
  }),
);

test('names are given and given up as a scan of all of them would', () => {
  fc.assert(
    fc.property(fc.nat(8), fc.array(index, { maxLength: 10 }), fc.array(request), (count, held, requests) => {
      const names = indexOf(count, ...held);
      const model = new ScannedNames(count, held);
      for (const each of requests) {
        if (each.ask === 'next') expect(numbers(names.next(each.amount))).toEqual(model.next(each.amount));
        if (each.ask === 'highest') expect(numbers(names.highest(each.amount))).toEqual(model.highest(each.amount));
        if (each.ask === 'canaries') {
          const given = names.nextCanaries(each.amount, each.canaries.map(named), each.replaced.map(named));
          expect(numbers(given)).toEqual(model.nextCanaries(each.amount, each.canaries, each.replaced));
        }
        if (each.ask === 'release') names.release(named(each.index).Name);
        if (each.ask === 'release') model.release(each.index);
        for (let at = 0; at < 10; at += 1) expect(names.isDuplicate(named(at).Name)).toBe(model.isDuplicate(at));
      }
    }),
    { numRuns: 300 },
  );
});
