import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../adapters/memory/index.js';
import { hostPrincipal } from '../../src/access/principal.js';
import { createEngine, type Engine } from '../../src/engine.js';
import { type HeldLease, underLease } from '../../src/operations/lease.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Storage } from '../../src/ports/storage.js';
import { leases } from '../../src/shared/lease.js';
import { table } from '../../src/shared/table.js';

interface Note {
  readonly id: string;
}
const notes = table<Note>('notes', (note) => [note.id]);
const second = 1000;

const ids = sequentialIds();
const engineOn = (storage: Storage, clock: Clock): Engine =>
  createEngine({ storage, clock, ids, delivery: recordingDelivery() });

const never = new AbortController().signal;
const write = (lease: HeldLease, id: string) =>
  lease.commit(hostPrincipal, (tx) => {
    tx.put(notes, { id });
    return ok(undefined);
  });
const written = async (storage: Storage): Promise<string[]> =>
  (await storage.read((view) => view.list(notes).map(({ record }) => record.id)))._unsafeUnwrap();

/** A work that begins at once and ends when told. */
function heldOpen() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held: { lease?: HeldLease } = {};
  return {
    held,
    end,
    work: (lease: HeldLease): Promise<void> => {
      held.lease = lease;
      return ended;
    },
  };
}

/** A store that cannot be written to for as long as is said. */
function failing(storage: Storage) {
  const state = { fails: false };
  const error = { type: 'storage_failed', reason: 'io', message: 'the disk is gone' } as const;
  return { state, storage: flaky(storage, { write: { calls: () => state.fails, error } }) };
}

/** The same monotonic time under another name: a process on another host. */
const elsewhere = (clock: Clock): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic() + 1e9,
  timeline: 'another host',
  sleep: (duration, signal) => clock.sleep(duration, signal),
  sleepUntil: (instant, signal) => clock.sleepUntil(instant, signal),
});

describe('underLease', () => {
  it('gives what the work gives, and the lease back', async () => {
    const clock = manualClock();
    const storage = memoryStorage();
    const [one, two] = [engineOn(storage, clock), engineOn(storage, clock)];
    for (const engine of [one, two, one]) {
      const told = await underLease(engine, 'work', never, async (lease) => (await write(lease, engine.owner)).isOk());
      expect(told).toBe(true);
    }
    expect(clock.monotonic()).toBe(0);
    expect(clock.sleepers).toBe(0);
    expect((await storage.read((view) => view.get(leases, ['work'])?.record))._unsafeUnwrap()).toMatchObject({
      owner: null,
      term: 3,
    });
  });

  it('lets one at a time work, for as long as it takes, and the next one at once when it ends', async () => {
    const clock = manualClock();
    const storage = memoryStorage();
    const [first, next] = [heldOpen(), heldOpen()];
    const one = underLease(engineOn(storage, clock), 'work', never, first.work);
    await clock.settle();
    const two = underLease(engineOn(storage, elsewhere(clock)), 'work', never, next.work);
    await clock.advance(60 * second);
    expect(next.held.lease).toBeUndefined();
    expect((await write(first.held.lease as HeldLease, 'a')).isOk()).toBe(true);
    first.end();
    await one;
    await clock.settle();
    expect(next.held.lease).toBeDefined();
    next.end();
    await two;
  });

  it('does not keep works of other names waiting', async () => {
    const clock = manualClock();
    const engine = engineOn(memoryStorage(), clock);
    const [first, other] = [heldOpen(), heldOpen()];
    const running = [underLease(engine, 'a', never, first.work), underLease(engine, 'b', never, other.work)];
    await clock.settle();
    expect(first.held.lease).toBeDefined();
    expect(other.held.lease).toBeDefined();
    first.end();
    other.end();
    await Promise.all(running);
  });

  it.each([
    ['on the same host', (clock: Clock) => clock, 6],
    // Whoever cannot compare the times looks on for the whole duration himself.
    ['on another host', elsewhere, 9],
  ])('follows a process that was killed, %s', async (_where, clockOf, seconds) => {
    const clock = manualClock();
    const storage = memoryStorage();
    const dies = failing(storage);
    const killed = heldOpen();
    void underLease(engineOn(dies.storage, clock), 'work', never, killed.work);
    await clock.settle();
    dies.state.fails = true;
    await clock.advance(3 * second);
    await clock.step(86_400_000);
    const next = heldOpen();
    void underLease(engineOn(storage, clockOf(clock)), 'work', never, next.work);
    await clock.advance((seconds - 3) * second - 1);
    expect(next.held.lease).toBeUndefined();
    await clock.advance(1);
    expect(next.held.lease).toBeDefined();
  });

  it('refuses what a process that was paused decided before, once another one has taken over', async () => {
    const clock = manualClock();
    const storage = memoryStorage();
    const paused = failing(storage);
    const [late, next] = [heldOpen(), heldOpen()];
    const one = underLease(engineOn(paused.storage, clock), 'work', never, late.work);
    await clock.settle();
    paused.state.fails = true;
    void underLease(engineOn(storage, clock), 'work', never, next.work);
    await clock.advance(7 * second);
    paused.state.fails = false;
    const stale = late.held.lease as HeldLease;
    expect((await write(stale, 'stale'))._unsafeUnwrapErr()).toEqual({ type: 'lease_lost', lease: 'work' });
    expect(stale.signal.aborted).toBe(true);
    late.end();
    await one;
    expect((await write(next.held.lease as HeldLease, 'good')).isOk()).toBe(true);
    expect(await written(storage)).toEqual(['good']);
  });

  it('keeps a lease that ran out while nobody else wanted it', async () => {
    const clock = manualClock();
    const storage = memoryStorage();
    const held = heldOpen();
    const one = underLease(engineOn(storage, clock), 'work', never, held.work);
    await clock.settle();
    await clock.pause(3600 * second);
    expect((await write(held.held.lease as HeldLease, 'a')).isOk()).toBe(true);
    held.end();
    await one;
  });

  it('ends its wait when the loop is to end, and tells the work', async () => {
    const clock = manualClock();
    const storage = memoryStorage();
    const stop = new AbortController();
    const held = heldOpen();
    const one = underLease(engineOn(storage, clock), 'work', stop.signal, held.work);
    await clock.settle();
    const waiting = underLease(engineOn(storage, clock), 'work', stop.signal, async () => 'never');
    await clock.settle();
    stop.abort();
    expect(await waiting).toBeUndefined();
    expect(held.held.lease?.signal.aborted).toBe(true);
    held.end();
    await one;
    expect(clock.sleepers).toBe(0);
  });

  it('gives the lease back when the work throws', async () => {
    const clock = manualClock();
    const engine = engineOn(memoryStorage(), clock);
    const throwing = underLease(engine, 'work', never, () => Promise.reject(new Error('a defect')));
    await expect(throwing).rejects.toThrow('a defect');
    expect(await underLease(engine, 'work', never, async () => 'next')).toBe('next');
  });
});
