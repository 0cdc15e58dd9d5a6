import { describe, expect, it, vi } from 'vitest';
import { manualClock } from '../../../adapters/memory/index.js';
import { withHeartbeats } from '../../../src/operations/waiting/with-heartbeats.js';
import { second } from '../../../src/shared/duration.js';

/** Items that a test hands out one by one, and which end with the signal. */
function handedOut(signal: AbortSignal) {
  const waiting: string[] = [];
  const state = { wake: (): void => undefined, asked: 0, isClosed: false };
  signal.addEventListener('abort', () => state.wake());
  async function* items(): AsyncGenerator<string> {
    try {
      while (!signal.aborted) {
        state.asked += 1;
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else
          await new Promise<void>((resolve) => {
            state.wake = resolve;
          });
      }
    } finally {
      state.isClosed = true;
    }
  }
  const give = (item: string): void => {
    waiting.push(item);
    state.wake();
  };
  return { items: items(), give, state };
}

function opened() {
  const clock = manualClock();
  const ended = new AbortController();
  const source = handedOut(ended.signal);
  const read = withHeartbeats(source.items, { clock, period: second, signal: ended.signal });
  return { clock, ended, read, ...source };
}

describe('items with heartbeats', () => {
  it('have one for each period without an item, and none within it', async () => {
    const { clock, ended, read, give } = opened();
    give('a');
    expect(await read.next()).toEqual({ done: false, value: 'a' });
    let next = read.next();
    await clock.advance(second - 1);
    give('b');
    expect((await next).value).toBe('b');
    for (let beats = 0; beats < 3; beats++) {
      next = read.next();
      await clock.advance(second);
      expect(await next).toEqual({ done: false, value: undefined });
    }
    give('c');
    expect((await read.next()).value).toBe('c');
    next = read.next();
    ended.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('are closed with the reader, also when it goes at a heartbeat', async () => {
    const { clock, ended, read, give, state } = opened();
    const next = read.next();
    await clock.advance(second);
    expect((await next).value).toBe(undefined);
    const closed = read.return(undefined);
    ended.abort();
    await closed;
    expect(state.isClosed).toBe(true);
    give('late');
    expect((await read.next()).done).toBe(true);
  });

  it('put no load on an item that is long in coming', async () => {
    const clock = manualClock();
    const ended = new AbortController();
    let give = (_item: IteratorResult<string>): void => undefined;
    const next = new Promise<IteratorResult<string>>((resolve) => {
      give = resolve;
    });
    const reactions = vi.spyOn(next, 'then');
    const source = { [Symbol.asyncIterator]: () => ({ next: () => next }) };
    const read = withHeartbeats(source, { clock, period: second, signal: ended.signal });
    for (let beats = 0; beats < 100; beats++) {
      const beat = read.next();
      await clock.advance(second);
      expect((await beat).value).toBe(undefined);
    }
    give({ done: false, value: 'late' });
    expect((await read.next()).value).toBe('late');
    expect(reactions.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it('fail as their source does', async () => {
    const clock = manualClock();
    const failing = (async function* () {
      yield 1;
      throw new Error('gone');
    })();
    const read = withHeartbeats(failing, { clock, period: second, signal: new AbortController().signal });
    expect((await read.next()).value).toBe(1);
    await expect(read.next()).rejects.toThrow('gone');
  });
});
