import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  manualClock,
  memoryStorage,
  recordingDelivery,
  rerunning,
  sequentialIds,
} from '../../adapters/memory/index.js';
import { hostPrincipal } from '../../src/access/principal.js';
import { createEngine, type Engine } from '../../src/engine.js';
import { commit, rehearse } from '../../src/operations/commit.js';
import type { Transaction } from '../../src/operations/write-transaction.js';
import type { Storage } from '../../src/ports/storage.js';
import { table } from '../../src/shared/table.js';

interface Note {
  readonly id: string;
  readonly at: number;
  readonly chance: number;
}

const notes = table<Note>('notes', (note) => [note.id], { byTime: { version: 1, key: (note) => [note.at] } });

const engineOver = (storage: Storage): Engine & { readonly clock: ReturnType<typeof manualClock> } => {
  const clock = manualClock();
  const ids = sequentialIds({ fraction: (n) => n / 100 });
  return { ...createEngine({ storage, clock, ids, delivery: recordingDelivery() }), clock };
};

const rowsOf = async (engine: Engine): Promise<Note[]> =>
  (await engine.storage.read((view) => view.list(notes).map((row) => row.record)))._unsafeUnwrap();

const takeNotes = (tx: Transaction) => {
  for (let count = 0; count < 3; count += 1) {
    tx.put(notes, { id: tx.ids.next('uuid'), at: tx.now, chance: tx.ids.fraction() });
  }
  tx.emit('job.status', { namespace: 'n', jobId: 'j', status: String(tx.list(notes).length), index: tx.index });
  return ok(tx.list(notes, { index: 'byTime' }).map((row) => row.record.id));
};

describe('commit', () => {
  it('gives the value and the index of the write, and emits what was told when it is durable', async () => {
    const engine = engineOver(memoryStorage());
    const told: string[] = [];
    engine.events.on('job.status', ({ status, index }) => told.push(`${status} at ${index}`));
    const committed = commit(engine, hostPrincipal, takeNotes);
    expect(told).toEqual([]);
    const { value, index, changed } = (await committed)._unsafeUnwrap();
    expect(value).toHaveLength(3);
    expect(changed).toBe(true);
    expect(told).toEqual([`3 at ${index}`]);
  });

  it('stores and tells nothing when the work fails or throws', async () => {
    const engine = engineOver(memoryStorage());
    const told: unknown[] = [];
    engine.events.on('job.status', (fact) => told.push(fact));
    const refused = await commit(engine, hostPrincipal, (tx) => takeNotes(tx).andThen(() => err('no' as const)));
    expect(refused._unsafeUnwrapErr()).toBe('no');
    const throwing = async () =>
      commit(engine, hostPrincipal, (tx) => {
        takeNotes(tx);
        throw new Error('a defect');
      });
    await expect(throwing()).rejects.toThrow('a defect');
    expect(await rowsOf(engine)).toEqual([]);
    expect(told).toEqual([]);
  });

  it.each([1, 2, 7])(
    'ends with the same rows, answer and facts when the store runs the work %d times more',
    async (times) => {
      const outcome = async (storage: Storage) => {
        const engine = engineOver(storage);
        const told: unknown[] = [];
        engine.events.on('job.status', (fact) => told.push(fact));
        const answers: unknown[] = [];
        for (let round = 0; round < 3; round += 1) {
          answers.push((await commit(engine, hostPrincipal, takeNotes))._unsafeUnwrap());
          await engine.clock.advance(1000);
        }
        return { rows: await rowsOf(engine), answers, told };
      };
      const once = await outcome(memoryStorage());
      expect(once.told).toHaveLength(3);
      expect(await outcome(rerunning(memoryStorage(), times))).toEqual(once);
    },
  );

  it('draws time and identifiers once, also for a work that took another way the first time', async () => {
    const engine = engineOver(rerunning(memoryStorage()));
    let runs = 0;
    const { value } = (
      await commit(engine, hostPrincipal, (tx) => {
        runs += 1;
        const first = tx.ids.next('evaluation');
        // The other way asks for more of one kind before it asks for the next kind.
        if (runs === 1) tx.ids.next('evaluation');
        return ok([first, tx.ids.next('allocation'), tx.now, tx.monotonic, tx.timeline]);
      })
    )._unsafeUnwrap();
    expect(runs).toBe(2);
    const { clock } = engine;
    const ids = sequentialIds();
    expect(value).toEqual([
      ids.next('evaluation'),
      ids.next('allocation'),
      clock.now(),
      clock.monotonic(),
      clock.timeline,
    ]);
  });

  it('knows who asks', async () => {
    const engine = engineOver(memoryStorage());
    const ann = { ...hostPrincipal, accessor: 'a1', name: 'Ann' };
    const actorOf = async (caller: typeof ann) =>
      (await commit(engine, caller, (tx) => ok([tx.actor, tx.caller.accessor])))._unsafeUnwrap().value;
    expect(await actorOf(ann)).toEqual(['Ann', 'a1']);
    expect(await actorOf(hostPrincipal)).toEqual([undefined, '']);
  });

  it('survives a listener that throws', async () => {
    const engine = engineOver(memoryStorage());
    engine.events.on('job.status', () => {
      throw new Error('a defect of the listener');
    });
    expect((await commit(engine, hostPrincipal, takeNotes)).isOk()).toBe(true);
    expect(await rowsOf(engine)).toHaveLength(3);
  });
});

describe('rehearse', () => {
  it('gives what a commit would give, and leaves no trace', async () => {
    const engine = engineOver(memoryStorage());
    (await commit(engine, hostPrincipal, takeNotes))._unsafeUnwrap();
    const before = await rowsOf(engine);
    const told: unknown[] = [];
    engine.events.on('job.status', (fact) => told.push(fact));
    const seen = (
      await rehearse(engine, hostPrincipal, (tx) => {
        tx.remove(notes, [before[0]?.id as string]);
        return takeNotes(tx).map((ids) => ({ ids, index: tx.index, table: tx.tableIndex(notes) }));
      })
    )._unsafeUnwrap();
    expect(seen.ids).toHaveLength(5);
    expect(seen.table).toBe(seen.index);
    expect(await rowsOf(engine)).toEqual(before);
    expect(told).toEqual([]);
    const { index } = (await commit(engine, hostPrincipal, takeNotes))._unsafeUnwrap();
    expect(index).toBe(seen.index);
  });

  it('gives the error of the work', async () => {
    const engine = engineOver(memoryStorage());
    expect((await rehearse(engine, hostPrincipal, () => err('no')))._unsafeUnwrapErr()).toBe('no');
  });
});
