import { describe, expect, it } from 'vitest';
import {
  afterTrial,
  type BlockedPass,
  beginsAnew,
  firstPass,
  nextOf,
  passOver,
} from '../../../src/scheduler/blocked/blocked-pass.js';
import type { BlockedRequirement } from '../../../src/scheduler/blocked/blocked-requirement.js';

const entry = (ID: string, requirement: string, priority = 50, createIndex = 1): BlockedRequirement => ({
  ID,
  requirement,
  priority,
  createIndex,
});

/** The evaluations that a round tries, when these demands cannot be placed. */
function tried(
  heads: readonly BlockedRequirement[],
  later: readonly BlockedRequirement[],
  without: readonly string[],
): string[] {
  const order: string[] = [];
  const rest = [...later];
  let pass = passOver(heads, firstPass, 1);
  for (let next = nextOf(pass); next !== undefined; next = nextOf(pass)) {
    const { requirement, ID } = next;
    order.push(ID);
    const position = rest.findIndex((other) => other.requirement === requirement);
    const following = position < 0 ? undefined : rest.splice(position, 1)[0];
    pass = afterTrial(pass, { entry: next, waitsFor: without.includes(requirement) ? [requirement] : [], following });
  }
  return order;
}

describe('a round over what waits', () => {
  it('goes by priority, then age, across requirements', () => {
    const heads = [entry('c', 'x', 50, 3), entry('a', 'y', 50, 1), entry('b', 'z', 90, 7)];
    expect(tried(heads, [], [])).toEqual(['b', 'a', 'c']);
  });

  it('comes back to a requirement that could be placed as soon as its next entry is the most urgent', () => {
    const heads = [entry('a', 'x', 90, 1), entry('c', 'y', 50, 5)];
    const later = [entry('b', 'x', 50, 4), entry('d', 'x', 50, 6)];
    expect(tried(heads, later, [])).toEqual(['a', 'b', 'c', 'd']);
  });

  it('leaves the rest of a requirement that found none', () => {
    const heads = [entry('a', 'x', 90, 1), entry('c', 'y', 50, 5)];
    expect(tried(heads, [entry('b', 'x', 50, 4)], ['x'])).toEqual(['a', 'c']);
  });

  it('knows what else of an evaluation could not be placed', () => {
    const both = passOver([entry('a', 'x', 90), entry('b', 'y', 50)], firstPass, 1);
    const next = afterTrial(both, { entry: entry('a', 'x', 90), waitsFor: ['y'], following: undefined });
    expect([...next.exhausted]).toEqual(['y']);
  });

  it.each([1, 3, 200, 3000])('comes to the last of %d requirements, although room comes with every trial', (count) => {
    const heads = Array.from({ length: count }, (_, n) => entry(`e${n}`, `requirement ${n}`, 50, n));
    let pass: BlockedPass = firstPass;
    let trials = 0;
    let looks = 0;
    for (let signal = 1; ; signal += 1) {
      if (beginsAnew(pass, signal)) {
        pass = passOver(heads, pass, signal);
        looks += count;
      }
      const next = nextOf(pass);
      expect(next).toBeDefined();
      trials += 1;
      if (next === undefined || next.ID === `e${count - 1}`) break;
      pass = afterTrial(pass, { entry: next, waitsFor: [next.requirement], following: undefined });
    }
    expect(trials).toBeLessThanOrEqual(3 * count + 64);
    // Looking for the most urgent entries stays in proportion to trying them.
    expect(looks).toBeLessThanOrEqual(16 * trials + count);
  });

  it('begins anew at once for the most urgent one, as long as the others get their turn', () => {
    const heads = Array.from({ length: 10 }, (_, n) => entry(`e${n}`, `requirement ${n}`, 50, n));
    const pass = passOver(heads, firstPass, 1);
    const [head] = heads;
    const begun = afterTrial(pass, {
      entry: head as BlockedRequirement,
      waitsFor: ['requirement 0'],
      following: undefined,
    });
    expect(beginsAnew(begun, 1)).toBe(false);
    expect(beginsAnew(begun, 2)).toBe(true);
  });
});
