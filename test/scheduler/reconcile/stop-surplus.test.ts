import { describe, expect, it } from 'vitest';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { Intents } from '../../../src/scheduler/reconcile/intents.js';
import { allocationName, NameIndex } from '../../../src/scheduler/reconcile/names.js';
import { stopSurplus } from '../../../src/scheduler/reconcile/reconcile-group.js';
import { allocationWith } from './situations.js';

/** Identified by a letter for what it is and the index of its name: `m2`. */
function of(id: string, change: Partial<Allocation> = {}): Allocation {
  return allocationWith({ ID: id, Name: allocationName('web', 'app', Number(/\d+/.exec(id)?.[0] ?? 0)), ...change });
}

interface Given {
  readonly untainted?: readonly Allocation[];
  readonly migrating?: readonly Allocation[];
  readonly lost?: readonly Allocation[];
  readonly canaries?: readonly Allocation[];
  readonly canarying?: boolean;
}

function stoppedOf(
  count: number,
  { untainted = [], migrating = [], lost = [], canaries = [], canarying = false }: Given,
) {
  const intents = new Intents();
  const names = new NameIndex('web', 'app', count, [...untainted, ...migrating, ...lost]);
  const sets = { untainted, migrating, lost, disconnecting: [], replacedNow: [] };
  const request = { jobId: 'web', group: 'app', count, sets, names, canaries, canarying };
  const stopped = stopSurplus(request, intents).map(({ ID }) => ID);
  expect(intents.stop.map(({ allocation }) => allocation.ID)).toEqual(stopped);
  return { stopped, next: names.next(1)[0] };
}

const unknown = { ClientStatus: 'unknown' } as const;
const ended = { DesiredStatus: 'stop', ClientStatus: 'complete' } as const;
const three = [of('a0'), of('a1'), of('a2')];

describe('what is beyond the count', () => {
  it.each<[string, number, Given, string[]]>([
    ['nothing, when there are as many', 3, { untainted: three }, []],
    ['the highest names', 1, { untainted: three }, ['a1', 'a2']],
    ['names beyond the count', 2, { untainted: [of('a0'), of('a7')] }, []],
    ['one of two with a name', 1, { untainted: [of('a0'), of('b0')] }, ['a0']],
    ['one of two with a name, when others have lower ones', 2, { untainted: [of('a0'), of('a1'), of('b1')] }, ['a1']],
    ['more with one name than the names that go', 1, { untainted: [of('a0'), of('b0'), of('c0')] }, ['a0', 'b0']],
    ['those that have to move, first', 2, { untainted: [of('a1'), of('a2')], migrating: [of('m0')] }, ['m0']],
    [
      'the highest of those that have to move',
      1,
      { untainted: [of('a3')], migrating: [of('m0'), of('m1')] },
      ['m0', 'm1'],
    ],
    ['one of those that have to move', 2, { untainted: [of('a3')], migrating: [of('m0'), of('m1')] }, ['m1']],
    [
      'those that have to move, then the highest names',
      1,
      { untainted: [of('a0'), of('a1')], migrating: [of('m2')] },
      ['m2', 'a1'],
    ],
    ['no unknown ones, which are not counted either', 2, { untainted: [of('a0'), of('a1'), of('u2', unknown)] }, []],
    ['what is unknown, when its name is high', 1, { untainted: [of('a0'), of('a1'), of('u2', unknown)] }, ['u2']],
    ['none that has been stopped', 2, { untainted: [of('a0'), of('a1'), of('e2', ended)] }, ['a1']],
    [
      'no canary that is judged',
      2,
      { untainted: [of('a0'), of('a1'), of('k0')], canaries: [of('k0')], canarying: true },
      [],
    ],
    [
      'others than the canary that is judged',
      1,
      { untainted: [of('a0'), of('a1'), of('k0')], canaries: [of('k0')], canarying: true },
      ['a1'],
    ],
    ['what a promoted canary replaces', 2, { untainted: [of('a0'), of('a1'), of('k0')], canaries: [of('k0')] }, ['a0']],
    [
      'what a promoted canary replaces, then the highest name',
      1,
      { untainted: [of('a0'), of('a1'), of('k0')], canaries: [of('k0')] },
      ['a0', 'a1'],
    ],
  ])('%s', (_what, count, given, expected) => {
    const known = [...(given.untainted ?? []), ...(given.migrating ?? [])];
    const canaries = (given.canaries ?? []).map(({ ID }) => known.find((one) => one.ID === ID) ?? of(ID));
    expect(stoppedOf(count, { ...given, canaries }).stopped).toEqual(expected);
  });

  it('gives its names back, those of what had to move too', () => {
    expect(stoppedOf(2, { untainted: three }).next).toBe('web.app[0]');
    expect(stoppedOf(2, { untainted: [of('a1'), of('a2')], migrating: [of('m0')] }).next).toBe('web.app[0]');
    expect(stoppedOf(3, { untainted: [of('a0'), of('a2'), of('a3')], migrating: [of('m1')] }).next).toBe('web.app[1]');
    expect(
      stoppedOf(3, { untainted: [of('a0'), of('a2'), of('a3')], lost: [of('l1')], migrating: [of('m5')] }).next,
    ).toBe('web.app[0]');
  });
});
