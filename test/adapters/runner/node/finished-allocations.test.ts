import { describe, expect, it } from 'vitest';
import { Background } from '../../../../adapters/runner/background.js';
import type { DiskSuccession } from '../../../../adapters/runner/disk/disk-succession.js';
import { volatileTaskMemory } from '../../../../adapters/runner/disk/task-memory.js';
import { FinishedAllocations } from '../../../../adapters/runner/node/finished-allocations.js';

const nothing = (): void => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** `claimed`: allocations whose data a replacement is about to take. */
function finished(keep: number, claimed = new Set<string>()) {
  const removed: string[] = [];
  const memory = { ...volatileTaskMemory(), forget: (id: string) => Promise.resolve(void removed.push(id)) };
  const disks = {
    isClaimed: (id: string) => claimed.has(id),
    holdsData: (id: string) => claimed.has(id),
    forget: () => Promise.resolve(),
  } as unknown as DiskSuccession;
  const background = new Background(logger);
  return { background, removed, kept: new FinishedAllocations({ memory, disks, background, keep }) };
}

describe('the allocations that ended on a node', () => {
  it('count once, however often their end is told', async () => {
    const { background, removed, kept } = finished(2);
    for (const id of ['one', 'two', 'two', 'two']) kept.add(id);
    await background.settled();
    expect({ kept: kept.ids, removed }).toEqual({ kept: ['one', 'two'], removed: [] });
  });

  it('are removed after a replacement has taken their data when the server has collected them before', async () => {
    const claimed = new Set(['one']);
    const { background, removed, kept } = finished(2, claimed);
    kept.add('one');
    await kept.collected('one');
    expect(kept.ids).toEqual(['one']);
    claimed.clear();
    kept.trim();
    await background.settled();
    expect({ kept: kept.ids, removed }).toEqual({ kept: [], removed: ['one'] });
  });

  it('are removed also when the replacement that was to have their data goes without it', async () => {
    const claimed = new Set(['one']);
    const { background, removed, kept } = finished(2, claimed);
    for (const id of ['one', 'two']) kept.add(id);
    await kept.collected('one');
    // Its note goes with it.
    claimed.clear();
    await kept.collected('two');
    await background.settled();
    expect({ kept: kept.ids, removed: removed.toSorted() }).toEqual({ kept: [], removed: ['one', 'two'] });
  });
});
